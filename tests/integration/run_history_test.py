#!/usr/bin/env python3
"""`fathom run --history`: a real job three times, one thing changed, and again."""
import json
import pathlib
import shutil
import tempfile
import unittest

import harness
from harness import BUILD, ROOT, RunTest, end, ended_well, environment, run, torchrun

FATHOM = str(BUILD / "fathom")
SCRIPT = ROOT / "deploy/demo_job/train.py"
ITERATIONS = 240  # some seconds: what a job does is told at the second look after its first iterations


class History(RunTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-history-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.history = self.folder / "runs.db"
        self.report = self.folder / "report.json"

    def run_job(self, *job, **more):
        before = self.history.read_bytes() if self.history.exists() else None

        def undo():
            for file in self.folder.glob("runs.db*"):
                file.unlink()
            if before is not None:
                self.history.write_bytes(before)

        command = [FATHOM, "run", "--job", "train", "--history", str(self.history), "--report", str(self.report), "--",
                   *torchrun(SCRIPT, "--iterations", ITERATIONS, "--seconds", 0.1, *job, ranks=2)]
        env = environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", **more)
        done = ended_well(lambda: run(command, env=env, timeout=300), undo)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.report.read_text()), done.stderr

    def kept(self):
        """What a collector of that store answers."""
        collector, address = self.collector_on(self.history)

        def ask(*words):
            done = run([FATHOM, *words, "-o", "json", "--collector-http", address])
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        runs = ask("get", "runs")["runs"]
        compared = ask("compare", runs[1]["id"], runs[0]["id"])
        end(collector)
        return runs, compared

    def test_one_thing_is_changed(self):
        for number in range(3):
            report, _ = self.run_job()
            self.assertEqual([v for v in report["verdicts"] if v["cause"] == "regression"], [])
            missing = [a["missing"] for a in report["abstained"] if "profile" in a["question"]]
            self.assertEqual(len(missing), 1, report["abstained"])
        report, err = self.run_job("--metrics-every", 1)
        runs, compared = self.kept()
        self.assertEqual(len(runs), 4)
        self.assertEqual(len({r["profile"] for r in runs}), 1, runs)
        self.assertEqual([c["text"] for c in compared["changed"]], ["argument --metrics-every none -> 1"])
        # On a crowded machine the earlier runs may have held too little that was healthy.
        if sum(r["healthy_iterations"] > 0.9 * ITERATIONS - 5 for r in runs[1:]) < 3:
            self.skipTest("too little of the earlier runs was healthy on this machine")
        told = [v for v in report["verdicts"] if v["cause"] == "regression" and v["entity"]["type"] == "job"]
        self.assertEqual(len(told), 1, (runs, err))
        self.assertIn("slower than its last 3 healthy runs", told[0]["sentence"])
        self.assertIn("argument --metrics-every none -> 1", told[0]["sentence"])
        self.assertEqual(told[0]["owner"], "algorithm")
        self.assertEqual(runs[0]["outcome"], "slower")


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
