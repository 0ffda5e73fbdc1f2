#!/usr/bin/env python3
"""`fathom recover undo` asks about the job that the journal names: by its name, or by a recovery's id.

    FATHOM_BINARY_DIR=build/release tests/cli/recover_undo_test.py
"""
import json
import pathlib
import tempfile
import unittest

from cli_test import Server, fathom

# A run that ended after the restart, before it saw an iteration.
BEGUN = {"mark": "begun", "id": "r1", "wall_ns": 1,
         "facts": {"job": "train", "isolate": "n3", "spare": "n5", "verdict": "v1", "backend": "command"}}
STEPS = [BEGUN] + [{"id": "r1", "wall_ns": 2, "mark": mark, "step": step, **({"attempt": 1} if step == "restart" else {})}
                   for step in ("standby", "isolate", "restart") for mark in ("intent", "done")]


class Undo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "train.jsonl").write_text("".join(json.dumps(each) + "\n" for each in STEPS))
        (self.folder / "recover.yaml").write_text(
            f"backend: command\nisolate: ['true']\nundo: [touch, '{self.folder}/{{step}}']\n")

    def undo(self, what, nodes, keeps=True):
        """`nodes`: where the collector says that the ranks of train are; `keeps`: whether it takes records."""
        ranks = [{"rank": i, "node": node, "state": "running"} for i, node in enumerate(nodes)]
        job = {"name": "train", "world_size": 2, "iteration": 9, "iteration_s": 0.1, "rank_info": ranks}
        replies = {"/api/v1/jobs/train": (200, job), "/api/v1/jobs/train/verdicts?active=1": (200, {"verdicts": []})}
        if keeps:
            replies["/api/v1/jobs/train/recovery"] = (200, {"kept": "r1"})
        with Server(replies) as at:
            return fathom("recover", "undo", what, "--yes", "--journal", self.folder, "--config",
                          self.folder / "recover.yaml", "--collector-http", at.address, timeout=60)

    def test_a_job_that_runs_without_the_sick_node_is_left_alone(self):
        for what in ("train", "r1"):
            run = self.undo(what, ["n1", "n5"])
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("the job runs without n3", run.stderr)
            self.assertFalse((self.folder / "isolate").exists())

    def test_one_that_does_not_is_moved_back(self):
        run = self.undo("train", ["n1", "n3"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "isolate").exists())
        self.assertNotIn("was not told", run.stderr)

    def test_a_collector_that_takes_no_records_stops_nothing_and_that_is_said(self):
        run = self.undo("train", ["n1", "n3"], keeps=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue((self.folder / "isolate").exists())
        self.assertIn("the collector was not told of 7 records of this recovery (no /api/v1/jobs/train/recovery", run.stderr)


if __name__ == "__main__":
    unittest.main()
