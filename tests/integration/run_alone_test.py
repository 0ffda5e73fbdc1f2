#!/usr/bin/env python3
"""`fathom run -- python train.py`: a training process without any other rank is told what bounds its step."""
import json
import pathlib
import shutil
import tempfile
import unittest

import harness
from harness import BUILD, HERE, PYTHON, RunTest, end, environment, start

FATHOM = str(BUILD / "fathom")
STEPS = 120


class Alone(RunTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-alone-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def traced(self, *command):
        """The report of what `command` did under `fathom run`, and what was said."""
        report = self.folder / "report.json"
        process = start([FATHOM, "run", "--report", str(report), "--", *map(str, command)],
                        env=environment(OMP_NUM_THREADS="1"), start_new_session=True)
        self.addCleanup(end, process)
        _, err = process.communicate(timeout=180)
        self.assertEqual(process.returncode, 0, err.decode())
        return json.loads(report.read_text()), " ".join(err.decode().replace("fathom:", "").split())

    def test_a_job_that_waits_for_its_batches(self):
        told, said = self.traced(PYTHON, HERE / "jobs/alone.py", STEPS, 0.04, 1)
        step = told["step"]
        self.assertEqual(step["bound"], ["input"], step)
        self.assertEqual(step["clock"], "thread")
        self.assertEqual(told["job"]["ranks"], 1)
        self.assertEqual(int(told["iterations"]["count"]), STEPS)
        # The loader sleeps that long in each iteration, and cannot take less.
        self.assertGreaterEqual(float(step["seconds"]), 0.04)
        self.assertRegex(said, r"An iteration takes [\d.]+ ms: .*It is bound by the data loader")
        self.assertIn("no culprit found", said)

    def test_a_job_that_computes(self):
        told, said = self.traced(PYTHON, HERE / "jobs/alone.py", STEPS, 0, 6)
        self.assertEqual(int(told["iterations"]["count"]), STEPS)
        parts = {part["name"]: float(part["share"]) for part in told["step"]["parts"]}
        self.assertNotIn("communication", parts)
        # Other work on the machine may take the core away meanwhile: that is told as such.
        self.assertGreater(parts["computing"] + parts.get("cores", 0), 0.5, parts)
        self.assertIn("An iteration takes", said)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
