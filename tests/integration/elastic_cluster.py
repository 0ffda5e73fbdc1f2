"""Nodes on one machine for an elastic torchrun job: a collector, an agent and a folder of rings for each node, a
torchrun for each but the standby, and `fathom recover` with its configuration.

    with ElasticCluster(build, python) as cluster:
        cluster.start_job()

Used by recover_torchrun_test and by `deploy/demo recover`. Processes end with their session, by id.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

from harness import environment, free_ports, listens

HERE = pathlib.Path(__file__).resolve().parent
NODES = ["n1", "n2", "n3", "n4"]
STANDBY, SICK = "n5", "n3"
JOB = "elastic"


class ElasticCluster:
    def __init__(self, build, python, first_slow=80):
        self.build, self.python, self.first_slow = pathlib.Path(build), python, first_slow
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-elastic-"))
        self.checkpoints = self.folder / "checkpoints"
        self.checkpoints.mkdir()
        self.processes, self.launchers = [], {}
        self.environment = environment()

    def __enter__(self):
        try:
            self._serve()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self, name, argv, pipe=False):
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stderr=log, text=True,
                                       stdout=subprocess.PIPE if pipe else log, start_new_session=True,
                                       env=self.environment)
        self.processes.append(process)
        return process

    def _ready(self, process, *names):
        line = process.stdout.readline()
        found = [re.search(rf"{name}=(\S+)", line) for name in names]
        if not all(found):
            raise RuntimeError(f"{process.args[0]} did not start: {self.tail()}")
        return [match.group(1) for match in found]

    def _serve(self):
        collector = self._start("collector", [self.build / "fathom-collector", "--store", ":memory:", "--grpc",
                                              "127.0.0.1:0", "--http", "127.0.0.1:0"], pipe=True)
        grpc, self.collector = self._ready(collector, "grpc", "http")
        for node in [*NODES, STANDBY]:
            shm = self.folder / "shm" / node
            shm.mkdir(parents=True)
            agent = self._start(f"agent-{node}", [self.build / "fathomd", "--node", node, "--shm-dir", shm, "--collector",
                                                  grpc, "--http", "127.0.0.1:0"], pipe=True)
            self._ready(agent, "http")
        self._write_files()

    def _write_files(self):
        """The job's own torchrun command, for whichever node, and what recover needs to know of it."""
        self.port = free_ports(1)[0]
        self.launch = self.folder / "launch"
        self.launch.write_text(f"""#!/bin/sh
export NODE="$1" SICK={SICK} FIRST_SLOW={self.first_slow} OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
export FATHOM_JOB={JOB} FATHOM_SHM_DIR={self.folder}/shm/$1
export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1
export LD_PRELOAD={self.build}/libfathom.so PYTHONPATH={self.build}/fathom_site
exec {self.python} -m torch.distributed.run --nnodes=4:4 --nproc-per-node=1 --max-restarts=3 \\
  --rdzv-backend=c10d --rdzv-id={JOB} --rdzv-endpoint=127.0.0.1:{self.port} \\
  --rdzv-conf=keep_alive_interval=1,keep_alive_max_attempt=3 --local-addr=127.0.0.1 --monitor-interval=0.2 \\
  {HERE}/jobs/elastic.py {self.checkpoints} 1000000
""")
        self.launch.chmod(0o755)
        self.config = self.folder / "recover.yaml"
        self.config.write_text(f"backend: torchrun\nstart: [{self.launch}, '{{node}}']\n"
                               f"log: {self.folder}/job-{{node}}.log\n")

    def start_job(self):
        """The first hosts the rendezvous; the sick one must not."""
        for node in NODES:
            self.launchers[node] = self._start(f"job-{node}", [self.launch, node])
            self.wait_for("the rendezvous", lambda: listens(self.port), 120)

    def wait_for(self, what, condition, seconds=60.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            time.sleep(0.05)
        raise RuntimeError(f"{what}: not within {seconds:.0f} s{self.tail()}")

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.collector}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)

    def established(self):
        found = self.get("verdicts?active=1")["verdicts"]
        return next((v for v in found if v["grade"] == "established" and v["entity"].get("node")), None)

    def placed(self):
        """Which node each rank is on, as the collector knows it."""
        return {r["rank"]: r["node"] for r in self.get(f"jobs/{JOB}")["rank_info"] if r["state"] != "gone"}

    def asking(self):
        """The environment of a command that asks this cluster's collector."""
        return {**self.environment, "FATHOM_COLLECTOR_HTTP": self.collector}

    def recovery(self, noun, *more):
        """The words of `fathom recover NOUN` for the job."""
        given = [] if noun == "plan" else ["--journal", self.folder / "journal"]
        given += ["--config", self.config] if noun in ("run", "undo") else []
        return [self.build / "fathom", "recover", noun, JOB, *given, *more]

    def recover(self, noun, *more, timeout=300):
        return subprocess.run([str(word) for word in self.recovery(noun, *more)], capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, env=self.asking())

    def lines(self, node, word):
        """The numbers that the job on a node printed after a word."""
        log = self.folder / f"job-{node}.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        return [int(number) for number in re.findall(rf"^{word} (\d+)", text, re.M)]

    def finish(self):
        """Ends the job; its last step and parameters."""
        (self.checkpoints / "finish").touch()
        self.wait_for("the end of the job", lambda: (self.checkpoints / "result").exists(), 120)
        return (self.checkpoints / "result").read_text()

    def undisturbed(self, first, last):
        """The result of the same job from the checkpoint `first` to `last` on four ranks that nobody disturbs."""
        folder = self.folder / "undisturbed"
        folder.mkdir()
        shutil.copy(self.checkpoints / f"step-{first}.pt", folder)
        subprocess.run([self.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=4",
                        HERE / "jobs/elastic.py", folder, str(last)], check=True, timeout=300, capture_output=True,
                       env={**self.environment, "NODE": "one", "OMP_NUM_THREADS": "1"})
        return (folder / "result").read_text()

    def tail(self):
        logs = sorted(self.folder.glob("*.log"))
        return "".join(f"\n--- {p.name}\n{p.read_text(errors='replace')[-600:]}" for p in logs if p.stat().st_size)

    def close(self):
        """Our own processes, then what recover started: it carries the folder in its environment."""
        for process in reversed(self.processes):
            self._end(process)
        mark = f"FATHOM_SHM_DIR={self.folder}/".encode()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in pathlib.Path(f"/proc/{entry}/environ").read_bytes():
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _end(process):
        for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
            try:
                os.killpg(process.pid, number)
                process.wait(timeout=patience)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
