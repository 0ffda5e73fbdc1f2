#!/usr/bin/env python3
"""A real PyTorch job turns slow under `fathom run`: the verdict names function, file and line, with no hint.

Needs py-spy beside the Python of the tests; without it the verdict must say that it is missing. Where others take the
machine's cores during the capture, the function may hold too little of what the job loses to be named: then the job is
run again. What is named wrongly fails the test at once."""
import json
import os
import pathlib
import tempfile
import unittest

import harness
from harness import BUILD, DATA, PYTHON, RunTest, environment, run, torchrun

FATHOM = str(BUILD / "fathom")
JOBS = DATA / "torch_jobs"
PY_SPY = pathlib.Path(PYTHON).parent / "py-spy"


def line_of(file, text):
    """The first line with this text, from 1."""
    lines = (JOBS / file).read_text().splitlines()
    return next(i + 1 for i, line in enumerate(lines) if text in line)


class Capture(RunTest):
    def verdicts(self, *options, fathom=()):
        """Of a job whose rank 1 turns slow at iteration 60."""
        command = torchrun(JOBS / "ddp.py", "--rank", 1, "--from-iteration", 60, "--iterations", 260, *options,
                           ranks=4)
        env = environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1")
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            done = run([FATHOM, "run", "--report", str(report), *fathom, "--", *command], env=env, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [v for v in json.loads(report.read_text())["verdicts"]
                    if v["grade"] in ("established", "supported")], done.stderr.decode()

    def named(self, verdicts):
        return [v for v in verdicts if v.get("detail", {}).get("function")]

    def told(self, *options):
        """Verdicts that name a function, of the first of some runs in which one does, and all that was said then."""
        for _ in range(3):
            verdicts, said = self.verdicts(*options)
            if self.named(verdicts):
                return self.named(verdicts), said
        self.fail((verdicts, said))

    @unittest.skipUnless(PY_SPY.exists(), "no py-spy beside the Python of the tests")
    def test_a_slow_function(self):
        told, said = self.told("--fault", "slow-python")
        line = line_of("faults.py", "    time.sleep(seconds)")
        for verdict in told:
            self.assertEqual(verdict["entity"]["ranks"], [1])
            self.assertEqual(verdict["detail"]["function"], "log_metrics_to_remote")
            self.assertEqual(os.path.basename(verdict["detail"]["file"]), "faults.py")
            self.assertEqual(verdict["detail"]["line"], line)
            self.assertIn(f"in log_metrics_to_remote (faults.py:{line})", verdict["sentence"])
            self.assertTrue([e for e in verdict["evidence"] if e["source"] == "stack capture"])
        self.assertIn("log_metrics_to_remote", said)

    @unittest.skipUnless(PY_SPY.exists(), "no py-spy beside the Python of the tests")
    def test_a_slow_data_loader(self):
        told, _ = self.told("--fault", "dataloader")
        line = line_of("faults.py", "            time.sleep(self.args.seconds)")
        for verdict in told:
            self.assertEqual(verdict["entity"]["ranks"], [1])
            self.assertEqual(verdict["cause"], "dataloader")
            self.assertIn("read_batch", verdict["detail"]["function"])
            self.assertEqual(verdict["detail"]["line"], line)

    @unittest.skipUnless(PY_SPY.exists(), "no py-spy beside the Python of the tests")
    def test_a_healthy_job_is_never_captured(self):
        verdicts, said = self.verdicts("--fault", "none")
        self.assertFalse(self.named(verdicts), said)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
