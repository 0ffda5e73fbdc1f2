#!/usr/bin/env python3
"""`fathom run` on real PyTorch jobs: they compute the same, bit by bit, whatever befalls us."""
import json
import os
import pathlib
import signal
import tempfile
import unittest

import harness
from harness import BUILD, HERE, RunTest, children, end, environment, run, start, torchrun

FATHOM = str(BUILD / "fathom")
ITERATIONS, RANKS = 150, 2
JOB = torchrun(HERE / "jobs/exact.py", ITERATIONS, 0, ranks=RANKS)


def job_environment():
    return environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", PYTHONHASHSEED="0")


class SameResult(RunTest):
    @classmethod
    def setUpClass(cls):
        cls.plain = run(JOB, env=job_environment(), timeout=120)
        assert cls.plain.returncode == 0, cls.plain.stderr

    def start(self, *options):
        process = start([FATHOM, "run", *options, "--", *JOB], env=job_environment(), start_new_session=True)
        self.addCleanup(end, process)
        return process

    def check(self, process, first=b""):
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, self.plain.returncode, err)
        self.assertEqual(first + out, self.plain.stdout)
        return err

    def test_traced(self):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            self.check(self.start("--report", str(report)))
            told = json.loads(report.read_text())
        self.assertEqual(told["schema"], "fathom.v1.Report")
        self.assertEqual(told["job"]["ranks"], RANKS)
        self.assertGreater(int(told["iterations"]["count"]), 0)

    def killed(self, program):
        process = self.start()
        first = process.stdout.readline() + process.stdout.readline()
        os.kill(children(process.pid, program)[0], signal.SIGKILL)
        self.assertIn(f"{program} ended (killed by signal 9".encode(), self.check(process, first))

    def test_kill_9_of_the_agent(self):
        self.killed("fathomd")

    def test_kill_9_of_the_collector(self):
        self.killed("fathom-collector")

    def test_a_collector_that_is_not_there(self):
        self.check(self.start("--collector", "127.0.0.1:1", "--collector-http", "127.0.0.1:1"))


class ExitCodes(RunTest):
    def test_the_code_of_torchrun_passes_through(self):
        command = torchrun(HERE / "jobs/exact.py", 3, 7, ranks=2)
        plain = run(command, env=job_environment())
        traced = run([FATHOM, "run", "--", *command], env=job_environment())
        self.assertNotEqual(plain.returncode, 0)
        self.assertEqual(traced.returncode, plain.returncode)

    def test_a_rank_killed_by_sigkill(self):
        script = ("import os, signal, torch, torch.distributed as d; d.init_process_group('gloo'); "
                  "d.all_reduce(torch.ones(1)); d.get_rank() or os.kill(os.getpid(), signal.SIGKILL); "
                  "d.all_reduce(torch.ones(1))")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "killed.py"
            file.write_text(script)
            command = torchrun(file, ranks=2)
            plain = run(command, env=job_environment(), timeout=90)
            traced = run([FATHOM, "run", "--", *command], env=job_environment(), timeout=90)
        self.assertEqual(traced.returncode, plain.returncode)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
