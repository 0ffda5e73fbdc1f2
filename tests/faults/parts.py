"""The processes of a round of tests/faults/run, what lies between them, and what they answer."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

import harness
from clocks import Clock
from disk import Disk
from holds import Holds
from relay import Relay
from rows import Rows

HERE = pathlib.Path(__file__).resolve().parent
FIRST_PORT = 16000
NODE = "sick"
JOB = "steady"
PLAYED = [f"sim-node-{i:04}" for i in range(2)]
PLAYERS_PACE_S = 0.4
FRESH_S = 5
CORDON = f"""groups: [{{name: all, mode: auto, nodes: ['*']}}]
min_age_s: 2
second_look_s: 1
sight_gap_s: 10
fresh_s: {FRESH_S}
poll_s: 0.2
max_nodes: 4
max_ratio: 0.5
max_per_window: 10
min_spacing_s: 0
min_available_per_partition: 0
min_available_per_job: 0
doubt_s: 2
clock_jump_s: 3600
breaker_failures: 100
breaker_suspects: 100
backend: webhook
"""


class Broken(Exception):
    """A rule that does not hold."""


def own_ports(seed):
    """Two that no other round has at once, and that the kernel gives nobody while the collector is away."""
    while True:
        ports = [FIRST_PORT + 2 * (seed % 5000), FIRST_PORT + 2 * (seed % 5000) + 1]
        try:
            for port in ports:
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", port))
            return ports
        except OSError:
            seed += 1000  # somebody else's


def played_train(first_slow, stop):
    """A job of four ranks on stand-ins for NCCL and CUDA, whose rank 1 gets slow; it ends when `stop` is there."""
    return [harness.BUILD / "tests/fake_train", "--spawn", "--dp", 4, "--iterations", 1000000, "--small", 0, "--pace", 50,
            "--until", stop, "--fault", "slow_host", "--rank", 1, "--at", first_slow, "--ms", 200]


def wait(what, condition, seconds, every_s=0.1):
    """What `condition` says once it holds. Looks are counted, not time: on a machine that is so full that nobody runs,
    nobody is late either. They are few, for the processor is many rounds'."""
    for _ in range(int(seconds / every_s)):
        if value := condition():
            return value
        time.sleep(every_s)
    raise Broken(f"after {seconds} s there is still not: {what}")


