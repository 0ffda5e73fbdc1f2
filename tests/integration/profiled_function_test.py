#!/usr/bin/env python3
"""PyTorch's own profiler records a real job with a slow function on one rank: `fathom analyze` names the function.

With the stacks of Python by function, file and the line where it begins; without them it says what is missing. Nothing
of fathom is in the job."""
import json
import os
import pathlib
import tempfile
import unittest

import harness
from harness import BUILD, RunTest, ended_well, environment, run, torchrun

FATHOM = str(BUILD / "fathom")
JOBS = pathlib.Path(__file__).resolve().parents[1] / "truth/case_jobs"


def line_of(text):
    lines = (JOBS / "slow_parts.py").read_text().splitlines()
    return next(i + 1 for i, line in enumerate(lines) if line.startswith(text))


class Profiled(RunTest):
    def record(self, folder, case, *options):
        command = torchrun(JOBS / "train.py", "--case", case, "--rank", 1, "--from-iteration", 30, "--iterations", 46,
                           "--profile", folder, *options, ranks=3)

        def undo():
            for trace in os.listdir(folder):
                os.unlink(pathlib.Path(folder) / trace)

        done = ended_well(lambda: run(command, env=environment(OMP_NUM_THREADS="1"), timeout=300), undo)
        self.assertEqual(done.returncode, 0, done.stderr)

    def judged(self, case, *options):
        with tempfile.TemporaryDirectory() as folder:
            self.record(folder, case, *options)
            self.assertEqual(len(os.listdir(folder)), 3)
            told = run([FATHOM, "analyze", folder, "-o", "json", "--exit-zero"], timeout=120)
            self.assertEqual(told.returncode, 0, told.stderr)
            verdicts = [v for v in json.loads(told.stdout)["verdicts"] if v["grade"] in ("established", "supported")]
            for verdict in verdicts:
                self.assertEqual(verdict["entity"]["ranks"], [1], verdict["sentence"])
            return verdicts

    def test_a_function_that_sleeps_is_named_with_its_line(self):
        verdicts = self.judged("send_metrics")
        self.assertTrue(verdicts)
        detail = verdicts[0]["detail"]
        self.assertEqual((detail["function"], detail["line"]), ("send_metrics", line_of("def send_metrics")))
        self.assertTrue(detail["file"].endswith("slow_parts.py"))
        self.assertIn("in send_metrics (slow_parts.py:", verdicts[0]["sentence"])
        self.assertTrue([e for e in verdicts[0]["evidence"] if e["source"] == "trace"])

    def test_a_function_that_computes_in_python_is_named(self):
        verdicts = self.judged("tokenize_text")
        self.assertTrue(verdicts)
        self.assertEqual(verdicts[0]["detail"]["function"], "tokenize_text")

    def test_without_stacks_an_op_is_named_or_what_is_missing(self):
        verdicts = self.judged("send_metrics", "--without-stacks")
        self.assertTrue(verdicts)
        self.assertFalse(verdicts[0]["detail"].get("function"), verdicts[0]["sentence"])
        self.assertIn("with_stack=True", verdicts[0]["detail"]["missing"])
        verdicts = self.judged("log_spectrum", "--without-stacks")
        self.assertTrue(verdicts)
        self.assertIn("svd", verdicts[0]["detail"]["function"])


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
