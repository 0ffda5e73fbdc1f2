#!/usr/bin/env python3
"""The executable `fathom` as a whole: usage errors, and servers that answer well, badly or not.

    FATHOM_BINARY_DIR=build/release tests/cli/cli_test.py
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

FATHOM = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release")) / "fathom"
GOLDEN = pathlib.Path(__file__).parent / "golden"


def fathom(*arguments, env=None, timeout=30):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    return subprocess.run([FATHOM, *arguments], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env={**clean, **(env or {})})


class Server:
    """Answers every request by path from a table, or with raw bytes."""

    def __init__(self, replies=None, raw=None):
        self.replies, self.raw, self.open = replies or {}, raw, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            request = b""
            while b"\r\n\r\n" not in request and (more := peer.recv(4096)):
                request += more
            if request:
                self.answer(peer, request.split()[1].decode())

    def answer(self, peer, path):
        if self.raw is not None:
            peer.sendall(self.raw)
            self.open.append(peer)
            return
        status, body = self.replies.get(path, (404, {"error": f"no {path}; see docs"}))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        peer.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data))
        peer.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The descriptor stays ours until the thread has left accept(): the next server would get the same number,
        # and a thread that was late would answer there with this one's words.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for peer in self.open:
            peer.close()


def golden(name):
    return json.loads((GOLDEN / name).read_text())


def collector():
    verdicts = golden("verdicts.json")
    active = {"verdicts": verdicts["verdicts"][:1]}
    return Server({
        "/api/v1/jobs": (200, golden("jobs.json")),
        "/api/v1/nodes": (200, golden("nodes.json")),
        "/api/v1/verdicts": (200, verdicts),
        "/api/v1/verdicts?active=1": (200, active),
        "/api/v1/verdicts?job=quiet&active=1": (200, {"verdicts": []}),
        "/api/v1/verdicts/v-12": (200, verdicts["verdicts"][0]),
        "/api/v1/verdicts/v-11": (200, verdicts["verdicts"][1]),
        "/api/v1/jobs/train/health": (200, golden("health.json")),
    })


class Usage(unittest.TestCase):
    def fails(self, *arguments, saying):
        run = fathom(*arguments)
        self.assertEqual(run.returncode, 1, run)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, f"one line, not: {run.stderr}")
        self.assertIn(saying, run.stderr)

    def test_errors_are_one_line_that_says_what_to_do(self):
        self.fails(saying="fathom --help")
        self.fails("--nonsense", saying="fathom --help")
        self.fails("ges", saying="did you mean 'get'?")
        self.fails("frobnicate", saying="there is no verb 'frobnicate'")
        self.fails("get", saying="fathom get --help")
        self.fails("get", "things", saying="fathom get --help")
        self.fails("get", "jobs", "-o", "xml", saying="fathom get --help")
        self.fails("get", "jobs", "--collector-http", "nonsense", saying="HOST:PORT")
        self.fails("simulate", saying="--list")
        self.fails("simulate", "slow_gpu_4", saying="did you mean 'slow_gpu_4d'?")
        self.fails("simulate", "slow_gpu_4d", "--ranks", "100", saying="replica of 32 ranks")
        self.fails("simulate", "--experiment", "nonsense", saying="there are: scale")
        self.fails("explain", "a", "b", saying="fathom explain --help")
        self.fails("run", saying="fathom run -- ")
        self.fails("run", "--", saying="fathom run -- ")
        self.fails("run", "true", saying="fathom run --help")
        self.fails("run", "--http", "x", "--", "true", saying="HOST:PORT")
        self.fails("run", "--report", "/no/such/folder/r.json", "--", "true", saying="cannot be written")
        self.fails("run", "--collector", "h:1", "--http", "h:2", "--", "true", saying="leave it out")

    def test_every_verb_has_help_with_examples(self):
        verbs = ("run", "get", "explain", "watch", "analyze", "doctor", "probe", "profile", "trace", "action", "completion", "version")
        self.assertIn("Examples:", fathom("--help").stdout)
        for verb in verbs:
            run = fathom(verb, "--help")
            self.assertEqual(run.returncode, 0)
            self.assertIn(f"  fathom {verb}", run.stdout.split("Examples:")[1])

    def test_version(self):
        run = fathom("version")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout, r"^fathom \d+\.\d+\.\d+ \((unknown|[0-9a-f]{12,}(-dirty)?)\)\n$")

    def test_completions_know_the_verbs_and_parse(self):
        for shell in ("bash", "zsh", "fish"):
            run = fathom("completion", shell)
            self.assertEqual(run.returncode, 0)
            for word in ("explain", "verdicts", "collector"):
                self.assertIn(word, run.stdout, shell)
            self.assertIn("record", run.stdout)
        check = subprocess.run(["bash", "-n"], input=fathom("completion", "bash").stdout, text=True)
        self.assertEqual(check.returncode, 0)


class Reading(unittest.TestCase):
    def test_get_prints_lists_and_exits_by_what_it_found(self):
        with collector() as server:
            for noun, word, code in (("jobs", "big-pretraining-run", 0), ("nodes", "node1", 0),
                                     ("verdicts", "rank 2 on node0", 2)):
                run = fathom("get", noun, "--collector-http", server.address)
                self.assertEqual((run.returncode, run.stderr), (code, ""))
                self.assertIn(word, run.stdout)
                self.assertNotIn("\x1b", run.stdout)
            run = fathom("get", "verdicts", "--exit-zero", "--collector-http", server.address)
            self.assertEqual(run.returncode, 0)
            run = fathom("get", "verdicts", "--job", "quiet", "--collector-http", server.address)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", "no verdicts\n"))

    def test_get_ranks_needs_a_job_when_there_are_several(self):
        with collector() as server:
            env = {"FATHOM_COLLECTOR_HTTP": server.address}
            run = fathom("get", "ranks", env=env)
            self.assertEqual(run.returncode, 1)
            self.assertIn("--job: train, big-pretraining-run, over", run.stderr)
            run = fathom("get", "ranks", "--job", "train", env=env)
            self.assertIn("4242", run.stdout)

    def test_json_and_yaml_carry_the_reply(self):
        with collector() as server:
            at = ("--collector-http", server.address)
            run = fathom("get", "verdicts", "--all", "-o", "json", *at)
            self.assertEqual(json.loads(run.stdout), golden("verdicts.json"))
            run = fathom("get", "nodes", "-o", "yaml", *at)
            self.assertTrue(run.stdout.startswith("nodes:\n  - name: node0\n"), run.stdout)
            run = fathom("explain", "v-11", "-o", "json", *at)
            self.assertEqual(json.loads(run.stdout), golden("verdicts.json")["verdicts"][1])

    def test_explain_takes_the_strongest_and_exits_by_grade(self):
        with collector() as server:
            at = ("--collector-http", server.address)
            run = fathom("explain", *at)
            self.assertEqual(run.returncode, 2)
            self.assertEqual(fathom("explain", "v-12", *at).stdout, run.stdout)
            self.assertIn("py-spy dump", run.stdout)
            self.assertEqual(fathom("explain", "v-11", *at).returncode, 0)
            self.assertEqual(fathom("explain", "--exit-zero", *at).returncode, 0)
            run = fathom("explain", "v-99", *at)
            self.assertEqual(run.returncode, 1)
            self.assertIn("no verdict 'v-99'", run.stderr)

    def test_flag_beats_environment(self):
        with collector() as server:
            run = fathom("get", "jobs", "--collector-http", server.address,
                         env={"FATHOM_COLLECTOR_HTTP": "127.0.0.1:1"})
            self.assertEqual(run.returncode, 0)
            run = fathom("get", "jobs", env={"FATHOM_COLLECTOR_HTTP": "127.0.0.1:1"})
            self.assertEqual(run.returncode, 1)
            self.assertIn("no collector answers at 127.0.0.1:1 ", run.stderr)


class Misbehaving(unittest.TestCase):
    def fails(self, server, saying):
        for arguments in (("get", "jobs"), ("explain", "x"), ("watch",)):
            run = fathom(*arguments, "--collector-http", server.address)
            self.assertEqual(run.returncode, 1, run)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn(saying, run.stderr)
            self.assertNotIn("\x1b", run.stderr)

    def test_garbage(self):
        with Server(raw=b"\x16\x03\x01\x1b[2Jgarbage\r\n\r\n") as server:
            self.fails(server, "is not a fathom-collector")

    def test_no_json(self):
        with Server({p: (200, b"<html>") for p in ("/api/v1/jobs", "/api/v1/verdicts/x")}) as server:
            self.fails(server, "not JSON")

    def test_announced_too_long(self):
        with Server(raw=b"HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\n") as server:
            self.fails(server, "too long")

    def test_silence(self):
        with Server(raw=b"") as server:
            run = fathom("get", "jobs", "--collector-http", server.address)
            self.assertEqual(run.returncode, 1)
            self.assertIn("no answer in time", run.stderr)

    def test_the_servers_own_words_are_printed_without_control_characters(self):
        with Server({"/api/v1/nodes": (503, {"error": "busy\n\x1b[31m; try again"})}) as server:
            run = fathom("get", "nodes", "--collector-http", server.address)
            self.assertEqual(run.stderr, "fathom get: busy??[31m; try again\n")


class Doctor(unittest.TestCase):
    def test_rows_are_complete(self):
        run = fathom("doctor", "--python", sys.executable, "-o", "json")
        checks = json.loads(run.stdout)["checks"]
        self.assertGreaterEqual(len(checks), 12)
        for check in checks:
            self.assertIn(check["state"], ("ok", "partly", "off"))
            self.assertTrue(check["why"], check)
            if check["state"] != "ok":
                self.assertTrue(check["hides"], check)

    def test_gpu_sources_are_not_claimed(self):
        checks = json.loads(fathom("doctor", "-o", "json").stdout)["checks"]
        gpu = [c for c in checks if c["name"] == "CUDA, NCCL"]
        self.assertEqual(gpu[0]["state"], "off")


if __name__ == "__main__":
    unittest.main()
