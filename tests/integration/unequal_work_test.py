#!/usr/bin/env python3
"""Real PyTorch jobs in which one rank's batches hold more: that is told as unequal work, and accuses no device.

Where others take the machine's cores a job may end before anything stands out: then it is run again. A device that is
accused fails the test at once."""
import json
import pathlib
import tempfile
import unittest

import harness
from harness import BUILD, HERE, RunTest, ended_well, environment, run, torchrun

JOB = HERE / "jobs/uneven.py"
TRIES = 4


class UnequalWork(RunTest):
    def convictions(self, *options):
        command = torchrun(JOB, *options, ranks=4)
        env = environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1")
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            fathom = [str(BUILD / "fathom"), "run", "--report", str(report), "--", *command]
            done = ended_well(lambda: run(fathom, env=env, timeout=300))
            self.assertEqual(done.returncode, 0, done.stderr)
            return [v for v in json.loads(report.read_text())["verdicts"]
                    if v["grade"] in ("established", "supported")], done.stderr.decode()

    def told_as_more_work(self, rank, *options):
        for _ in range(TRIES):
            verdicts, said = self.convictions("--rank", rank, "--times", 3, *options)
            for verdict in verdicts:
                self.assertEqual(verdict["cause"], "imbalance", said)
                self.assertEqual(verdict["entity"]["ranks"], [rank], said)
                self.assertIn("elements of", verdict["sentence"])
            if verdicts:
                return
        self.fail(f"nothing told in {TRIES} runs; the last: {said}")

    def test_longer_sequences_since_the_start(self):
        self.told_as_more_work(2)

    def test_longer_sequences_since_an_iteration(self):
        self.told_as_more_work(1, "--from-iteration", 60)

    def test_lengths_that_are_drawn_accuse_nobody(self):
        verdicts, said = self.convictions("--vary")
        self.assertFalse([v for v in verdicts if v["cause"] != "imbalance"], said)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
