#!/usr/bin/python3
"""`fathom recover` with the back-end kubernetes against a local API server (fakes/kubernetes_jobs.py) over TLS, with the
rights of deploy/k8s/recover: a Job, a JobSet and a PyTorchJob move off a node, and what happens when people, the server
or rights are in the way.
"""
import signal
import subprocess
import unittest

import harness
from fakes.kubernetes_jobs import JobServer
from fakes.kubernetes_objects import MERGE_PATCH
from fakes.kubernetes_server import rules_of
from pki import WithPki
from recover_case import Collector

OURS = "system:serviceaccount:fathom:fathom-recover"
RULES = rules_of(harness.ROOT / "deploy/k8s/recover/rbac.yaml")
KINDS = {"jobs": "Job", "jobsets": "JobSet", "pytorchjobs": "PyTorchJob"}
NODES = ["n1", "n2", "n3"]


class RecoverCase(WithPki, harness.ProcessCase):
    KIND = "jobs"

    def setUp(self):
        super().setUp()
        self.server = self.make_server(self.KIND)

    def make_server(self, kind):
        """A job of two pods on n1, which is sick, and n2; n3 is free."""
        server = JobServer(self.pki, {OURS: set(RULES)}, {"secret-of-recover": OURS}, self.certificate, kind=kind)
        self.addCleanup(server.close)
        for name in NODES:
            server.objects.create(name)
            server.objects.patch(name, "status", MERGE_PATCH, {"status": {"allocatable": {"cpu": "4", "pods": "10"}}})
        server.jobs.settle()
        self.collector = Collector("train", 2, NODES, server.jobs.where)
        self.addCleanup(self.collector.close)
        self.collector.sick = "n1"
        return server

    def config(self, more=""):
        (self.folder / "token").write_text("secret-of-recover\n")
        file = self.folder / "recover.yaml"
        file.write_text(f"backend: kubernetes\nkubernetes_server: {self.server.url}\nkubernetes_ca_file: {self.pki.authority}\n"
                        f"kubernetes_token_file: {self.folder}/token\nkind: {KINDS[self.server.kind]}\nended_s: 3\n{more}")
        return file

    def command(self, noun, *more, config=""):
        journal = self.folder / f"journal-{self.server.port}"
        return [harness.BUILD / "fathom", "recover", noun, "train", "--journal", journal, "--config", self.config(config),
                "--yes", "--collector-http", self.collector.address, *more]

    def run_it(self, config="", check=0):
        run = subprocess.run(self.command("run", "--despite", "no-checkpoint,cost", "--restart-seconds", "4", config=config),
                             env=harness.environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, check, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def undo(self, check=0):
        run = subprocess.run(self.command("undo"), env=harness.environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, check, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def where(self):
        return sorted(self.server.jobs.where())

    def cordoned(self, name):
        return self.server.objects.get(name)["spec"].get("unschedulable", False)

    def used(self):
        with self.server.lock:
            return {(r["verb"], r["resource"]) for r in self.server.requests if r["code"] < 300}

    def patches_of_the_job(self):
        with self.server.lock:
            return len([r for r in self.server.requests if (r["verb"], r["resource"], r["dry_run"]) == ("patch", "jobs", False)])

    def spawn_run(self):
        run = harness.start(self.command("run", "--despite", "no-checkpoint,cost", "--restart-seconds", "4"))
        self.processes.append(run)
        harness.wait_for(self.server.jobs.suspended)
        return run

    def untouched(self):
        self.assertEqual((self.where(), self.cordoned("n1"), self.server.jobs.suspended()), (["n1", "n2"], False, False))


class RecoverTest(RecoverCase):
    def test_each_kind_moves_and_every_right_is_needed(self):
        used = set()
        for kind in KINDS:
            self.server = self.make_server(kind)
            said = self.run_it()
            self.assertEqual(self.where(), ["n2", "n3"])
            self.assertTrue(self.cordoned("n1"))
            self.assertIn("recovered", said)
            self.assertIn("placement   by the scheduler of Kubernetes", said)
            self.assertIn("the scheduler chooses the nodes; n3 takes pods and has room", said)
            used |= self.used()
        self.server = self.make_server("jobs")
        self.assertIn("recovered", self.run_it("restart: pods\n"))
        self.assertEqual(self.collector.told[-1]["state"], "recovered")
        self.assertEqual(self.where(), ["n2", "n3"])
        self.assertEqual(used | self.used(), RULES)

    def test_a_missing_right_is_told_before_anything_is_done(self):
        for right in [("patch", "jobs"), ("patch", "nodes"), ("get", "jobs"), ("get", "nodes")]:
            self.server.rules[OURS] = RULES - {right}
            self.assertIn("forbidden", self.run_it(check=1))
            self.untouched()

    def test_a_spare_that_is_full_is_none(self):
        self.server.objects.patch("n3", "status", MERGE_PATCH, {"status": {"allocatable": {"cpu": "2"}}})
        self.assertIn("n3 cannot take the place of n1: of cpu 2 are free, 3 are asked for", self.run_it(check=1))
        self.untouched()

    def test_without_a_spare_nothing_is_done(self):
        self.collector.nodes = ["n1", "n2"]
        self.assertIn("there is no spare", self.run_it(check=1))
        self.untouched()

    def test_a_job_that_is_gone(self):
        self.server.jobs.job = None
        self.assertIn("job/train is gone", self.run_it(check=1))
        self.assertFalse(self.cordoned("n1"))

    def test_a_person_who_suspends_at_the_same_time_is_left_alone_and_the_node_comes_back(self):
        def by_a_person():
            self.server.jobs.patch("train", None, "", [{"op": "add", "path": "/spec/suspend", "value": True}])
        # The first patch is the check's, which changes nothing.
        self.server.fault("patch", "jobs", "before",
                          then=lambda: self.server.fault("patch", "jobs", "before", then=by_a_person))
        self.assertIn("suspended by somebody else", self.run_it(check=1))
        self.assertTrue(self.server.jobs.suspended())
        self.assertIn("stays suspended: it is not by us", self.undo())
        self.assertFalse(self.cordoned("n1"))

    def test_a_server_that_goes_in_the_middle_is_asked_when_it_is_back(self):
        self.server.jobs.ends = False  # isolate waits for pods that do not end
        run = self.spawn_run()
        self.server.stop()
        _, errors = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1, errors)
        self.assertIn(b"it is not known whether isolate was done", errors)
        self.server.jobs.ends = True
        self.server.start()
        said = self.run_it()
        self.assertIn("recovered", said)
        self.assertEqual(self.where(), ["n2", "n3"])
        self.assertEqual(self.patches_of_the_job(), 2)  # suspended once, resumed once

    def test_a_run_that_was_killed_is_gone_on_with_or_undone(self):
        for again in (True, False):
            self.server = self.make_server("jobs")
            self.server.jobs.ends = False
            run = self.spawn_run()
            run.send_signal(signal.SIGKILL)
            run.communicate()
            self.server.jobs.ends = True
            self.server.jobs.settle()
            if again:
                self.assertIn("recovered", self.run_it())
            else:
                self.assertIn("n1 is uncordoned; job/train is not suspended", self.undo())
            self.assertEqual((self.where(), self.cordoned("n1")), (["n2", "n3"], True) if again else (["n1", "n2"], False))

    def test_an_answer_that_is_lost_is_no_second_deed(self):
        self.server.fault("patch", "jobs", "before", then=lambda: self.server.fault("patch", "jobs", "lost"))
        self.assertIn("recovered", self.run_it())
        self.assertEqual(self.where(), ["n2", "n3"])
        self.assertEqual(self.patches_of_the_job(), 2)  # suspended once, resumed once


if __name__ == "__main__":
    unittest.main()
