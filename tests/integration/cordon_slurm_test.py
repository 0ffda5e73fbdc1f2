#!/usr/bin/env python3
"""fathom-cordon against a real Slurm: what it drains, what it leaves alone, and what it undoes.

The collector is a stand-in that serves verdicts; everything else is real. Skips (77) where Slurm is
not installed.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import harness
import slurm_cluster

TOKEN = "0123456789abcdef0123456789abcdef"


class Collector(http.server.ThreadingHTTPServer):
    """Serves the verdicts it is given."""

    def __init__(self):
        self.verdicts = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                active = "active=1" in self.path
                verdicts = [v for v in outer.verdicts if not (active and "until" in v)]
                body = json.dumps({"verdicts": verdicts} if "/verdicts" in self.path else
                                  {"rank_info": [{"node": v["entity"]["node"]} for v in verdicts]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def accuse(self, node, identity, cause="compute_slow"):
        self.verdicts.append({"id": identity, "job": "job-" + identity, "grade": "established", "cause": cause,
                              "entity": {"type": "rank", "ranks": [1], "node": node},
                              "sentence": f"{node} holds the job back"})


class CordonSlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.slurm = slurm_cluster.SlurmCluster(["n1", "n2", "n3", "n4"])
        cls.slurm.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.slurm.close()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-cordon-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.collector = Collector()
        self.addCleanup(self.collector.server_close)
        self.addCleanup(self.collector.shutdown)
        (self.folder / "tokens").write_text(f"ann operator {TOKEN}\nbob viewer {TOKEN[::-1]}\n")
        (self.folder / "tokens").chmod(0o600)
        (self.folder / "ann").write_text(TOKEN)
        (self.folder / "bob").write_text(TOKEN[::-1])
        self.processes = []
        self.addCleanup(self.free_all)

    def free_all(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        for node in self.slurm.nodes:
            if self.state(node)[0] != "idle":
                self.slurm.scontrol("update", f"NodeName={node}", "State=RESUME", check=False)

    def start(self, mode, *more):
        config = self.folder / "cordon.yaml"
        config.write_text(f"groups: [{{name: all, mode: {mode}, nodes: ['*']}}]\n"
                          "min_age_s: 0.3\nsecond_look_s: 0.2\npoll_s: 0.1\nmax_ratio: 0.5\nmin_spacing_s: 0\n"
                          "min_available_per_partition: 0.5\ndoubt_s: 2\n")
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                [harness.BUILD / "fathom-cordon", "--config", config, "--collector", self.collector.url, "--http",
                 "127.0.0.1:0", "--audit", self.folder / "audit.jsonl", "--tokens", self.folder / "tokens", *more],
                env=self.slurm.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        self.processes.append(process)
        self.http = re.search(r"http=(\S+)", process.stdout.readline()).group(1)
        return process

    def fathom(self, *arguments, who="ann"):
        return subprocess.run([harness.BUILD / "fathom", *arguments], capture_output=True, text=True, timeout=30,
                              env=harness.environment(FATHOM_CORDON_HTTP=self.http,
                                                      FATHOM_CORDON_TOKEN_FILE=str(self.folder / who)))

    def actions(self):
        run = self.fathom("get", "actions", "-o", "json")
        return json.loads(run.stdout)["actions"] if run.returncode == 0 else []  # a standby has none

    def wait_phase(self, phase):
        return harness.wait_for(lambda: [a for a in self.actions() if a["phase"] == phase])[0]

    def metric(self, name):
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def state(self, node):
        """State and reason once the node answers again."""
        return harness.wait_for(lambda: (lambda s: s if "*" not in s[0] else None)(self.slurm.state(node)))

    def looks(self, seconds=1.5):
        """Long enough for a dozen looks: what was to happen has happened."""
        time.sleep(seconds)

    def test_auto_drains_with_our_reason_and_undo_frees(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        began = time.monotonic()
        action = self.wait_phase("acted")
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.state("n2"), ("drained", f"fathom:{action['id']} compute_slow v1"))
        self.assertIn('fathom_actions_total{backend="slurm",mode="auto",result="done"} 1', self.metric(""))
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


if __name__ == "__main__":
    reason = slurm_cluster.why_not_here()
    if reason:
        print(f"skipped: no Slurm here: {reason}")
        sys.exit(harness.SKIPPED)
    unittest.main()
