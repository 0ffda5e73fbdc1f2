#!/usr/bin/env python3
"""`fathom run --ops`: every op of a real job is kept, and a stretch of it is judged again from the store."""
import json
import pathlib
import shutil
import tempfile
import unittest

import harness
from harness import BUILD, DATA, RunTest, end, environment, run, start, torchrun

FATHOM = str(BUILD / "fathom")
SCRIPT = DATA / "torch_jobs/ddp.py"
RANKS, ITERATIONS, FROM = 4, 190, 150  # some seconds before the fault: a block of ops holds one


def convicted(report):
    return {(v["cause"], tuple(v["entity"]["ranks"])) for v in report["verdicts"]
            if v["grade"] in ("established", "supported")}


class Ops(RunTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-ops-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def analyze(self, *options):
        done = run([FATHOM, "analyze", "job://train", "--store", str(self.folder / "ops"), "--exit-zero", *options],
                   timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_fault_in_the_middle_is_found_again_in_the_store(self):
        report = self.folder / "report.json"
        process = start([FATHOM, "run", "--job", "train", "--ops", str(self.folder / "ops"), "--report", str(report),
                         "--", *torchrun(SCRIPT, "--fault", "slow-python", "--rank", 2, "--seconds", 0.25,
                                         "--from-iteration", FROM, "--iterations", ITERATIONS)],
                        env=environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1"), start_new_session=True)
        self.addCleanup(end, process)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        live, again = json.loads(report.read_text()), self.analyze("-o", "json")
        self.assertEqual(again["job"]["ranks"], RANKS)
        self.assertGreaterEqual(int(again["iterations"]["count"]), ITERATIONS - 3)
        # On a crowded machine nothing may have been told; then nothing is told again.
        self.assertEqual(convicted(again), convicted(live))
        self.assertLessEqual({ranks for _, ranks in convicted(live)}, {(2,)}, live["verdicts"])
        # Every op is there: four a rank and iteration at least, the loss's and the gradients'.
        trace = self.folder / "trace.pftrace"
        self.analyze("-o", "json", "--perfetto", str(trace))
        self.assertGreater(trace.stat().st_size, 10_000)
        # A stretch that ended before the fault has none.
        onset = min((int(v["since"]["time_unix_ns"]) for v in again["verdicts"] if v.get("since")), default=0)
        if convicted(again) and onset:
            healthy = self.analyze("-o", "json", "--to", str(onset * 1e-9 - 0.5))
            self.assertEqual(convicted(healthy), set())
            self.assertLess(int(healthy["iterations"]["count"]), FROM + 5)
            compared = self.analyze("-o", "json", "--from", str(onset * 1e-9), "--against", "job://train",
                                    "--against-to", str(onset * 1e-9 - 0.5))
            self.assertEqual(compared["comparison"]["result"], "slower")
        said = run([FATHOM, "analyze", "job://another", "--store", str(self.folder / "ops")], timeout=60)
        self.assertEqual(said.returncode, 1)
        self.assertIn("of train there are", said.stderr.decode())


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
