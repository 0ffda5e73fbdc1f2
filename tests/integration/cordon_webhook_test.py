#!/usr/bin/env python3
"""fathom-cordon with the webhook back-end: its three requests, malformed answers, a flood of verdicts."""
import json
import re
import signal
import subprocess
import unittest
import urllib.error
import urllib.request

import cordon_case
import harness
from fakes.local_server import Handler, LocalServer

TOKEN = "secret-of-cordon"


class Service(LocalServer):
    """Somebody's own service that holds nodes; `words` answers GET /nodes instead when it is set."""

    def __init__(self):
        self.nodes = {n: {"name": n, "withheld": False, "healthy": True, "owner": ""} for n in ("n1", "n2", "n3", "n4")}
        self.posts, self.words, self.code = [], None, 200
        outer = self

        class Answers(Handler):
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

        super().__init__(Answers)


class CordonWebhookTest(cordon_case.CordonCase):
    def setUp(self):
        super().setUp()
        self.service = Service()
        self.addCleanup(self.service.close)
        (self.folder / "token").write_text(TOKEN + "\n")
        self.BACKEND = (f"backend: webhook\nwebhook_url: {self.service.url}\n"
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

    def test_whatever_holds_a_token_approves_by_one_post(self):
        self.start("approve")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("advised")["id"]
        for token, code in ((None, 401), ("0" * 32, 401), (harness.TOKEN, 200)):
            self.assertEqual(self.ask(self.http, f"/{action}/approve", token, {})[0], code, token)
        self.wait_phase("acted")
        self.assertEqual([path for path, *_ in self.service.posts], ["/hold"])

    def test_the_collector_shows_what_was_done_and_changes_nothing_by_itself(self):
        self.start("approve")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("advised")["id"]
        address = self.start_page()

        def shown():
            return self.ask(address, "")[1]
        harness.wait_for(lambda: shown()["state"] == "on")
        ledger = shown()
        self.assertEqual([(a["id"], a["node"], a["phase"], a["verdict"]) for a in ledger["actions"]],
                         [(action, "n2", "advised", "v1")])
        self.assertEqual([p["action"] for p in ledger["plan"]], [action])
        self.fathom("action", "pause", "--reason", "rack 7")
        harness.wait_for(lambda: shown()["paused"] == "ann: rack 7")
        code, said = self.ask(address, f"/{action}/approve", harness.TOKEN, {})
        self.assertEqual(code, 403)
        self.assertIn("cordon_changes", said["error"])
        self.assertEqual(self.actions()[0]["phase"], "advised")
        self.processes[0].kill()
        harness.wait_for(lambda: shown()["state"] == "away")
        self.assertEqual(shown()["actions"][0]["id"], action, "what was known stays")

    def test_a_person_approves_and_undoes_through_the_collector_under_their_own_name(self):
        self.start("approve")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("advised")["id"]
        eve = "eve-0123456789abcdef"  # an operator of the collector alone
        known = self.folder / "page.tokens"
        known.write_text((self.folder / "tokens").read_text() + f"eve operator {harness.hashed(eve)}\n")
        known.chmod(0o600)
        address = self.start_page(FATHOM_CORDON_CHANGES="true", FATHOM_TOKENS=str(known))
        ann, bob = harness.TOKEN, harness.TOKEN[::-1]
        for token, origin, code, words in ((None, None, 401, "sign in"), (bob, None, 403, "bob is a viewer"),
                                           (eve, None, 403, "does not take your token"), (ann, "http://elsewhere", 403, "somebody else")):
            got, said = self.ask(address, f"/{action}/approve", token, {}, origin)
            self.assertEqual((got, words in said["error"]), (code, True), said)
        self.assertEqual(self.actions()[0]["phase"], "advised")
        self.assertEqual(self.ask(address, f"/{action}/approve", ann, {}, f"http://{address}"), (200, {"done": True}))
        self.wait_phase("acted")
        self.assertTrue(self.service.nodes["n2"]["withheld"])
        code, said = self.ask(address, f"/{action}/approve", ann, {})
        self.assertEqual(code, 409)
        self.assertRegex(said["error"], r"is acted \(by fathom-cordon\); only an advised one can be approved")
        self.assertEqual(self.ask(address, "/pause", ann, {})[0], 400)
        self.assertEqual(self.ask(address, "/pause", ann, {"reason": "rack 7"})[0], 200)
        ledger = self.ask(address, "", ann)[1]
        self.assertEqual((ledger["paused"], ledger["you"]), ("ann: rack 7", {"name": "ann", "changes": "on"}))
        self.assertEqual(self.ask(address, f"/{action}/undo", ann, {})[0], 200)
        self.wait_phase("undone")
        self.assertEqual(self.ask(address, "/resume", ann, {})[0], 200)
        log = [json.loads(line) for line in (self.folder / "audit.jsonl").read_text().splitlines()]
        by_people = [(record["kind"], record["actor"]) for record in log if record["actor"] != "fathom-cordon"]
        self.assertEqual(by_people, [("approved", "ann"), ("paused", "ann"), ("undo_intended", "ann"), ("undone", "ann"), ("resumed", "ann")])
        self.assertIn(f"ann from 127.0.0.1: POST /api/v1/actions/{action}/approve -> 200", (self.folder / "page.log").read_text())
        self.processes[0].kill()
        self.processes[0].wait()
        code, said = self.ask(address, "/pause", ann, {"reason": "x"})
        self.assertEqual((code, "not known whether" in said["error"]), (503, True))

    def start_page(self, **settings):
        """A real collector that shows this fathom-cordon; its address."""
        with open(self.folder / "page.log", "wb") as log:
            process = subprocess.Popen(
                [harness.BUILD / "fathom-collector", "--store", ":memory:", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"],
                env=harness.environment(FATHOM_CORDON_HTTP=self.http, **settings), stdout=subprocess.PIPE, stderr=log, text=True)
        self.processes.append(process)
        return re.search(r" http=(\S+)", process.stdout.readline()).group(1)

    def ask(self, address, path, token=None, body=None, origin=None):
        """Status and answer below /api/v1/actions of whoever listens there; a body is sent by POST."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Origin": origin}
        given = {k: v for k, v in headers.items() if v is not None and (k != "Authorization" or token)}
        request = urllib.request.Request(f"http://{address}/api/v1/actions{path}", None if body is None else json.dumps(body).encode(), given)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, json.load(refused)

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
            self.wait_plan("the back-end gives no answer")
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