class Processes:
    """In sessions of their own, by name in `running`; `folder` has their logs."""

    def __init__(self, folder):
        self.folder, self.running = folder, {}
        self.stop = folder / "stop"  # ends a job that is told of it
        (folder / "shm").mkdir(mode=0o700)

    def start(self, name, *arguments, **environment):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(list(map(str, arguments)), stdout=log, stderr=log,
                                                  env=harness.environment(**environment), start_new_session=True)

    def start_job(self, command):
        self.start("job", *command, LD_PRELOAD=str(harness.BUILD / "libfathom.so"), FATHOM_JOB=JOB,
                   NCCL_PROFILER_PLUGIN="STATIC_PLUGIN", FATHOM_SHM_DIR=str(self.folder / "shm"))

    def kill_all(self):
        for process in self.running.values():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Parts(Processes):
    """Each is started by a method, and ended with all others by end()."""

    def __init__(self, seed, shim):
        super().__init__(pathlib.Path(tempfile.mkdtemp(prefix="fathom-faults-")))
        self.http, self.grpc = own_ports(seed)
        self.relay = Relay(self.grpc)
        self.cordons = 0
        self.disks = {name: Disk(self.folder / name) for name in ("collector", "agent")}
        self.clocks = {name: Clock(self.folder / f"{name}.clock", shim) for name in ("collector", "agent", "cordon")}
        self.holds = Holds([NODE, *PLAYED, *(f"other-{i}" for i in range(9))], self.verdicts_now, FRESH_S)

    def wait(self, what, condition, seconds, every_s=0.1):
        """Until `condition` holds."""
        wait(what, condition, seconds, every_s)

    def start_collector(self):
        self.start("collector", harness.BUILD / "fathom-collector", "--grpc", f"127.0.0.1:{self.grpc}", "--http",
                   f"127.0.0.1:{self.http}", "--store", self.folder / "collector/fathom.db", **self.clocks["collector"].environment)
        self.wait("a collector that answers", lambda: self.get("/healthz", text=True) is not None, 180, 0.05)

    def start_agent(self):
        self.start("agent", harness.BUILD / "fathomd", "--collector", f"127.0.0.1:{self.relay.port}", "--node", NODE, "--shm-dir",
                   self.folder / "shm", "--spool", self.folder / "agent/spool", "--http", "", "--stack-tool", "",
                   **self.clocks["agent"].environment)

    def start_cordon(self):
        (self.folder / "cordon.yaml").write_text(CORDON + f"webhook_url: {self.holds.url}\n")
        self.start("cordon", harness.BUILD / "fathom-cordon", "--config", self.folder / "cordon.yaml", "--collector",
                   f"http://127.0.0.1:{self.http}", "--http", "127.0.0.1:0", "--audit", self.folder / "audit.jsonl",
                   **self.clocks["cordon"].environment)
        self.cordons += 1
        said = self.folder / "cordon.log"
        self.wait("fathom-cordon", lambda: said.read_text().count("fathom-cordon ready") == self.cordons, 180, 0.05)

    def start_player(self):
        """Once more after one that has ended, with the collector or by itself."""
        if "player" in self.running and self.running["player"].poll() is None:
            return
        self.start("player", harness.BUILD / "fathom", "simulate", HERE / "slow_gpu.yaml", "--collector", f"127.0.0.1:{self.grpc}",
                   "--collector-http", f"127.0.0.1:{self.http}", "--pace", PLAYERS_PACE_S)

    def end_player(self):
        if self.running["player"].poll() is None:
            os.killpg(self.running["player"].pid, signal.SIGKILL)
        self.running["player"].wait()

    def kill(self, name):
        self.running[name].kill()
        self.running[name].wait()

    def get(self, path, text=False):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=5) as reply:
                body = reply.read()
        except (OSError, http.client.HTTPException):  # it may be killed in the middle of an answer
            return None
        return body if text else json.loads(body)

    def rows(self, limit=2000):
        """Of the newest iterations; none while there is no such job."""
        return Rows(self.get(f"/api/v1/jobs/{JOB}/iterations?limit={limit}"))

    def newest(self):
        return self.rows(1).newest

    def verdicts_now(self):
        """Ids of the open verdicts; None while the collector does not answer."""
        reply = self.get("/api/v1/verdicts?active=1")
        return None if reply is None else {v["id"] for v in reply["verdicts"]}

    def accused(self):
        """Nodes of the played job that open verdicts name."""
        reply = self.get("/api/v1/verdicts?active=1") or {"verdicts": []}
        return {v["entity"].get("node") for v in reply["verdicts"]} & set(PLAYED)

    def verdicts(self, first_slow):
        """Ids of what was said of rank 1 since the fault. What was over before is of the machine: where it is full,
        what a stand-in for a GPU computes takes longer, too."""
        reply = self.get("/api/v1/verdicts?limit=1000") or {"verdicts": []}
        return {v["id"] for v in reply["verdicts"] if v["entity"].get("ranks") == [1] and
                not ("until" in v and int(v["until"]["iteration"]) < first_slow)}

    def journaled(self):
        page = (self.get("/metrics", text=True) or b"").decode()
        return next((x for x in page.splitlines() if x.startswith("fathom_journal_records_total ")), "")

    def wait_confirmed(self):
        """What the collector has now is on its disk: two writes have ended since, or there is nothing to write."""
        for _ in range(2):
            before, deadline = self.journaled(), time.monotonic() + 2
            while self.journaled() == before and time.monotonic() < deadline:
                time.sleep(0.05)

    def end(self, keep):
        self.kill_all()
        self.relay.close()
        self.holds.close()
        for disk in self.disks.values():
            disk.close(keep)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
