#!/usr/bin/env python3
"""A real PyTorch job one rank of which is stopped by turns (SIGSTOP and SIGCONT): that rank is told, or nobody; never
all of them, whose collectives take as long as it was stopped within them."""
import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

import harness
from harness import BUILD, ROOT, RunTest, children, environment, start, torchrun

RANK, STOPPED_S, EVERY_S, HEALTHY_S = 2, 0.2, 1, 8


def descendants(pid):
    for child in children(pid):
        yield child
        yield from descendants(child)


def is_rank(pid, rank):
    """Whether it is a training process of that rank: what makes batches has its environment, too, and is a child."""
    try:
        return f"LOCAL_RANK={rank}".encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


class StoppedByTurns(RunTest):
    def stop_by_turns(self, run):
        """Begins once the job has had healthy iterations; ends with it."""
        pid = None
        while pid is None and run.poll() is None:
            pid = next((each for each in descendants(run.pid) if is_rank(each, RANK)), None)
            time.sleep(0.1)
        time.sleep(HEALTHY_S)
        try:
            while run.poll() is None:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(STOPPED_S)
                os.kill(pid, signal.SIGCONT)
                time.sleep(EVERY_S - STOPPED_S)
        except ProcessLookupError:
            pass

    def test_that_rank_or_nobody_is_told(self):
        job = torchrun(ROOT / "deploy/demo_job/train.py", "--iterations", 400, ranks=4)
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            process = start([str(BUILD / "fathom"), "run", "--report", str(report), "--", *job],
                            env=environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1"), start_new_session=True)
            self.addCleanup(harness.end, process)
            turns = threading.Thread(target=self.stop_by_turns, args=[process], daemon=True)
            turns.start()
            _, said = process.communicate(timeout=600)
            turns.join(10)
            self.assertEqual(process.returncode, 0, said)
            told = json.loads(report.read_text())
        for verdict in told["verdicts"]:
            if verdict["grade"] not in ("established", "supported"):
                continue
            self.assertEqual(verdict["entity"]["ranks"], [RANK], verdict["sentence"])
            self.assertNotEqual(verdict["cause"], "communication_slow", verdict["sentence"])


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
