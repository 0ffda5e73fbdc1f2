#!/usr/bin/env python3
"""A real job with a slow loader: what bounds its iteration, who is told of it, and what it cost the month.

One collector with named receivers and rules; the job is traced by `fathom run --collector`. A second
job, of one rank and healthy, is told what bounds its iteration all the same.
"""
import csv
import http.server
import io
import json
import pathlib
import shutil
import tempfile
import threading
import unittest

import harness
from harness import BUILD, ROOT, RunTest, end, environment, run, start, torchrun, wait_for

FATHOM = str(BUILD / "fathom")
SCRIPT = ROOT / "deploy/demo_job/train.py"
RUNBOOK = "https://wiki.example/causes"


class Receivers:
    """Keeps what was sent to each path."""

    def __init__(self):
        self.sent = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.sent.setdefault(self.path, []).append(json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_address[1]}{path}"


class Month(RunTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-month-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.receivers = Receivers()
        self.addCleanup(self.receivers.server.shutdown)

    def collector(self):
        (self.folder / "routes.yaml").write_text(
            "routes:\n"
            "  - {owner: infrastructure, cause: dataloader, job: 'tr*', to: [storage], labels: {team: storage}}\n"
            "  - {to: [rest]}\n")
        process = start([str(BUILD / "fathom-collector"), "--store", str(self.folder / "store.db"), "--grpc", "127.0.0.1:0",
                         "--http", "127.0.0.1:0", "--notify",
                         f"storage:json={self.receivers.url('/storage')},rest:json={self.receivers.url('/rest')}",
                         "--notify-routes", str(self.folder / "routes.yaml"), "--runbook-url", RUNBOOK],
                        env=environment(), start_new_session=True)
        self.addCleanup(end, process)
        ready = wait_for(process.stdout.readline).decode()
        return [next(word.split("=")[1] for word in ready.split() if word.startswith(name)) for name in ("grpc=", "http=")]

    def run_job(self, *options, ranks, **more):
        command = torchrun(SCRIPT, *options, ranks=ranks)
        process = start([FATHOM, "run", *self.where, "--", *command], start_new_session=True,
                        env=environment(OMP_NUM_THREADS="1", FATHOM_SHM_DIR=str(self.folder / "shm"), **more))
        self.addCleanup(end, process)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err.decode())
        return " ".join(err.decode().replace("fathom:", "").split())

    def report(self, *options):
        done = run([FATHOM, "report", "--collector-http", self.http, *options])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def test_a_slow_loader_is_bound_by_input_told_to_its_team_and_on_the_bill(self):
        grpc, self.http = self.collector()
        self.where = ["--collector", grpc, "--collector-http", self.http, "--job", "train"]
        said = self.run_job("--fault", "dataloader", "--rank", 0, "--iterations", 160, "--from-iteration", 60, ranks=2, FATHOM_TEAM="vision")
        # The loader of rank 0 is slow, and rank 1 waits for rank 0: both are most of what is lost.
        self.assertRegex(said, r"An iteration takes [\d.]+ m?s: .*data loader \d+ %")
        self.assertRegex(said, r"waiting for other ranks \d+ %")
        told = wait_for(lambda: [n for n in self.receivers.sent.get("/storage", []) if not n["active"]])[0]
        self.assertEqual(told["labels"]["cause"], "dataloader")
        self.assertEqual(told["labels"]["team"], "storage")
        self.assertEqual(told["runbook"], RUNBOOK + "#dataloader")
        self.assertEqual([n for n in self.receivers.sent.get("/rest", []) if n["labels"]["cause"] == "dataloader"], [])

        losses = json.loads(self.report("--since", "2d", "-o", "json"))
        self.assertGreater(losses["used_gpu_hours"], 0)
        self.assertGreater(losses["lost_gpu_hours"], 0)
        self.assertLessEqual(losses["lost_gpu_hours"], losses["used_gpu_hours"] * 1.0001)
        self.assertEqual(losses["by_cause"][0]["name"], "dataloader")
        self.assertEqual([team["name"] for team in losses["by_team"]], ["vision"])
        lines = list(csv.DictReader(io.StringIO(self.report("-o", "csv"))))
        self.assertEqual({line["job"] for line in lines}, {"train"})
        self.assertAlmostEqual(sum(float(line["lost_gpu_hours"]) for line in lines), losses["lost_gpu_hours"], places=4)
        text = self.report()
        self.assertRegex(text, r"GPU-hours used in 1 run of 1 job, [\d.e-]+ lost")
        self.assertIn("Lost by cause", text)

    def test_one_rank_of_torchrun_is_told_what_bounds_its_iteration(self):
        self.where = ["--job", "single"]
        said = self.run_job("--iterations", 80, ranks=1)
        self.assertIn("no culprit found", said)
        self.assertRegex(said, r"An iteration takes [\d.]+ m?s: .*It is bound by")

    def test_a_wrong_rule_keeps_the_collector_from_starting(self):
        (self.folder / "routes.yaml").write_text("routes:\n  - {owner: operation, to: [rest]}\n")
        done = run([str(BUILD / "fathom-collector"), "--store", ":memory:", "--check-config", "--notify",
                    f"rest:json={self.receivers.url('/rest')}", "--notify-routes", str(self.folder / "routes.yaml")])
        self.assertEqual(done.returncode, 1)
        self.assertIn("route 1: owner: 'operation' is no owner; did you mean 'operations'?", done.stderr.decode())


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
