#!/usr/bin/env python3
"""Secrets on the command line and in the environment of a traced job: what is kept of its runs holds none."""
import subprocess
import unittest

import harness
import secrets_test

JOB = """import sys, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
for _ in range(60):
    dist.all_reduce(torch.ones(100)); time.sleep(0.02)
dist.barrier()
"""


class JobSecretsTest(secrets_test.SecretsCase):
    def secret(self, name):
        """Of letters alone, as people choose them: nothing but its place tells that it is one."""
        word = "hush" + "".join(chr(ord("a") + ord(c) % 26) for c in f"{len(self.planted)}{name}" if c != " ")
        return self.planted.setdefault(name, word)

    def test_a_job_with_secrets(self):
        """Its command line and environment hold some; what is kept of runs does not."""
        script = self.file("train.py", JOB)
        words = ["--api-key", self.secret("argument"), f"--password={self.secret('argument with =')}",
                 f"--dbPassword={self.secret('argument in one word')}", "--hfToken", self.secret("token in one word"),
                 "--header", f"Authorization: Bearer {self.secret('header')}", "--options", f"depth=3,token={self.secret('options')}",
                 f"WANDB_API_KEY={self.secret('variable on the line')}", "--store",
                 f"postgres://ann:{self.secret('password in an address')}@db/x", "--lr", "0.1"]
        variables = {"WANDB_API_KEY": "variable", "AWS_SECRET_ACCESS_KEY": "cloud", "HF_TOKEN": "hub", "NCCL_MY_TOKEN": "nccl",
                     "FATHOM_MY_PASSWORD": "ours", "TORCH_HUB_AUTH": "torch"}
        run = subprocess.run(
            [harness.BUILD / "fathom", "run", "--job", "train", "--record", f"{self.folder}/recording", "--history",
             f"{self.folder}/history.db", "--report", f"{self.folder}/report.json", "--", *harness.torchrun(script, *words, ranks=2)],
            capture_output=True, timeout=300, cwd=self.folder,
            env=harness.environment(**{k: self.secret(v) for k, v in variables.items()}))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.look("fathom run", run.stderr)
        history = (self.folder / "history.db").read_bytes() + b"".join(
            p.read_bytes() for p in self.folder.glob("history.db-*"))
        self.assertIn(b"argument --lr", history, "what a run was started with is kept")
        self.assertLessEqual({"recording", "history.db", "report.json"}, self.look_in_files("recording/", "history.db", "report.json"))
        analysed = self.fathom("analyze", f"{self.folder}/recording", "-o", "json")
        self.look("fathom analyze", analysed.stdout + analysed.stderr)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
