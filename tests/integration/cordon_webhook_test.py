#!/usr/bin/env python3
"""fathom-cordon with the webhook back-end: its three requests, malformed answers, a flood of verdicts."""
import http.server
import json
import re
import signal
import subprocess
import threading
import unittest
import urllib.error
import urllib.request

import cordon_case
import harness

TOKEN = "secret-of-cordon"


class Service(http.server.ThreadingHTTPServer):
    """Somebody's own service that holds nodes; `words` answers GET /nodes instead when it is set."""

    def __init__(self):
        self.nodes = {n: {"name": n, "withheld": False, "healthy": True, "owner": ""} for n in ("n1", "n2", "n3", "n4")}
        self.posts, self.words, self.code = [], None, 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                text = outer.words if outer.words is not None else json.dumps({"nodes": list(outer.nodes.values())}).encode()
                self.reply(200, text)

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.posts.append((self.path, asked, self.headers["Authorization"]))
                node = outer.nodes[asked["node"]]
                if outer.code == 200:
                    held = self.path == "/hold"
                    if node["owner"] != ("" if held else asked["action"]):
                        return self.reply(409, b"not yours")
                    node.update(withheld=held, owner=asked["action"] if held else "")
                return self.reply(outer.code, b"{}")

            def reply(self, code, text):
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.handle_error = lambda *_: None
        threading.Thread(target=self.serve_forever, daemon=True).start()


class CordonWebhookTest(cordon_case.CordonCase):
    def setUp(self):
        super().setUp()
        self.service = Service()
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        (self.folder / "token").write_text(TOKEN + "\n")
        self.BACKEND = (f"backend: webhook\nwebhook_url: http://127.0.0.1:{self.service.server_address[1]}\n"
                        f"webhook_token_file: {self.folder}/token\n")

    def test_holds_and_releases(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("acted")["id"]
        path, asked, authorization = self.service.posts[0]
        self.assertEqual((path, authorization), ("/hold", "Bearer " + TOKEN))
        self.assertEqual(asked, {"node": "n2", "action": action, "cause": "compute_slow", "verdict": "v1",
                                 "sentence": "n2 holds the job back"})
        self.fathom("action", "undo", action)
        self.wait_phase("undone")
        self.assertEqual(self.service.posts[1][:2], ("/release", {"node": "n2", "action": action}))
        self.assertFalse(self.service.nodes["n2"]["withheld"])

    def test_the_collector_shows_what_was_done_and_can_change_nothing(self):
        self.start("approve")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("advised")["id"]
        process = subprocess.Popen(
            [harness.BUILD / "fathom-collector", "--store", ":memory:", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
            env=harness.environment(FATHOM_CORDON_HTTP=self.http), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.processes.append(process)
        address = re.search(r" http=(\S+)", process.stdout.readline()).group(1)

        def shown():
            with urllib.request.urlopen(f"http://{address}/api/v1/actions", timeout=10) as answer:
                return json.load(answer)
        harness.wait_for(lambda: shown()["state"] == "on")
        ledger = shown()
        self.assertEqual([(a["id"], a["node"], a["phase"], a["verdict"]) for a in ledger["actions"]],
                         [(action, "n2", "advised", "v1")])
        self.assertEqual([p["action"] for p in ledger["plan"]], [action])
        self.fathom("action", "pause", "--reason", "rack 7")
        harness.wait_for(lambda: shown()["paused"] == "ann: rack 7")
        post = urllib.request.Request(f"http://{address}/api/v1/actions/{action}/approve", b"{}",
                                      {"Content-Type": "application/json", "Authorization": "Bearer " + harness.TOKEN})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(post, timeout=10)
        refused.exception.close()
        self.assertEqual(refused.exception.code, 405)
        self.assertEqual(self.actions()[0]["phase"], "advised")
        self.processes[0].kill()
        harness.wait_for(lambda: shown()["state"] == "away")
        self.assertEqual(shown()["actions"][0]["id"], action, "what was known stays")

    def test_sighup_takes_modes_and_keeps_the_old_on_an_error(self):
        process = self.start("observe")
        config, log = self.folder / "cordon.yaml", self.folder / "log"
        self.collector.accuse("n2", "v1")
        self.wait_phase("observed")
        held = config.read_text()
        config.write_text("groups: [{name: all, mode: yolo, nodes: ['*']}]\n")
        process.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: "the old ones hold" in log.read_text())
        self.looks()
        self.assertEqual(self.service.posts, [])
        config.write_text(held.replace("mode: observe", "mode: auto").replace(self.BACKEND, "backend: slurm\n"))
        process.send_signal(signal.SIGHUP)
        self.wait_phase("acted")
        self.assertEqual([path for path, _, _ in self.service.posts], ["/hold"])
        self.assertIn("backend has changed and takes effect with a restart only", log.read_text())

    def test_malformed_answers_are_no_empty_cluster(self):
        self.service.words = b'{"nodes": [{"name": "n1"}]}'
        self.start("auto")
        self.collector.accuse("n1", "v1")
        for words in (self.service.words, b"", b"<html>", b'{"nodes": "n1"}', b"\xff\xfe", b"[" * 100_000):
            self.service.words = words
            self.looks(0.2)
            self.wait_plan("the back-end does not answer")
        self.assertEqual(self.service.posts, [])
        self.service.words = None
        self.wait_phase("acted")  # and goes on when the answers are sound again

    def test_an_unclear_answer_is_settled_by_a_later_look(self):
        self.service.code = 500
        self.start("auto")
        self.collector.accuse("n1", "v1")
        harness.wait_for(lambda: self.service.posts)
        self.wait_phase("acting")
        posts = len(self.service.posts)
        self.service.nodes["n1"].update(withheld=True, owner=self.actions()[0]["id"])
        self.wait_phase("acted")
        self.assertEqual(len(self.service.posts), posts)

    def test_a_flood_of_verdicts_trips_the_breaker_and_holds_nothing(self):
        self.start("auto")
        for i in range(10_000):
            self.collector.accuse(f"n{i % 4 + 1}", f"v{i}")
        harness.wait_for(lambda: "fathom_cordon_tripped 1" in self.metrics())
        self.assertEqual(self.service.posts, [])


if __name__ == "__main__":
    unittest.main()
