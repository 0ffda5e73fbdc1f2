#!/usr/bin/env python3
"""Tests of the judge, which must not be kinder than its words."""
import unittest

from hangs import judge_confuser, judge_hang, ranks_in
from judgement import judge
from recordings import judge_recording


def verdict(*ranks, grade="established", cause="host_slow"):
    return {"grade": grade, "cause": cause, "entity": {"type": "rank", "ranks": list(ranks)}}


class Judge(unittest.TestCase):
    def check(self, expected, final, ever=(), fault="slow-python", rank=2):
        self.assertEqual(judge(fault, rank, list(final), list(ever)), expected)

    def test_right_with_and_without_its_cause(self):
        self.check(("right", True), [verdict(2)])
        self.check(("right", False), [verdict(2, grade="supported", cause="compute_slow")])
        self.check(("right", True), [verdict(2), verdict(1, grade="hypothesis")])

    def test_an_innocent_rank_is_wrong_whenever_and_beside_whom(self):
        self.check(("wrong", False), [verdict(1)])
        self.check(("wrong", False), [verdict(1, 2)])
        self.check(("wrong", False), [verdict(2), verdict(0, grade="supported")])
        self.check(("wrong", False), [verdict(2)], ever=[verdict(3)])

    def test_no_conviction_is_abstaining(self):
        self.check(("abstained", False), [])
        self.check(("abstained", False), [verdict(2, grade="hypothesis")])
        self.check(("abstained", False), [verdict(1, grade="unknown")])

    def test_healthy_runs_are_to_be_silent(self):
        self.check(("right", True), [], fault="none")
        self.check(("abstained", True), [verdict(2, grade="hypothesis")], fault="none")
        self.check(("wrong", False), [verdict(2)], fault="none")
        self.check(("wrong", False), [], ever=[verdict(2)], fault="none")


def hang(*ranks, grade="supported", cause="noncommunication_hang", **more):
    return {**verdict(*ranks, grade=grade, cause=cause), "class": "noncommunication_hang", **more}


class Ranks(unittest.TestCase):
    def test_each_rank_of_the_job_and_none_that_it_lacks(self):
        self.assertEqual(ranks_in("", 8), list(range(8)))
        self.assertEqual(ranks_in("5,0", 8), [5, 0])
        for text in ("4", "0,-1"):
            with self.assertRaises(SystemExit):
                ranks_in(text, 4)


class HangJudge(unittest.TestCase):
    def test_a_hang_needs_its_rank_and_nobody_else_ever(self):
        cause = "noncommunication_hang"
        self.assertEqual(judge_hang(2, cause, [hang(2, grade="hypothesis"), hang(2)]), ("right", True))
        self.assertEqual(judge_hang(2, cause, [hang(2, cause="mismatch")]), ("wrong", False))
        self.assertEqual(judge_hang(2, cause, [hang(2, cause="mismatch"), hang(2)]), ("wrong", False))
        self.assertEqual(judge_hang(2, cause, [hang(1), hang(2)]), ("wrong", False))
        self.assertEqual(judge_hang(2, cause, [hang(1, 2)]), ("wrong", False))
        self.assertEqual(judge_hang(2, cause, [hang(1, grade="hypothesis")]), ("abstained", False))

    def test_a_loader_that_hangs_is_called_slow_and_slowness_of_others_is_wrong_too(self):
        slow = {**verdict(2, cause="dataloader"), "class": "noncommunication_slow"}
        self.assertEqual(judge_hang(2, "dataloader", [slow]), ("right", True))
        self.assertEqual(judge_hang(2, "mismatch", [slow]), ("wrong", False))
        self.assertEqual(judge_hang(2, "mismatch", [{**slow, "entity": {"ranks": [1]}}, hang(2)]), ("wrong", False))

    def test_what_is_no_hang_may_leave_a_lead_that_closes(self):
        closed = hang(1, grade="hypothesis", until={"iteration": 70})
        self.assertEqual(judge_confuser("checkpoint", 1, [closed], [hang(1, grade="hypothesis")])[0], "right")
        self.assertEqual(judge_confuser("checkpoint", 1, [hang(1, grade="hypothesis")], [])[0], "wrong")
        self.assertEqual(judge_confuser("checkpoint", 1, [closed], [hang(1)])[0], "wrong")

    def test_a_process_that_was_stopped_may_be_called_so(self):
        stopped = hang(1, grade="established", cause="process_stopped", until={"iteration": 70})
        self.assertEqual(judge_confuser("pause", 1, [stopped], [stopped])[0], "right")
        self.assertEqual(judge_confuser("input", 1, [stopped], [stopped])[0], "wrong")
        self.assertEqual(judge_confuser("pause", 2, [stopped], [stopped])[0], "wrong")


class RecordingJudge(unittest.TestCase):
    def check(self, expected, *verdicts, culprits=(2,), causes=("host_slow",), missing="", **more):
        asked = [{"question": "which one", "missing": missing}] if missing else []
        report = {"verdicts": list(verdicts), "abstained": asked}
        self.assertEqual(judge_recording(frozenset(culprits), set(causes), report, **more), expected)

    def test_right_is_all_of_the_faulty_ranks_and_the_cause(self):
        self.check("right", verdict(2))
        self.check("right", verdict(2), verdict(5), culprits=(2, 5))
        self.check("right", verdict(2, cause="gc"), causes=("host_slow", "gc"))
        self.check("wrong", verdict(2, cause="gc"))
        self.check("wrong", verdict(2), verdict(2, cause="gc"))
        self.check("abstained", verdict(2), culprits=(2, 5))
        self.check("abstained", verdict(2, grade="hypothesis"))
        self.check("abstained")

    def test_an_innocent_rank_is_wrong_even_as_a_lead(self):
        self.check("wrong", verdict(1))
        self.check("wrong", verdict(1, 2))
        self.check("wrong", verdict(2), verdict(1, grade="hypothesis"))

    def test_of_a_healthy_job_every_word_is_wrong(self):
        self.check("right", culprits=(), causes=())
        self.check("wrong", verdict(1, grade="hypothesis"), culprits=(), causes=())

    def test_a_group_is_the_right_class_only_with_the_missing_signal(self):
        def group(*ranks, of="communication_slow"):
            return {**verdict(*ranks, cause="communication_slow"), "class": of, "entity": {"type": "group", "ranks": ranks}}
        link = {"causes": ("link_slow",)}
        self.check("class", group(1, 2), missing="sockets", **link)
        self.check("abstained", group(1, 2), **link)
        self.check("wrong", group(0, 1), missing="sockets", **link)
        self.check("wrong", group(1, 2, of="communication_hang"), missing="sockets", **link)
        self.check("wrong", group(1, 2), verdict(2, cause="link_slow"), missing="sockets", **link)

    def test_an_imbalance_convicts_its_stage_and_no_device(self):
        def stage(*ranks, of="stage"):
            return {**verdict(*ranks, cause="imbalance"), "entity": {"type": of, "ranks": list(ranks)}}
        truth = {"culprits": (), "causes": ("imbalance",), "stage": frozenset((2, 3))}
        self.check("right", stage(2, 3), **truth)
        self.check("wrong", stage(0, 1), **truth)
        self.check("wrong", stage(2, 3, of="rank"), **truth)
        self.check("wrong", stage(2, 3), verdict(3), **truth)
        self.check("abstained", **truth)


if __name__ == "__main__":
    unittest.main()
