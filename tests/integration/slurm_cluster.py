"""A real Slurm on this machine: munged, slurmctld and several slurmd, all on loopback.

    with SlurmCluster(["n1", "n2"]) as slurm:
        slurm.scontrol("show", "node", "n1")

Needs slurmctld, slurmd, slurm-client and munge, and to be root (slurmd asks for it). Everything
lives in one temporary folder; every process is ended by its own id.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from harness import free_ports

PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sinfo")
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def why_not_here():
    """Why no Slurm can be run here; empty: it can."""
    missing = [p for p in PROGRAMS if not shutil.which(p, path=PATH)]
    if missing:
        return "not installed: " + ", ".join(missing)
    return "" if os.geteuid() == 0 else "slurmd must be run as root"


def end_all(processes, seconds):
    """Asks all to end, the youngest first, and kills who has not after so long."""
    for process in reversed(processes):
        process.terminate()
    for process in reversed(processes):
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


class SlurmCluster:
    def __init__(self, nodes, features=None, settings=()):
        """`settings`: more lines of slurm.conf."""
        self.nodes, self.features, self.settings = nodes, features or {}, settings
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-slurm-"))
        self.processes = []
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def scontrol(self, *arguments, check=True):
        return subprocess.run(["scontrol", *arguments], env=self.environment, check=check, timeout=30,
                              capture_output=True, text=True).stdout

    def state(self, node):
        """(state, reason) as sinfo tells them; "idle*" for a moment after a node was freed."""
        state, reason = self._output("sinfo", "-h", "-N", "-n", node, "-o", "%T|%E").splitlines()[0].split("|", 1)
        return state, reason

    def jobs(self):
        """Ids of the jobs that have not ended."""
        return self._output("squeue", "-h", "-o", "%A").split()

    def _output(self, *argv):
        return subprocess.run(argv, env=self.environment, check=True, timeout=30, capture_output=True,
                              text=True).stdout

    def _start(self):
        self._munge()
        self._configure()
        self._run("slurmctld", "-D", "-f", self.folder / "slurm.conf")
        for node in self.nodes:
            self._run("slurmd", "-D", "-N", node, "-f", self.folder / "slurm.conf")
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            try:
                if all(self.state(node)[0] == "idle" for node in self.nodes):
                    return
            except (subprocess.SubprocessError, IndexError):
                pass
            if any(p.poll() is not None for p in self.processes):
                break
            time.sleep(0.2)
        logs = "".join(p.read_text()[-600:] for p in sorted(self.folder.glob("*.log")))
        raise RuntimeError("Slurm did not come up: " + logs)

    def _munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.folder.chmod(0o755)
        at = {name: str(self.folder / f"munge.{name}") for name in ("socket", "pid", "log", "seed")}
        self._run("munged", "--foreground", "--force", "--key-file", key, "--socket", at["socket"],
                  "--pid-file", at["pid"], "--log-file", at["log"], "--seed-file", at["seed"])
        deadline = time.monotonic() + 20
        while not os.path.exists(at["socket"]):
            if time.monotonic() > deadline:
                raise RuntimeError("munged did not come up")
            time.sleep(0.05)

    def _configure(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(len(self.nodes) + 1)
        lines = [
            "ClusterName=fathom", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
            f"AuthInfo=socket={self.folder}/munge.socket", "AuthType=auth/munge", "SlurmUser=root",
            "SlurmdUser=root", f"StateSaveLocation={self.folder}/state", "MpiDefault=none",
            f"SlurmdSpoolDir={self.folder}/spool.%n", f"SlurmdPidFile={self.folder}/slurmd.%n.pid",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid", "ReturnToService=1",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none", "SelectType=select/cons_tres",
            "SchedulerType=sched/builtin", "SwitchType=switch/none", "KillWait=5", *self.settings,
        ]
        for node, port in zip(self.nodes, ports[1:]):
            feature = f" Feature={self.features[node]}" if node in self.features else ""
            lines.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1{feature}")
        lines.append(f"PartitionName=train Nodes={','.join(self.nodes)} Default=YES State=UP")
        (self.folder / "state").mkdir()
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        # Autodetection asks for a mounted hierarchy, which a container may lack; nothing here uses one.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")

    def _run(self, *argv):
        with open(self.folder / f"{argv[0]}-{len(self.processes)}.log", "wb") as log:
            self.processes.append(subprocess.Popen([str(a) for a in argv], env=self.environment,
                                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                   process_group=0))  # Ctrl-C is for us alone

    def _cancel_jobs(self):
        """A slurmd that ends leaves its jobs running; so they go first."""
        if not self.processes or self.processes[-1].poll() is not None:
            return  # it never came up, or is gone
        try:
            for job in self.jobs():
                subprocess.run(["scancel", job], env=self.environment, timeout=30, capture_output=True)
            deadline = time.monotonic() + 20
            while self.jobs() and time.monotonic() < deadline:
                time.sleep(0.1)
        except (subprocess.SubprocessError, OSError):
            pass  # no controller any more: _kill_steps does what is left

    def _kill_steps(self):
        """Processes that carry our slurm.conf in their environment: a step that did not end."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if int(entry) != os.getpid() and mark in pathlib.Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:
                continue

    def close(self):
        self._cancel_jobs()
        end_all(self.processes, seconds=10)
        self._kill_steps()
        shutil.rmtree(self.folder, ignore_errors=True)
