#!/usr/bin/env python3
"""Secrets planted in every place of the settings, looked for wherever fathom speaks or writes.

Planted: addresses, keys, passwords and tokens in files of settings, in files that these name, and in variables.
Looked for: command lines of all processes while the parts run, what parts say when their settings are wrong, logs,
every answer of every API, the page, metrics, the support bundle, the store, journal, audit log, recordings, spool.
Receivers answer with what they were asked.
"""
import os
import pathlib
import re
import secrets
import signal
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

import daemon_case
import harness
from fakes.local_server import Handler, LocalServer
from pki import Pki


class Echo(LocalServer):
    """A receiver that fails, and sends back all that it was sent."""

    def __init__(self):
        outer = self
        self.came = []

        class Answers(Handler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.came.append(self.path)
                said = f"{self.path} {self.headers} ".encode() + body
                self.reply(500, said)

            do_GET = do_POST

        super().__init__(Answers)


class SecretsCase(daemon_case.DaemonCase):
    def setUp(self):
        self.echo = Echo()
        self.addCleanup(self.echo.close)
        super().setUp()
        self.planted = {}
        self.host = self.echo.address

    def secret(self, name):
        return self.planted.setdefault(name, f"hush{secrets.token_hex(12)}")

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def kept(self, name):
        """A file that holds that secret alone."""
        return self.file(name.replace(" ", "-"), self.secret(name) + "\n")

    def look(self, place, text):
        text = text if isinstance(text, bytes) else text.encode()
        for name, secret in self.planted.items():
            self.assertNotIn(secret.encode(), text, f"{name}, in {place}")

    def look_in_files(self, *names):
        """Below the folder, all files of which the path has one of these names."""
        files = [p for p in self.folder.rglob("*") if p.is_file() and any(n in str(p.relative_to(self.folder)) for n in names)]
        for path in files:
            self.look(path, path.read_bytes())
        return {p.relative_to(self.folder).parts[0] for p in files}


class SecretsTest(SecretsCase):
    def watch_command_lines(self):
        """Of all processes, as long as the test runs."""
        seen, over = {}, threading.Event()

        def watch():
            while not over.is_set():
                for entry in filter(str.isdigit, os.listdir("/proc")):
                    seen.update(dict.fromkeys([b" ".join(harness.command_line(entry))]))
                time.sleep(0.02)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        return lambda: (over.set(), thread.join(), b"\n".join(seen))[2]

    def token(self, name, role):
        token = self.secret(f"{name}'s token")
        with open(self.folder / "tokens", "a") as tokens:
            tokens.write(f"{name} {role} {harness.hashed(token)}\n")
        (self.folder / "tokens").chmod(0o600)
        return self.file(f"{name}.token", token + "\n")

    def start_parts(self):
        ann, bob = self.token("ann", "operator"), self.token("bob", "viewer")
        slack = self.file("slack", f"http://{self.host}/services/{self.secret('address of slack')}\n")
        collector_yaml = self.file("collector.yaml", f"""
notify: json=http://ann:{self.secret('password of a receiver')}@{self.host}/{self.secret('path of a receiver')},slack=@{slack},pagerduty=http://{self.host}/pd
notify_key_file: {self.kept('routing key')}
tokens: {self.folder}/tokens
store: {self.folder}/store/fathom.db
cordon_token_file: {self.kept('token of the page')}
cordon_http: http://page:{self.secret('password before cordons address')}@{self.host}
""")
        (self.folder / "store").mkdir()
        collector = self.start_as_told("fathom-collector", "--config", collector_yaml, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
        cordon_yaml = self.file("cordon.yaml", f"""
groups: [{{name: all, mode: auto, nodes: ['*']}}]
min_age_s: 0.3
second_look_s: 0.2
backend: webhook
webhook_url: http://fathom:{self.secret('password of the back-end')}@{self.host}/{self.secret('path of the back-end')}
webhook_token_file: {self.kept('token of the back-end')}
notify: slack=@{slack},json=http://{self.host}/{self.secret('path of cordons receiver')}
collector_token_file: {bob}
tokens: {self.folder}/tokens
open_reading: false
""")
        cordon = self.start_as_told("fathom-cordon", "--config", cordon_yaml, "--collector", f"http://{collector.where['http']}",
                                    "--http", "127.0.0.1:0", "--audit", f"{self.folder}/audit.jsonl")
        agent = self.start("fathomd", "--collector", collector.where["grpc"], "--spool", f"{self.folder}/spool", "--record",
                           f"{self.folder}/recording")
        return ann, collector, cordon, agent

    def start_as_told(self, program, *arguments, **environment):
        """By its file, without the variables that all other tests have."""
        log = self.folder / f"{program}.log"
        with open(log, "wb") as file:
            process = subprocess.Popen([harness.BUILD / program, *arguments], stdout=subprocess.PIPE, stderr=file, text=True,
                                       env=harness.environment(**environment))
        self.processes.append(process)
        process.log, process.ready = log.read_text, process.stdout.readline()
        process.where = dict(re.findall(r"(grpc|http)=(\S+)", process.ready))
        self.assertTrue(process.where, process.log())
        return process

    def answer(self, address, path, token=None, body=None):
        request = urllib.request.Request(f"http://{address}{path}", body, {"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                return reply.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return f"{refused.headers}".encode() + refused.read()

    def test_parts_that_run(self):
        end_watch = self.watch_command_lines()
        ann, collector, cordon, agent = self.start_parts()
        said = subprocess.run(
            [harness.BUILD / "fathom", "simulate", "slow_gpu_ddp", "--collector", collector.where["grpc"], "--collector-http",
             collector.where["http"], "--pace", "0.05", "--token-file", ann], capture_output=True, timeout=120,
            env=harness.environment(MY_API_KEY=self.secret("variable of a person")))
        self.look("fathom simulate", said.stdout + said.stderr)
        harness.wait_for(lambda: len(self.echo.came) > 3)  # all receivers were tried, and said it all back
        key = ann.read_text().strip()
        page = self.answer(collector.where["http"], "/", key)
        paths = ["/", "/healthz", "/readyz", "/metrics", "/login", "/nowhere"]
        api = [f"/api/v1/{p}" for p in (
            "jobs", "verdicts", "nodes", "runs", "actions", "plan", "settings", "jobs/sim-slow_gpu_ddp",
            "jobs/sim-slow_gpu_ddp/report", "jobs/sim-slow_gpu_ddp/health", "jobs/sim-slow_gpu_ddp/iterations",
            "nodes/sim-node-0000", f"jobs?token={self.secret('token in an address')}")]
        for part in (collector, cordon, agent):
            for path in paths + api + re.findall(r'(?:src|href)="(/?[^"]+\.(?:js|css))"', page.decode()):
                for token in (None, key, self.secret("wrong token")):
                    self.look(path, self.answer(part.where["http"], path if path[0] == "/" else f"/{path}", token))
        self.answer(collector.where["http"], "/login", None, f"token={self.secret('wrong token')}".encode())
        for words in (("get", "actions"), ("action", "plan"), ("get", "jobs"), ("get", "nodes"), ("doctor",)):
            for token in (ann, self.kept("wrong token")):
                run = self.fathom(*words, FATHOM_COLLECTOR_HTTP=collector.where["http"], FATHOM_CORDON_HTTP=cordon.where["http"],
                                  FATHOM_TOKEN_FILE=str(token))
                self.look(words, run.stdout + run.stderr)
        logs = [str(p) for p in self.folder.glob("*.log")]
        bundle = subprocess.run(
            [harness.BUILD / "fathom", "export", "bundle", "--python", "/nonexistent", "-f", f"{self.folder}/bundle.tar.gz",
             "--collector-http", collector.where["http"], "--cordon-http", cordon.where["http"], "--agent-http",
             agent.where["http"], "--config", f"{self.folder}/collector.yaml", f"{self.folder}/cordon.yaml", "--log", *logs],
            capture_output=True, timeout=60,
            env=harness.environment(FATHOM_TOKEN_FILE=str(ann), MY_API_KEY=self.secret("variable of a person")))
        self.assertEqual(bundle.returncode, 0, bundle.stderr)
        unpacked = self.folder / "unpacked"
        unpacked.mkdir()
        subprocess.run(["tar", "xzf", f"{self.folder}/bundle.tar.gz", "-C", unpacked], check=True)
        for part in (cordon, agent, collector):
            part.send_signal(signal.SIGHUP)  # settings are read, and said, again
        time.sleep(1)
        for part in (cordon, agent, collector):
            part.terminate()
            part.wait(20)
        self.look("the command line of a process", end_watch())
        found = self.look_in_files("store/", "spool/", "recording/", "audit.jsonl", "unpacked/", ".log")
        self.assertLessEqual({"store", "audit.jsonl", "unpacked", "fathom-cordon.log", "recording", "spool"}, found)

    def test_wrong_settings(self):
        """What a part says that does not start, or settings that are not taken."""
        ann = self.token("ann", "operator")
        word = self.secret("a secret in the wrong place")
        plain = self.file("plain.tokens", f"ann operator {word}\n")
        cases = []
        for setting in (f"notify: slak=https://hooks.example/{word}", f"notify: json=ftp://ann:{word}@host/x", f"notify: {word}",
                        f"notify: [slack=https://hooks.example/{word}", f"notify_key_file: /nowhere\npassword: {word}",
                        f"tokens: {plain}", f"http: ann:{word}@host", f"cordon_http: http://ann:{word}@host:70000",
                        f"tls_key: {self.kept('a key that is none')}\ntls_cert: {self.kept('a key that is none')}"):
            cases.append(("fathom-collector", setting))
        for setting in (f"webhook_url: ftp://ann:{word}@host/{word}", f"notify: json=x://{word}", f"tokens: {plain}",
                        f"collector: http://ann:{word}@host:99999", f"kubernetes_server: ftp://{word}@host"):
            cases.append(("fathom-cordon", "backend: webhook\n" + setting))
        cases.append(("fathomd", f"http_key: {self.kept('a key that is none')}\nhttp_cert: {self.kept('a key that is none')}"))
        for number, (program, text) in enumerate(cases):
            path = self.file(f"wrong{number}.yaml", text + "\n")
            run = subprocess.run([harness.BUILD / program, "--config", path, "--check-config"], capture_output=True, text=True,
                                 timeout=30, env=harness.environment())
            with self.subTest(text.splitlines()[-1].split(":")[0], program=program):
                self.assertNotEqual(run.stdout + run.stderr, "")
                self.look(f"{program}: {text}", run.stdout + run.stderr)
        for variable, value in (("FATHOM_COLLECTOR_HTTP", f"http://ann:{word}@host:1"), ("FATHOM_TOKEN_FILE", str(plain)),
                                ("FATHOM_COLLECTOR_HTTP", f"https://ann:{word}@127.0.0.1:1")):
            run = self.fathom("get", "jobs", **{"FATHOM_COLLECTOR_HTTP": "127.0.0.1:1", variable: value})
            with self.subTest(variable):
                self.assertEqual(run.returncode, 1)
                self.look(variable, run.stdout + run.stderr)
        for program, setting in (("fathom-collector", "notify"), ("fathom-collector", "cordon_http"), ("fathom-cordon", "notify"),
                                 ("fathom-cordon", "webhook_url"), ("fathom-cordon", "collector"),
                                 ("fathom-cordon", "kubernetes_server")):
            tail = "" if setting in ("cordon_http", "collector", "kubernetes_server") else f"/{word}"
            scheme = "https" if setting == "kubernetes_server" else "http"
            address = f"{'json=' if setting == 'notify' else ''}{scheme}://ann:{word}@{self.host}{tail}"
            path = self.file("printed.yaml", f"{setting}: {address}\n")
            run = subprocess.run([harness.BUILD / program, "--config", path, "--print-config"], capture_output=True, text=True,
                                 timeout=30, env=harness.environment())
            with self.subTest("--print-config", program=program, setting=setting):
                self.assertIn(self.host, run.stdout)
                self.look("--print-config", run.stdout + run.stderr)

    def test_keys_of_tls(self):
        pki = Pki(self.folder)
        cert, key = pki.sign("server")
        for number, line in enumerate(key.read_text().splitlines()[1:-1]):
            self.planted[f"line {number} of a key"] = line
        collector = self.start("fathom-collector", "--tls-cert", cert, "--tls-key", key)
        self.wait_log(collector, "settings:")
        for path in ("/readyz", "/metrics", "/api/v1/jobs"):
            connection = pki.connect(collector.where["http"])
            connection.request("GET", path)
            self.look(path, connection.getresponse().read())
            connection.close()
        self.look("log", collector.log())


if __name__ == "__main__":
    unittest.main()
