"""What the tests of the real `fathom-cordon` share: a stand-in for the collector, and people.

    class CordonSlurmTest(cordon_case.CordonCase): ...
"""
import json
import re
import subprocess
import time
import urllib.request

import harness
from fakes.local_server import Handler, LocalServer
from harness import TOKEN, hashed


class Collector(LocalServer):
    """Serves the verdicts it is given."""

    def __init__(self):
        self.verdicts = []
        outer = self

        class Answers(Handler):
            def do_GET(self):
                active = "active=1" in self.path
                now = time.time_ns()
                verdicts = [{**v, "authenticated": True, "seen_unix_ns": now, "updated_unix_ns": now}
                            for v in outer.verdicts if not (active and "until" in v)]
                body = json.dumps({"now_unix_ns": now, "verdicts": verdicts} if "/verdicts" in self.path else
                                  {"state": "running", "rank_info": [{"node": v["entity"]["node"]} for v in verdicts]}).encode()
                self.reply(200, body)

        super().__init__(Answers)

    def accuse(self, node, identity, cause="compute_slow"):
        self.verdicts.append({"id": identity, "job": "job-" + identity, "grade": "established", "cause": cause,
                              "entity": {"type": "rank", "ranks": [1], "node": node},
                              "sentence": f"{node} holds the job back"})


class CordonCase(harness.ProcessCase):
    """Each test has a folder, a collector, an operator (ann) and a viewer (bob) of its own."""
    LIMITS = ("min_age_s: 0.3\nsecond_look_s: 0.2\npoll_s: 0.1\nmax_ratio: 0.5\nmin_spacing_s: 0\n"
              "min_available_per_partition: 0.5\ndoubt_s: 2\n")
    BACKEND = ""  # lines of the settings file

    def setUp(self):
        self.collector = Collector()
        self.addCleanup(self.collector.close)
        super().setUp()  # last: what reads the collector ends before it
        (self.folder / "tokens").write_text(f"ann operator {hashed(TOKEN)}\nbob viewer {hashed(TOKEN[::-1])}\n")
        (self.folder / "tokens").chmod(0o600)
        (self.folder / "ann").write_text(TOKEN)
        (self.folder / "bob").write_text(TOKEN[::-1])

    def start(self, mode, *more, environment=None, audit="audit.jsonl", **options):
        """fathom-cordon in that mode for all nodes; `self.http` is its address."""
        config = self.folder / "cordon.yaml"
        config.write_text(f"groups: [{{name: all, mode: {mode}, nodes: ['*']}}]\n{self.LIMITS}{self.BACKEND}")
        with open(self.folder / "log", "ab") as log:
            process = subprocess.Popen(
                [harness.BUILD / "fathom-cordon", "--config", config, "--collector", self.collector.url, "--http",
                 "127.0.0.1:0", "--audit", self.folder / audit, "--tokens", self.folder / "tokens", *more],
                env=environment or harness.environment(), stdout=subprocess.PIPE, stderr=log, text=True, **options)
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

    def wait_plan(self, words):
        """What stands in the way, as `fathom action plan` says it."""
        harness.wait_for(lambda: words in self.fathom("action", "plan").stdout)

    def metrics(self):
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def looks(self, seconds=1.5):
        """Long enough for a dozen looks: what was to happen has happened."""
        time.sleep(seconds)
