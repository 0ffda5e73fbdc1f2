"""The processes of `deploy/demo cordon`: Slurm, Alertmanager, collector, agents, fathom-cordon, job.

Used by demo.py. Everything listens on loopback on free ports, writes into one temporary folder, and
ends with `Parts.close`, by its own process id, whatever happened before.
"""
import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "tests/integration")]
import slurm_cluster  # noqa: E402  the Slurm that fathom-cordon is tested with
from demo_story import Failed  # noqa: E402

NODES = ["n1", "n2", "n3", "n4"]
SLOW_RANK = 2
# What an operator would set for a cluster of hundreds of nodes is written beside it in the demo's
# own words; these are for four nodes and people who wait in front of a screen.
CORDON = """
backend: slurm
groups: [{name: all, mode: approve, nodes: ['*']}]
min_age_s: 2
second_look_s: 1
poll_s: 0.2
max_nodes: 1
max_ratio: 0.25
min_available_per_partition: 0.75
"""


def wait_for(what, condition, seconds=30.0):
    """The first true value of `condition`, and when it came; Failed when none comes in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            value = condition()
        except (OSError, urllib.error.URLError, ValueError):
            value = None
        if value:
            return value, time.monotonic()
        time.sleep(0.01)
    raise Failed(f"{what}: not within {seconds:.0f} s")


def get_json(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.load(answer)


def listens(url):
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except (OSError, urllib.error.URLError):
        return False


class Parts:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-demo-"))
        self.processes, self.slurm, self.job = [], None, None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}

    def close(self):
        """Jobs, then Slurm, then the rest in the order in which it must be told."""
        if self.slurm is not None:
            self.slurm.close()
        slurm_cluster.end_all(self.processes, seconds=15)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name, *argv, pipe=False, environment=None):
        with open(self.folder / f"{name}.log", "ab") as log:
            # A group of its own: Ctrl-C is for the demo, which then ends them in order.
            process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stderr=log, text=True,
                                       stdout=subprocess.PIPE if pipe else log, process_group=0,
                                       env=environment or self.environment)
        self.processes.append(process)
        return process

    def ready(self, process, *names):
        """The addresses in the line a part of fathom prints when it listens."""
        line = process.stdout.readline()
        found = [re.search(rf"{name}=(\S+)", line) for name in names]
        if not all(found):
            raise Failed(f"{pathlib.Path(process.args[0]).name} did not start: {self.tail()}")
        return [match.group(1) for match in found]

    def tail(self):
        """The last lines of every log, for when something failed."""
        logs = sorted(self.folder.glob("*.log"))
        return "".join(f"\n--- {p.name}\n{p.read_text(errors='replace')[-800:]}" for p in logs if p.stat().st_size)

    # Slurm. Each of its nodes has an agent and a folder of rings of its own, as a machine has.
    def start_slurm(self):
        for node in NODES:
            (self.folder / "shm" / node).mkdir(parents=True)
        settings = self.folder / "slurm.env"
        settings.write_text(f"FATHOM_TASKS=asked\nFATHOM_LIBRARY={BUILD}/libfathom.so\nFATHOM_SITE={BUILD}/fathom_site\n"
                            f"FATHOM_SHM_DIR={self.folder}/shm/$SLURMD_NODENAME\n")
        prolog = self.folder / "task_prolog"
        prolog.write_text(f"#!/bin/sh\nFATHOM_SLURM_SETTINGS={settings} exec {ROOT}/deploy/slurm/task_prolog\n")
        prolog.chmod(0o755)
        self.slurm = slurm_cluster.SlurmCluster(NODES, settings=[f"TaskProlog={prolog}"])
        self.slurm.__enter__()

    def start_alertmanager(self):
        port = slurm_cluster.free_ports(1)[0]
        config = self.folder / "alertmanager.yml"
        config.write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
        program = shutil.which("prometheus-alertmanager") or "alertmanager"
        self.start("alertmanager", program, "--config.file", config, "--storage.path", self.folder / "alertmanager",
                   f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=")
        self.alertmanager = f"http://127.0.0.1:{port}"
        wait_for("Alertmanager", lambda: listens(self.alertmanager + "/-/ready"))

    def name_a_person(self):
        """An operator, "you", whom collector and fathom-cordon know by the same token."""
        self.token = self.folder / "token"
        secret = secrets.token_hex(16)
        self.write("token", secret)
        self.write("tokens", f"you operator sha256:{hashlib.sha256(secret.encode()).hexdigest()}\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o600)

    def start_fathom(self):
        self.name_a_person()
        self.cordon = f"127.0.0.1:{slurm_cluster.free_ports(1)[0]}"  # the page shows what it does
        collector = self.start("collector", BUILD / "fathom-collector", "--store", self.folder / "fathom.db", "--grpc",
                               "127.0.0.1:0", "--http", "127.0.0.1:0", "--notify", f"alertmanager={self.alertmanager}",
                               pipe=True, environment={**self.environment, "FATHOM_CORDON_HTTP": self.cordon,
                                                       "FATHOM_CORDON_CHANGES": "true", "FATHOM_OPEN_READING": "true",
                                                       "FATHOM_TOKENS": str(self.folder / "tokens")})
        grpc, self.collector = self.ready(collector, "grpc", "http")
        for node in NODES:
            agent = self.start(f"agent-{node}", BUILD / "fathomd", "--node", node, "--shm-dir",
                               self.folder / "shm" / node, "--collector", grpc, "--http", "127.0.0.1:0", pipe=True)
            self.ready(agent, "http")

    def start_cordon(self):
        self.write("cordon.yaml", CORDON)
        cordon = self.start("cordon", BUILD / "fathom-cordon", "--config", self.folder / "cordon.yaml", "--collector",
                            f"http://{self.collector}", "--http", self.cordon, "--audit",
                            self.folder / "audit.jsonl", "--tokens", self.folder / "tokens", "--notify",
                            f"alertmanager={self.alertmanager}", pipe=True, environment=self.slurm.environment)
        self.ready(cordon, "http")
        self.person = {"FATHOM_COLLECTOR_HTTP": self.collector, "FATHOM_CORDON_HTTP": self.cordon,
                       "FATHOM_CORDON_TOKEN_FILE": str(self.token)}

    def start_job(self, first_slow):
        environment = {**self.slurm.environment, "FATHOM": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1",
                       "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(slurm_cluster.free_ports(1)[0])}
        self.job = self.start("job", "srun", "-N", len(NODES), "-n", len(NODES), "--ntasks-per-node=1",
                              ROOT / "deploy/demo_cordon/task", ROOT / ".venv/bin/python",
                              ROOT / "deploy/demo_job/train.py", "--iterations", 1_000_000, "--fault", "slow-compute",
                              "--rank", SLOW_RANK, "--from-iteration", first_slow, environment=environment)

    def end_job(self):
        for job in self.slurm.jobs():
            subprocess.run(["scancel", job], env=self.slurm.environment, timeout=30, check=True)
        wait_for("the end of the job", lambda: not self.slurm.jobs())

    def place_work(self, node):
        """Whether Slurm gives a small job to that node now."""
        run = subprocess.run(["srun", "--immediate=5", "-N1", "-n1", "-w", node, "hostname"],
                             env=self.slurm.environment, capture_output=True, text=True, timeout=60)
        return run.returncode == 0, (run.stderr or run.stdout).strip().splitlines()[-1:]

    def fathom(self, *arguments):
        run = subprocess.run([BUILD / "fathom", *arguments], env={**self.environment, **self.person}, timeout=30,
                             capture_output=True, text=True)
        if run.returncode == 1:
            raise Failed(f"fathom {' '.join(arguments)}: {run.stderr.strip()}")
        return run.stdout.strip()

    def actions(self, phase):
        found = json.loads(self.fathom("get", "actions", "-o", "json"))["actions"]
        return [a for a in found if a["phase"] == phase]

    def alerts(self, name, **labels):
        found = get_json(self.alertmanager + "/api/v2/alerts?active=true")
        return [a for a in found if a["labels"]["alertname"] == name
                and all(a["labels"].get(k) == v for k, v in labels.items())]

    def established(self):
        found = get_json(f"http://{self.collector}/api/v1/verdicts?active=1")["verdicts"]
        return [v for v in found if v["grade"] == "established"]
