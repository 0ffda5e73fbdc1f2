"""Faults of the machine, brought about from outside of a running job and taken back at its end.

Used by tests/truth/cases: each is made before the job starts, `begin` is told the process of the sick rank (and
all of the job's) when the first slow iteration comes, `end` leaves the machine as it was. All need root; a machine
that cannot do one says so by OSError or CalledProcessError, and the case is left out.
"""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

CGROUPS = pathlib.Path("/sys/fs/cgroup")
SPIN = "while True: pass"
STREAM = "import numpy\na = numpy.ones(1 << 25)\nwhile True: a += 1.0"


def threads_of(pid):
    return [int(name) for name in os.listdir(f"/proc/{pid}/task")]


class Disturbance:
    def options(self):
        """For case_jobs/train.py."""
        return {}

    def begin(self, pid, pids):
        raise NotImplementedError

    def end(self):
        pass


class ControlGroup(Disturbance):
    """The rank in a control group of its own (version 1, as this kernel has it)."""
    controller = ""

    def __init__(self):
        self.folder = CGROUPS / self.controller / f"fathom-case-{os.getpid()}"
        self.folder.mkdir()

    def set(self, name, value):
        (self.folder / name).write_text(str(value))

    def begin(self, pid, pids):
        self.set("cgroup.procs", pid)

    def end(self):
        for process in (self.folder / "cgroup.procs").read_text().split():
            try:
                (self.folder.parent / "cgroup.procs").write_text(process)
            except ProcessLookupError:
                pass
        self.folder.rmdir()


class CpuQuota(ControlGroup):
    """As a container's CPU limit: so much of one core, in periods of so many ms."""
    controller = "cpu"

    def __init__(self, share, period_ms=100):
        super().__init__()
        self.set("cpu.cfs_period_us", period_ms * 1000)
        self.set("cpu.cfs_quota_us", int(share * period_ms * 1000))


class DiskLimit(ControlGroup):
    """So many bytes a second of direct reads and writes on the disk of /tmp."""
    controller = "blkio"

    def __init__(self, bytes_a_second):
        super().__init__()
        number = os.stat("/tmp").st_dev
        for what in ("read", "write"):
            self.set(f"blkio.throttle.{what}_bps_device", f"{os.major(number)}:{os.minor(number)} {bytes_a_second}")


class Bursts(Disturbance):
    """Now and then for a while, by a thread."""

    def __init__(self, on_s, every_s):
        self.on_s, self.rest_s = on_s, every_s - on_s
        self.over = threading.Event()
        self.thread = None

    def act(self, on):
        raise NotImplementedError

    def begin(self, pid, pids):
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.over.is_set():
                self.act(True)
                time.sleep(self.on_s)
                self.act(False)
                self.over.wait(self.rest_s)
        except ProcessLookupError:
            pass

    def end(self):
        self.over.set()
        if self.thread:
            self.thread.join()


class Pauses(Bursts):
    """SIGSTOP and SIGCONT."""

    def begin(self, pid, pids):
        self.pid = pid
        super().begin(pid, pids)

    def act(self, on):
        os.kill(self.pid, signal.SIGSTOP if on else signal.SIGCONT)


class Freezes(Bursts):
    """The freezer of control groups, as a machine that is migrated or snapshotted stands still."""

    def __init__(self, on_s, every_s):
        super().__init__(on_s, every_s)
        self.group = type("Freezer", (ControlGroup,), {"controller": "freezer"})()

    def begin(self, pid, pids):
        self.group.begin(pid, pids)
        super().begin(pid, pids)

    def act(self, on):
        self.group.set("freezer.state", "FROZEN" if on else "THAWED")

    def end(self):
        super().end()
        self.group.end()


class Load(Disturbance):
    """Processes of somebody else's."""

    def __init__(self, program=SPIN, count=1):
        self.program, self.count, self.processes = program, count, []

    def begin(self, pid, pids):
        self.processes = [subprocess.Popen([sys.executable, "-c", self.program]) for _ in range(self.count)]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


class CoreNeighbour(Load):
    """The rank may run on one core only, and others of the same priority spin there."""

    def begin(self, pid, pids):
        super().begin(pid, pids)
        core = {max(os.sched_getaffinity(0))}
        for thread in threads_of(pid):
            os.sched_setaffinity(thread, core)
        for process in self.processes:
            os.sched_setaffinity(process.pid, core)


class IdlePriority(Load):
    """The rank runs only where nobody else wants to, and others want to."""

    def begin(self, pid, pids):
        super().begin(pid, pids)
        for thread in threads_of(pid):
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


class SlowCard(Disturbance):
    """Each rank has a network of its own, on one bridge; the card of the sick one sends and gets less."""

    def __init__(self, mbit, ranks=3):
        self.mbit, self.ranks, self.name = mbit, ranks, f"fc{os.getpid() % 100000}"
        self.store = pathlib.Path(f"/tmp/{self.name}-store")
        self.rank = None
        self.call(f"ip link add {self.name} type bridge")
        self.call(f"ip link set {self.name} up")
        for rank in range(ranks):
            space, outer = f"{self.name}-{rank}", f"{self.name}v{rank}"
            self.call(f"ip netns add {space}")
            self.call(f"ip link add {outer} type veth peer name eth0 netns {space}")
            self.call(f"ip link set {outer} master {self.name} up")
            self.call(f"ip -n {space} addr add 10.213.7.{rank + 1}/24 dev eth0")
            self.call(f"ip -n {space} link set eth0 up")
            self.call(f"ip -n {space} link set lo up")

    def call(self, words):
        subprocess.run(words.split(), check=True, capture_output=True)

    def options(self):
        return {"network": self.name, "store": self.store}

    def begin(self, pid, pids):
        rank = pids.index(pid)
        limit = f"root tbf rate {self.mbit}mbit burst 64k latency 400ms"
        self.call(f"ip netns exec {self.name}-{rank} tc qdisc add dev eth0 {limit}")
        self.call(f"tc qdisc add dev {self.name}v{rank} {limit}")

    def end(self):
        for rank in range(self.ranks):
            self.call(f"ip netns del {self.name}-{rank}")
        self.call(f"ip link del {self.name}")
        self.store.unlink(missing_ok=True)


class Together(Disturbance):
    """Several at once."""

    def __init__(self, *parts):
        self.parts = parts

    def options(self):
        return {name: value for part in self.parts for name, value in part.options().items()}

    def begin(self, pid, pids):
        for part in self.parts:
            part.begin(pid, pids)

    def end(self):
        for part in self.parts:
            part.end()
