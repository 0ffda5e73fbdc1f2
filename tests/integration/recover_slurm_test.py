#!/usr/bin/env python3
"""A sick node leaves a job of a real Slurm: it is requeued without it and runs elsewhere; undo lets the node back.

The collector is a stand-in that tells where Slurm runs the job; everything else is real. Skips (77) without Slurm.
"""
import re
import subprocess
import sys
import unittest

import harness
import slurm_cluster
from recover_case import Collector

NODES = ["n1", "n2", "n3"]


class SlurmCollector(Collector):
    """Tells of the job as Slurm runs it."""

    def __init__(self, slurm, job):
        self.slurm, self.id = slurm, job
        super().__init__(f"slurm-{job}", 1, NODES, self.nodes_of)

    def fields(self):
        text = self.slurm.scontrol("show", "job", self.id, "-o", check=False)
        return dict(re.findall(r"(\w+)=(\S*)", text))

    def nodes_of(self):
        job = self.fields()
        node = job.get("NodeList", "") if job.get("JobState") == "RUNNING" else ""
        return [node] if node not in ("", "(null)") else []


class RecoverSlurmTest(harness.ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.slurm = slurm_cluster.SlurmCluster(NODES)
        cls.slurm.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.close()

    def setUp(self):
        super().setUp()
        submit = ["sbatch", "--parsable", "--requeue", "-N1", "-o", "/dev/null", "--wrap", "sleep 600"]
        self.job = subprocess.run(submit, env=self.slurm.environment, check=True, capture_output=True, text=True,
                                  timeout=30, cwd=self.folder).stdout.strip()
        self.addCleanup(subprocess.run, ["scancel", self.job], env=self.slurm.environment, timeout=30)
        self.collector = SlurmCollector(self.slurm, self.job)
        self.addCleanup(self.collector.close)
        self.sick = self.collector.sick = harness.wait_for(self.where)
        config = self.folder / "recover.yaml"
        config.write_text("backend: slurm\n")
        self.config = str(config)

    def where(self):
        job = self.collector.fields() if hasattr(self, "collector") else {}
        return job.get("NodeList") if job.get("JobState") == "RUNNING" else None

    def recover(self, noun, *more):
        environment = {**self.slurm.environment, "FATHOM_COLLECTOR_HTTP": self.collector.address}
        return subprocess.run([harness.BUILD / "fathom", "recover", noun, f"slurm-{self.job}", "--journal",
                               self.folder / "journal", "--config", self.config, "--yes", *more],
                              env=environment, capture_output=True, text=True, timeout=300)

    def test_it_runs_again_without_the_sick_node(self):
        run = self.recover("run", "--despite", "no-checkpoint,cost")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertNotEqual(self.where(), self.sick)
        self.assertEqual(self.collector.fields()["ExcNodeList"], self.sick)
        self.assertEqual(self.collector.fields()["Restarts"], "1")
        self.assertIn("recovered", run.stdout)

    def test_without_a_verdict_nothing_is_done(self):
        self.collector.open = False
        run = self.recover("run", "--despite", "no-checkpoint,cost")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no verdict stands", run.stderr)
        self.assertEqual((self.where(), self.collector.fields()["Restarts"]), (self.sick, "0"))

    def run_without(self, verb):
        """A run in which that verb of scontrol fails, as if the controller went away just then."""
        wrapper = self.folder / "scontrol"
        wrapper.write_text(f"#!/bin/sh\n[ \"$1\" = {verb} ] && exit 1\nexec scontrol \"$@\"\n")
        wrapper.chmod(0o755)
        plain = self.config
        broken = self.folder / "broken.yaml"
        broken.write_text(f"backend: slurm\nscontrol: [{wrapper}]\n")
        self.config = str(broken)
        run = self.recover("run", "--despite", "no-checkpoint,cost")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.config = plain

    def assert_let_go(self):
        """Slurm starts it some two minutes later (AuthInfo=cred_expire)."""
        job = self.collector.fields()
        self.assertEqual(job["ExcNodeList"], "(null)")
        self.assertNotEqual((job["JobState"], job["Priority"]), ("PENDING", "0"))

    def test_what_a_crash_left_is_undone(self):
        self.run_without("release")
        self.assertEqual(self.collector.fields()["ExcNodeList"], self.sick)
        undo = self.recover("undo")
        self.assertEqual(undo.returncode, 0, undo.stdout + undo.stderr)
        self.assert_let_go()

    def test_a_job_that_was_only_held_is_let_go(self):
        self.run_without("update")
        job = self.collector.fields()
        self.assertEqual((job["JobState"], job["Priority"], job["ExcNodeList"]), ("PENDING", "0", "(null)"))
        undo = self.recover("undo")
        self.assertEqual(undo.returncode, 0, undo.stdout + undo.stderr)
        self.assert_let_go()


if __name__ == "__main__":
    reason = slurm_cluster.why_not_here()
    if reason:
        print(f"skipped: no Slurm here: {reason}")
        sys.exit(harness.SKIPPED)
    unittest.main()
