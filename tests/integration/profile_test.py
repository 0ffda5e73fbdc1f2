#!/usr/bin/env python3
"""`fathom profile` on a real PyTorch job: the same iterations on all ranks, the function of the slow one, its files;
refused where another tool holds a process; and the recording of the run tells the same function afterwards.

Needs py-spy beside the Python of the tests."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import harness
from harness import BUILD, PYTHON, RunTest, environment, run, torchrun, wait_for

sys.path.insert(0, str(harness.ROOT / "tests/truth"))
from traced_job import descendants  # noqa: E402

FATHOM = str(BUILD / "fathom")
JOBS = harness.ROOT / "tests/truth/case_jobs"
PY_SPY = pathlib.Path(PYTHON).parent / "py-spy"
BEGINS = 60


class Job:
    """Three ranks under `fathom run --record`, of which rank 1 calls send_metrics from iteration 60 on."""

    def __init__(self, folder, *options):
        env = environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1",
                          PATH=f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}")
        command = torchrun(JOBS / "train.py", "--case", "send_metrics", "--rank", 1, "--from-iteration", BEGINS,
                           "--iterations", 100_000, ranks=3)
        self.process = subprocess.Popen(
            [FATHOM, "run", "--job", "profiled", *options, "--", *command], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def address(self):
        found = re.search(r"fathom: page http://(\S+?)/", "".join(self.lines))
        return found and found[1]

    def ranks(self):
        """Its processes by rank, the training scripts themselves."""
        out = {}
        for pid in descendants(self.process.pid):
            try:
                words = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            rank = [w[5:] for w in words if w.startswith(b"RANK=")]
            if rank and b"train.py" in line and b"torch.distributed.run" not in line:
                out.setdefault(int(rank[0]), pid)
        return out

    def end(self):
        for pid in self.ranks().values():
            os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=60)
        self.reader.join(timeout=10)
        self.process.stdout.close()


@unittest.skipUnless(PY_SPY.exists(), "no py-spy beside the Python of the tests")
class Profile(RunTest):
    def profile(self, job, *options):
        return run([FATHOM, "profile", "profiled", "--collector-http", job.address(), *map(str, options)], timeout=120)

    def test_by_hand_with_all_its_files_and_again_from_the_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            job = Job(folder, "--record", out / "recording", "--report", out / "report.json")
            try:
                # One capture at a time: that of the verdict comes first.
                wait_for(lambda: job.address() and "send_metrics" in "".join(job.lines), 180)
                done = self.profile(job, "--iterations", 30, "--what", "stacks", "-o", "json", "--folded",
                                    out / "folded", "--speedscope", out / "speedscope.json", "--html",
                                    out / "flames.html")
                self.assertEqual(done.returncode, 0, done.stderr)
                stacks = json.loads(done.stdout)["stacks"]
                self.assertEqual(stacks["iterations"], 30)
                self.assertGreaterEqual(stacks["first_iteration"], BEGINS)
                self.assertEqual([r["state"] for r in stacks["ranks"]], ["done"] * 3, stacks["ranks"])
                first = stacks["functions"][0]
                self.assertEqual((first["rank"], first["function"]), (1, "send_metrics"))
                self.assertEqual(first["doing"], "sleep")
                self.assertTrue(all(not f["function"] for f in stacks["functions"][1:]), stacks["functions"])
                # All began and ended together: their times differ by what py-spy takes to begin.
                seconds = [r["seconds"] for r in stacks["ranks"]]
                self.assertLess(max(seconds) - min(seconds), 0.5)
                self.assertIn("send_metrics", (out / "folded/rank_1.folded").read_text())
                self.assertNotIn("send_metrics", (out / "folded/rank_0.folded").read_text())
                self.assertIn("send_metrics", (out / "folded/difference.folded").read_text())
                self.assertEqual(len(json.loads((out / "speedscope.json").read_text())["profiles"]), 3)
                self.assertIn("send_metrics (slow_parts.py:", (out / "flames.html").read_text())
                shown = self.profile(job, "--last").stdout.decode()
                self.assertIn("the same on all ranks", shown)
                self.assertRegex(shown, r"1 +send_metrics \(slow_parts\.py:\d+\)")
                self.another_tool_is_told(job)
            finally:
                job.end()
            live = self.named(json.loads((out / "report.json").read_text()))
            again = run([FATHOM, "analyze", str(out / "recording"), "-o", "json", "--exit-zero"], timeout=120)
            self.assertEqual(self.named(json.loads(again.stdout)), live)
            self.assertIn((1, "send_metrics"), live)

    def another_tool_is_told(self, job):
        """A rank that a debugger holds is left alone; the others are captured."""
        holder = subprocess.Popen(
            [PYTHON, "-c", "import ctypes,sys,time\nlibc=ctypes.CDLL(None)\n"
             f"assert libc.ptrace(0x4206,{job.ranks()[2]},0,0)==0\nprint('held',flush=True)\ntime.sleep(60)"],
            stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(holder.stdout.readline().strip(), "held")
            done = self.profile(job, "--seconds", 1, "--what", "stacks", "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            by_rank = {r["rank"]: r for r in json.loads(done.stdout)["stacks"]["ranks"]}
            self.assertEqual(by_rank[2]["state"], "refused")
            self.assertIn("another tool watches this process: python", by_rank[2]["reason"])
            self.assertEqual(by_rank[0]["state"], "done")
        finally:
            holder.kill()
            holder.communicate()

    @staticmethod
    def named(report):
        return {(v["entity"]["ranks"][0], v.get("detail", {}).get("function", "")) for v in report["verdicts"]
                if v["grade"] in ("established", "supported") and v["cause"] == "host_slow"}


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
