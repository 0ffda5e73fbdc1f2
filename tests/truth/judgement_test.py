#!/usr/bin/env python3
"""Tests of the judge, which must not be kinder than its words."""
import unittest

from judgement import judge


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


if __name__ == "__main__":
    unittest.main()
