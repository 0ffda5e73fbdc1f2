#!/usr/bin/env python3
"""Shadow iterations of real PyTorch over Gloo: a joiner alone comes to the weights that the running rank has, and
opens no socket."""
import array
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import BUILD, HERE, PYTHON, end, environment, start, torchrun, wait_for

JOB = HERE / "jobs/shadow.py"
STEPS = 3
RECORDED = 2
# The calls that make a socket of a network or use one.
CALLS = "socket,connect,bind,listen,accept4"


def without_network():
    """What to put before a command so that it has no network at all; empty where that is not allowed."""
    tried = subprocess.run(["unshare", "-n", "true"], capture_output=True) if shutil.which("unshare") else None
    return ["unshare", "-n"] if tried and tried.returncode == 0 else []


class Shadow(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-shadow-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def site(self, out, **more):
        """The environment of the job, with the start-up hook as `fathom run` puts it there."""
        folder = self.folder / out
        folder.mkdir(exist_ok=True)
        return environment(PYTHONPATH=str(BUILD / "fathom_site"), OUT=str(folder), OMP_NUM_THREADS="1", **more)

    def weights(self, out, rank, step):
        return (self.folder / out / f"rank-{rank}-step-{step}").read_bytes()

    def run_job(self, out, *arguments, ranks, **more):
        process = start(torchrun(JOB, *arguments, ranks=ranks), env=self.site(out, **more), start_new_session=True)
        self.addCleanup(end, process)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, err.decode())
        return err.decode()

    def record(self, *arguments, ranks, **more):
        return self.run_job("job", *arguments, ranks=ranks, FATHOM_SHADOW=f"record:{self.folder}/record",
                            FATHOM_SHADOW_ITERATIONS=str(RECORDED), **more)

    def joiner(self, rank, ranks, *arguments, then="end", before=(), **site):
        # Nobody listens at the port: it is never asked.
        more = {"RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": "9", "FATHOM_SHADOW": f"replay:{self.folder}/record", "FATHOM_SHADOW_THEN": then}
        process = start([*before, PYTHON, str(JOB), *map(str, arguments)], env=self.site("joiner", **more, **site),
                        start_new_session=True)
        self.addCleanup(end, process)
        return process

    def told(self, rank):
        return json.loads((self.folder / f"record/rank-{rank}.joiner.json").read_text())

    def check_joiner(self, rank, ranks, *arguments, before=(), **site):
        process = self.joiner(rank, ranks, *arguments, before=before, **site)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, err.decode())
        for step in range(1, RECORDED + 1):
            self.assertEqual(self.weights("joiner", rank, step), self.weights("job", rank, step), f"step {step}")
        told = self.told(rank)
        self.assertEqual((told["state"], told["weights_equal"], told["network_sockets"]), ("warm", True, 0), told)
        self.assertEqual((told["answered"], told["inputs_equal"]), (told["recorded"], told["recorded"]), told)
        self.assertGreater(told["recorded"], 0)
        return told

    def test_data_parallel(self):
        """Recording changes nothing; a joiner without a network comes to the same weights and waits, warm."""
        self.run_job("alone", "ddp", STEPS, ranks=3)
        self.record("ddp", STEPS, ranks=3)
        for rank in range(3):
            self.assertEqual(self.weights("job", rank, STEPS), self.weights("alone", rank, STEPS))
        self.assertNotEqual(self.weights("job", 2, 1), self.weights("job", 2, 2))
        self.check_joiner(2, 3, "ddp", STEPS, before=without_network())
        self.check_that_it_parks()
        self.check_that_half_a_record_is_refused()

    def check_that_it_parks(self):
        (self.folder / "record/rank-0.joiner.json").unlink(missing_ok=True)
        process = self.joiner(0, 3, "ddp", STEPS, then="park")
        wait_for((self.folder / "record/rank-0.joiner.json").exists, seconds=600)
        self.assertEqual(self.told(0)["state"], "warm")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertFalse((self.folder / "joiner/rank-0-step-3").exists())

    def check_that_another_model_diverges(self):
        process = self.joiner(0, 3, "exchange", STEPS, 48)
        _, err = process.communicate(timeout=600)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("the shadow iteration cannot go on", err.decode())
        told = self.told(0)
        self.assertEqual(told["state"], "diverged")
        self.assertIn("the record has", told["why"])

    def check_that_another_checkpoint_is_told(self):
        """It is warm all the same; its weights are not the job's."""
        process = self.joiner(1, 3, "exchange", STEPS)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, err.decode())
        told = self.told(1)
        self.assertEqual((told["state"], told["weights_equal"], told["answered"]), ("warm", False, told["recorded"]))
        self.assertLess(told["inputs_equal"], told["recorded"])
        self.assertNotEqual(self.weights("joiner", 1, RECORDED), self.weights("job", 1, RECORDED))

    def check_that_half_a_record_is_refused(self):
        """It ends before it could join the job as a second process of that rank."""
        record = self.folder / "record/rank-1.shadow"
        record.write_bytes(record.read_bytes()[:-100])
        process = self.joiner(1, 3, "ddp", STEPS)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 1)
        self.assertIn("not a whole record", err.decode())
        self.assertFalse((self.folder / "joiner/rank-1-step-1").exists())

    def test_every_op(self):
        """From a checkpoint. Also under strace, where there is one: no socket of a network is made, let alone used."""
        saved = self.folder / "checkpoint"
        saved.mkdir()
        for rank in range(3):
            (saved / f"rank-{rank}").write_bytes(array.array("f", (rank + i / 7 for i in range(3 * 64))).tobytes())
        self.record("exchange", STEPS, ranks=3, CHECKPOINT=str(saved))
        self.check_that_another_checkpoint_is_told()
        log = self.folder / "calls"
        tracer = ["strace", "-f", "--seccomp-bpf", "-e", f"trace={CALLS}", "-o", str(log)]
        self.check_joiner(2, 3, "exchange", STEPS, before=tracer if shutil.which("strace") else (),
                          CHECKPOINT=str(saved))
        if log.exists():
            text = log.read_text()
            self.assertIn("exited with 0", text)
            self.assertEqual([line for line in text.splitlines() if "AF_INET" in line], [])
        self.check_that_another_model_diverges()

    def test_tensor_parallel(self):
        """With the tracer in the job, whose start-up hook loads the recorder."""
        self.record("tensor", STEPS, ranks=4, LD_PRELOAD=str(BUILD / "libfathom.so"))
        self.check_joiner(3, 4, "tensor", STEPS)

    def test_what_cannot_be_answered_leaves_no_record_and_the_job_alone(self):
        err = self.record("any", STEPS, ranks=2)
        self.assertIn("recv_any_source_ cannot be answered from a record", err)
        self.assertEqual(sorted(os.listdir(self.folder / "record")), ["rank-1.shadow"])


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
