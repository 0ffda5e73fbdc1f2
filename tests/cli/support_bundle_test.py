#!/usr/bin/env python3
"""`fathom export bundle` beside a real collector, agent and fathom-cordon: all is in it, no secret is."""
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATHOM_BINARY_DIR"])
SECRETS = {name: f"hush{number}hush{number}hush{number}hush" for number, name in enumerate(
    ("routing", "operator", "slack", "user", "variable", "logged", "bearer", "settings"))}


class SupportBundleTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.processes = []
        self.addCleanup(self.end_all)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
        self.environment |= {"MY_API_TOKEN": SECRETS["variable"], "FATHOM_JOB": "train"}

    def end_all(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(10)
            process.stdout.close()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def start(self, *command):
        with open(self.folder / "daemons.log", "ab") as log:
            process = subprocess.Popen([BUILD / command[0], *command[1:]], env=self.environment, stderr=log,
                                       stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return re.search(r"http=(\S+)", process.stdout.readline()).group(1)

    def bundle(self, *options):
        run = subprocess.run([BUILD / "fathom", "export", "bundle", "--python", "/nonexistent", *options],
                             capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        path = self.folder / run.stdout.split(":")[0]
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        with tarfile.open(path) as tar:
            return {m.name.split("/", 1)[1]: tar.extractfile(m).read().decode() for m in tar.getmembers()}

    def test_all_is_there_and_no_secret_is(self):
        key = self.write("key", SECRETS["routing"] + "\n")
        digest = hashlib.sha256(SECRETS["operator"].encode()).hexdigest()
        tokens = self.write("tokens", f"ann operator sha256:{digest}\n")
        self.environment["FATHOM_TOKEN_FILE"] = str(self.write("mine", SECRETS["operator"] + "\n"))
        collector_yaml = self.write("collector.yaml", f"notify: slack=https://hooks.slack.com/services/{SECRETS['slack']}"
                                    f",json=http://ann:{SECRETS['user']}@127.0.0.1:1/x,pagerduty=http://127.0.0.1:1\n"
                                    f"notify_key_file: {key}\nhttp: 127.0.0.1:0\ngrpc: 127.0.0.1:0\nstore: ':memory:'\n")
        cordon_yaml = self.write("cordon.yaml", f"tokens: {tokens}\naudit: {self.folder}/audit.jsonl\nhttp: 127.0.0.1:0\n"
                                 f"backend: webhook\nwebhook_url: http://127.0.0.1:1/{SECRETS['settings']}\n")
        log = self.write("train.log", f"step 1\nkey is {SECRETS['routing']}\npassword={SECRETS['logged']}\n"
                         f"Authorization: Bearer {SECRETS['bearer']}\nop {SECRETS['operator']}\n")
        collector = self.start("fathom-collector", "--config", collector_yaml)
        agent = self.start("fathomd", "--http", "127.0.0.1:0", "--shm-dir", str(self.folder / "shm"))
        cordon = self.start("fathom-cordon", "--config", cordon_yaml, "--collector", f"http://{collector}")
        files = self.bundle("--collector-http", collector, "--agent-http", agent, "--cordon-http", cordon, "--config",
                            collector_yaml, cordon_yaml, "--log", log, self.folder / "daemons.log", "/nowhere.log")
        whole = "\n".join(files.values())
        for name, secret in SECRETS.items():
            self.assertNotIn(secret, whole, name)
        for name, words in {"versions.txt": "fathom-cordon ", "doctor.json": '"checks"',
                            "collector/metrics.txt": "fathom_build_info", "collector/readyz.json": '"ready": true',
                            "collector/nodes.json": '"nodes"', "agent/metrics.txt": "fathom_records_total",
                            "cordon/plan.json": '"plan"', "cordon/metrics.txt": "fathom_", "environment.txt": "FATHOM_JOB=train",
                            "settings/collector.yaml": "slack=https://hooks.slack.com/***", "settings/cordon.yaml": "webhook",
                            "logs/train.log": "step 1\nkey is ***\npassword=***", "logs/daemons.log": "settings:",
                            "missing.txt": "/nowhere.log: "}.items():
            self.assertIn(words, files[name], name)

    def test_nobody_answers_and_it_is_made_all_the_same(self):
        gone = [o for name in ("collector", "agent", "cordon") for o in (f"--{name}-http", "127.0.0.1:1")]
        files = self.bundle(*gone)
        self.assertLessEqual({"README.txt", "versions.txt", "doctor.json", "missing.txt"}, set(files))
        self.assertIn("collector/readyz.json: ", files["missing.txt"])

    def test_never_overwrites_and_leaves_nothing_half_done(self):
        self.write("mine.tar.gz", "mine")
        run = subprocess.run([BUILD / "fathom", "export", "bundle", "--python", "/nonexistent", "-f", "mine.tar.gz"],
                             capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1))
        self.assertIn("--file", run.stderr)
        self.assertEqual((self.folder / "mine.tar.gz").read_text(), "mine")


if __name__ == "__main__":
    unittest.main()
