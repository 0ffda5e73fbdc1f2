#!/usr/bin/env python3
"""A synchronisation left in a loop of simulated GPUs: told by issue latency, against earlier runs, and of no rank."""
import json
import pathlib
import tempfile
import unittest
import urllib.request

from harness import BUILD, RunTest, end, environment, run

FATHOM = str(BUILD / "fathom")
TRAIN = str(BUILD / "tests/fake_train")


class IssueLatency(RunTest):
    def run_with_history(self, folder, **more):
        """The report of a run of 320 iterations that compares itself with those before it."""
        report = folder / "report.json"
        done = run([FATHOM, "run", "--job", "gpu", "--history", str(folder / "runs.db"), "--report", str(report), "--",
                    TRAIN, "--spawn", "--dp", "2", "--iterations", "320"], env=environment(**more), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text())

    def test_a_stray_synchronisation_is_told_by_issue_latency(self):
        """The hosts of all ranks wait for their GPUs once an iteration: no rank is slower than another."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for _ in range(4):
                report = self.run_with_history(folder)
                self.assertEqual([v for v in report["verdicts"] if "is issued" in v["sentence"]], [])
            report = self.run_with_history(folder, FAKE_TRAIN_FAULT="stray_sync")
            runs = self.runs_of(folder / "runs.db")
        # The host is not ahead any more, whatever else this machine did meanwhile.
        issue = [r["whole"]["issue_s"] for r in runs]
        self.assertLess(issue[0], min(issue[1:]) / 2, issue)
        told = [v for v in report["verdicts"] if v["cause"] == "regression"]
        if not told:  # on a crowded machine runs differ by more than it costs
            self.skipTest("runs differed by too much: %s" % [(r["iteration_s"], r["sentence"]) for r in runs])
        self.assertIn("the host no longer runs ahead", told[0]["sentence"])
        self.assertEqual(told[0]["owner"], "algorithm")
        self.assertEqual(told[0]["entity"]["type"], "job")

    def runs_of(self, history):
        """What is kept of each run, the newest first."""
        collector, address = self.collector_on(history)

        def ask(path):
            with urllib.request.urlopen(f"http://{address}/api/v1/{path}", timeout=10) as reply:
                return json.load(reply)

        kept = [ask("runs/" + each["id"]) for each in ask("runs")["runs"]]
        end(collector)
        return kept


if __name__ == "__main__":
    unittest.main()
