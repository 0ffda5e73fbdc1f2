#!/usr/bin/env python3
"""`fathom run --record`: what was recorded gives the verdict that was told live."""
import json
import pathlib
import shutil
import tempfile
import unittest

import harness
from harness import BUILD, DATA, RunTest, end, environment, run, start, torchrun

FATHOM = str(BUILD / "fathom")
SCRIPT = DATA / "torch_jobs/ddp.py"
FUNCTION = "faults:log_metrics_to_remote"  # what the script does slowly; the user names it


def job_environment():
    return environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", FATHOM_FUNCTIONS=f"faults:wait_for_flag,{FUNCTION}")


def convicted(report):
    return {(v["cause"], v["class"], tuple(v["entity"]["ranks"])) for v in report["verdicts"]
            if v["grade"] in ("established", "supported")}


def functions_named(report):
    return {e["statement"] for v in report["verdicts"] for e in v["evidence"] if e["source"] == "Python stacks"
            and v["grade"] in ("established", "supported")}


class Record(RunTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-record-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = self.folder / "report.json"
        self.recording = self.folder / "recording"

    def start(self, *job):
        process = start([FATHOM, "run", "--record", str(self.recording), "--report", str(self.report), "--",
                         *torchrun(SCRIPT, *job)], env=job_environment(), start_new_session=True)
        self.addCleanup(end, process)
        return process

    def analyze(self, path=None, *options):
        done = run([FATHOM, "analyze", str(path or self.recording), "-o", "json", "--exit-zero", *options], timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_what_was_recorded_tells_what_was_told(self):
        process = self.start("--fault", "slow-python", "--rank", 2, "--seconds", 0.25, "--from-iteration", 40,
                             "--iterations", 70)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        live, again = json.loads(self.report.read_text()), self.analyze()
        self.assertEqual(again["job"]["source"], "fathom")
        self.assertEqual(again["job"]["ranks"], live["job"]["ranks"])
        self.assertGreaterEqual(int(again["iterations"]["count"]), int(live["iterations"]["count"]) - 1)
        # On a crowded machine nothing may have been told; then nothing is told again.
        self.assertEqual(convicted(again), convicted(live))
        self.assertLessEqual({ranks for _, _, ranks in convicted(live)}, {(2,)}, live["verdicts"])
        said = {f"Most of it lies in {FUNCTION}."} if convicted(live) else set()
        self.assertEqual(functions_named(live), said)
        # It is judged over again with other thresholds, as a collector that had them would have judged.
        thresholds = self.folder / "thresholds.yaml"
        thresholds.write_text("diagnosis:\n  min_irregular: 5000\n")
        self.assertEqual(convicted(self.analyze(self.recording, "--config", str(thresholds))), set())
        # A copy that was cut off, as after a crash, is read up to there.
        file = next(self.recording.iterdir())
        cut = self.folder / "cut.fathom"
        cut.write_bytes(file.read_bytes()[:-100])
        self.assertGreater(int(self.analyze(cut)["iterations"]["count"]), int(live["iterations"]["count"]) - 30)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
