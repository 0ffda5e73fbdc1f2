#!/usr/bin/env python3
"""fathom-cordon against a real Slurm: what it drains, what it leaves alone, and what it undoes.

The collector is a stand-in that serves verdicts; everything else is real. Skips (77) where Slurm is
not installed.
"""
import json
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import cordon_case
import harness
import slurm_cluster


class CordonSlurmTest(cordon_case.CordonCase):
    @classmethod
    def setUpClass(cls):
        prolog = harness.ROOT / "deploy/slurm/task_prolog"
        cls.slurm = slurm_cluster.SlurmCluster(["n1", "n2", "n3", "n4"], settings=[f"TaskProlog={prolog}"])
        cls.slurm.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.close()

    def end_all(self):
        super().end_all()
        for node in self.slurm.nodes:
            if self.state(node)[0] != "idle":
                self.slurm.scontrol("update", f"NodeName={node}", "State=RESUME", check=False)

    def start(self, mode, *more, **options):
        return super().start(mode, *more, environment=self.slurm.environment, **options)

    def state(self, node):
        """State and reason once the node answers again."""
        return harness.wait_for(lambda: (lambda s: s if "*" not in s[0] else None)(self.slurm.state(node)))

    def test_auto_drains_with_our_reason_and_undo_frees(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        began = time.monotonic()
        action = self.wait_phase("acted")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.state("n2"), ("drained", f"fathom:{action['id']} compute_slow v1"))
        self.assertIn('fathom_actions_total{backend="slurm",mode="auto",result="done"} 1', self.metrics())
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertEqual(self.state("n2"), ("idle", "none"))
        self.looks()  # a person undid it: not again
        self.assertEqual(self.state("n2")[0], "idle")

    def test_observe_and_advise_change_nothing(self):
        for mode, phase in (("observe", "observed"), ("advise", "advised")):
            process = self.start(mode)
            self.collector.accuse("n1", "v-" + mode)
            self.wait_phase(phase)
            self.looks(0.5)
            self.assertEqual(self.state("n1")[0], "idle")
            process.terminate()
            process.wait(timeout=10)

    def test_approve_waits_for_an_operator(self):
        self.start("approve")
        self.collector.accuse("n3", "v1")
        action = self.wait_phase("advised")
        self.assertIn("waits for", self.fathom("action", "plan").stdout)
        refused = self.fathom("action", "approve", action["id"], who="bob")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("viewer", refused.stderr)
        self.assertEqual(self.state("n3")[0], "idle")
        self.assertEqual(self.fathom("action", "approve", action["id"]).returncode, 0)
        self.wait_phase("acted")
        self.assertEqual(self.state("n3")[0], "drained")

    def test_somebody_elses_drain_is_never_touched(self):
        self.slurm.scontrol("update", "NodeName=n1", "State=DRAIN", "Reason=ops: disk")
        self.start("auto")
        self.collector.accuse("n1", "v1")
        harness.wait_for(lambda: "ops: disk" in self.fathom("action", "plan").stdout)
        self.looks(0.5)
        self.assertEqual(self.state("n1"), ("drained", "ops: disk"))

    def test_a_persons_override_cancels_the_episode(self):
        self.start("auto")
        self.collector.accuse("n4", "v1")
        action = self.wait_phase("acted")
        self.slurm.scontrol("update", "NodeName=n4", "State=RESUME")
        self.wait_phase("relinquished")
        self.looks()
        self.assertEqual(self.state("n4")[0], "idle")
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 1)

    def test_a_new_reason_makes_it_theirs(self):
        self.start("auto")
        self.collector.accuse("n4", "v1")
        self.wait_phase("acted")
        self.slurm.scontrol("update", "NodeName=n4", "State=DRAIN", "Reason=ops: mine now")
        self.wait_phase("relinquished")
        self.looks(0.5)
        self.assertEqual(self.state("n4"), ("drained", "ops: mine now"))

    def test_pause_stops_actions_and_never_an_undo(self):
        self.start("auto")
        self.collector.accuse("n1", "v1")
        action = self.wait_phase("acted")
        self.assertEqual(self.fathom("action", "pause", "--reason", "rack work").returncode, 0)
        self.collector.accuse("n2", "v2")
        harness.wait_for(lambda: "paused: ann: rack work" in self.fathom("action", "plan").stdout)
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertEqual(self.state("n2")[0], "idle")
        self.assertEqual(self.fathom("action", "resume").returncode, 0)
        self.wait_phase("acted")
        self.assertEqual(self.state("n2")[0], "drained")

    def test_survives_a_kill_and_only_one_of_two_acts(self):
        first = self.start("auto")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("acted")
        self.start("auto")
        second_http = self.http
        with self.assertRaises(urllib.error.HTTPError) as standby:
            urllib.request.urlopen(f"http://{second_http}/readyz", timeout=10)
        self.assertEqual(standby.exception.code, 503)
        first.kill()
        first.wait()
        self.assertEqual(self.wait_phase("acted")["id"], action["id"])
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertEqual(self.state("n2")[0], "idle")

    def test_the_log_tells_it_all_and_notices_a_change(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        self.wait_phase("acted")
        log = self.folder / "audit.jsonl"
        kinds = [json.loads(line)["kind"] for line in log.read_text().splitlines()]
        self.assertEqual(kinds, ["intended", "done"])
        verify = [harness.BUILD / "fathom-cordon", "--verify-audit", "--audit", log]
        self.assertEqual(subprocess.run(verify, capture_output=True).returncode, 0)
        log.write_text(log.read_text().replace("n2", "n3", 1))
        broken = subprocess.run(verify, capture_output=True, text=True)
        self.assertEqual(broken.returncode, 1)
        self.assertIn("line 1", broken.stderr)

    def test_network_verdicts_never_cordon(self):
        self.start("auto")
        self.collector.accuse("n1", "v1", cause="link_slow")
        harness.wait_for(lambda: "link_slow never cordons" in self.fathom("action", "plan").stdout)
        self.looks(0.5)
        self.assertEqual(self.state("n1")[0], "idle")

    def traced(self, settings, **wishes):
        """What the environment of a Slurm task holds of the tracer, with the site's settings and a job's wishes."""
        shm = self.folder / "shm"
        shm.mkdir(exist_ok=True)
        file = self.folder / "slurm.env"
        file.write_text(f"FATHOM_LIBRARY={harness.BUILD}/libfathom.so\nFATHOM_SITE={harness.BUILD}/fathom_site\n"
                        f"FATHOM_SHM_DIR={shm}\n{settings}")
        environment = {k: v for k, v in self.slurm.environment.items() if k not in ("LD_PRELOAD", "PYTHONPATH")}
        run = subprocess.run(["srun", "-n1", "env"], capture_output=True, text=True, timeout=60,
                             env={**environment, "FATHOM_SLURM_SETTINGS": str(file), **wishes})
        self.assertEqual(run.returncode, 0, run.stderr)
        names = ("LD_PRELOAD", "PYTHONPATH", "FATHOM_SHM_DIR", "FATHOM_JOB", "NCCL_PROFILER_PLUGIN")
        lines = [line.split("=", 1) for line in run.stdout.splitlines() if line.startswith(names)]
        return {name: value for name, value in lines}

    def test_the_task_prolog_switches_the_tracer_on_for_who_asks(self):
        library, site = f"{harness.BUILD}/libfathom/$LIB/libfathom.so", f"{harness.BUILD}/fathom_site"
        self.assertEqual(self.traced(""), {})
        on = self.traced("", FATHOM="1")
        self.assertRegex(on.pop("FATHOM_JOB"), r"^slurm-\d+$")
        self.assertEqual(on, {"LD_PRELOAD": library, "PYTHONPATH": site, "FATHOM_SHM_DIR": str(self.folder / "shm"),
                              "NCCL_PROFILER_PLUGIN": "STATIC_PLUGIN"})
        libc = "libc.so.6"
        mine = self.traced("FATHOM_TASKS=all\n", LD_PRELOAD=libc, PYTHONPATH="/mine", NCCL_PROFILER_PLUGIN="p")
        self.assertEqual((mine["LD_PRELOAD"], mine["PYTHONPATH"], mine["NCCL_PROFILER_PLUGIN"]),
                         (f"{library}:{libc}", f"{site}:/mine", "p"))

    def test_the_task_prolog_never_harms_a_task(self):
        self.assertEqual(self.traced("FATHOM_TASKS=all\n", FATHOM="0"), {})
        self.assertEqual(self.traced("FATHOM_LIBRARY=/nowhere/libfathom.so\n", FATHOM="1"), {})
        self.assertEqual(self.traced(f"FATHOM_SHM_DIR={self.folder}/nobody\n", FATHOM="1"), {})
        self.assertEqual(self.traced("this is ( no shell\n", FATHOM="1"), {})


if __name__ == "__main__":
    reason = slurm_cluster.why_not_here()
    if reason:
        print(f"skipped: no Slurm here: {reason}")
        sys.exit(harness.SKIPPED)
    unittest.main()
