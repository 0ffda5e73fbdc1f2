"""What the integration tests share: where things are, how to start them, and that they end.

FATHOM_BINARY_DIR  the build (default build/release)
FATHOM_PYTHON      a Python with torch (default .venv/bin/python)
FATHOM_DATA_DIR    real scripts and recordings (default ../shared/data)
"""
import hashlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", ROOT / "build/release"))
PYTHON = os.environ.get("FATHOM_PYTHON", str(ROOT / ".venv/bin/python"))
DATA = pathlib.Path(os.environ.get("FATHOM_DATA_DIR", ROOT.parent / "shared/data"))
SKIPPED = 77  # the exit code that CTest knows as "skipped"
ABORTED = b"terminate called without an active exception"
TOKEN = "0123456789abcdef0123456789abcdef"


def environment(**more):
    """Ours without any setting of fathom."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    return {**clean, **more}


def hashed(token):
    """As a file of tokens names it."""
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def listens(port):
    """Whether somebody takes connections there."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition, seconds=60):
    """The first true value of `condition`; AssertionError when none comes in time. A machine that is full of
    other work is several times slower, and a wait that is over costs nothing."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def stat_fields(pid):
    with open(f"/proc/{pid}/stat") as file:
        text = file.read()
    name = text[text.index("(") + 1:text.rindex(")")]
    rest = text[text.rindex(")") + 2:].split()
    return name, rest[0], int(rest[1])  # name, state, parent


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def children(pid, program=None):
    """Pids of living direct children, only those running that file."""
    out = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            _, state, parent = stat_fields(entry)
        except (OSError, ValueError):
            continue
        if parent != pid or state == "Z":
            continue
        # A stand-in is a script: its file is the second word.
        if program is None or any(os.path.basename(w.decode()) == program for w in command_line(entry)[:2]):
            out.append(int(entry))
    return out


def run_folders():
    """Folders of runs that are over. (Those of living ones may be anybody's.)"""
    return {p for p in pathlib.Path("/dev/shm").glob("fathom-run-*") if not alive(p.name.split("-")[2])}


def run_folder_of(pid):
    return next(pathlib.Path("/dev/shm").glob(f"fathom-run-{pid}-*"))


def alive(pid):
    try:
        return stat_fields(pid)[1] != "Z"
    except OSError:
        return False


class Stage:
    """A folder that looks like a build: the real `fathom`, and other parts real or fake."""

    def __init__(self, fakes=True, without=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-stage-"))
        shutil.copy(BUILD / "fathom", self.folder)
        for name in ("fathomd", "fathom-collector"):
            if name not in without:
                shutil.copy((HERE / "fakes" if fakes else BUILD) / name, self.folder)
        if "libfathom.so" not in without:
            shutil.copy(BUILD / "libfathom.so", self.folder)
            if (BUILD / "libfathom").is_dir():
                shutil.copytree(BUILD / "libfathom", self.folder / "libfathom", symlinks=True)
            shutil.copytree(BUILD / "fathom_site", self.folder / "fathom_site")

    def close(self):
        shutil.rmtree(self.folder)

    @property
    def fathom(self):
        return str(self.folder / "fathom")


def run(argv, timeout=60, **options):
    options.setdefault("env", environment())
    options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run(argv, capture_output=True, timeout=timeout, **options)


def start(argv, **options):
    options.setdefault("env", environment())
    # Unbuffered: what readline() had read ahead would be lost to communicate().
    return subprocess.Popen(argv, bufsize=0, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def end(process):
    """Ends a process started in a group of its own, with all in it: kindly, then not."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            return process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            continue
    return None


def require_torch():
    """Skips the whole script where there is no torch or no data."""
    found = subprocess.run([PYTHON, "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))"],
                           capture_output=True) if os.path.exists(PYTHON) else None
    if found is None or found.returncode != 0:
        print(f"skipped: no torch in {PYTHON}; set FATHOM_PYTHON")
        sys.exit(SKIPPED)
    if not (DATA / "torch_jobs").is_dir():
        print(f"skipped: no torch_jobs in {DATA}; set FATHOM_DATA_DIR")
        sys.exit(SKIPPED)


def torchrun(script, *arguments, ranks=4):
    return [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), str(script),
            *map(str, arguments)]


def ended_well(attempt, undo=lambda: None):
    """What attempt() returns: a job of PyTorch that has ended. It is made again where PyTorch aborted a process at its
    end, which it does with and without us where a thread of Gloo lets go of a work while the interpreter ends."""
    for _ in range(2):
        done = attempt()
        if done.returncode == 0 or ABORTED not in done.stderr:
            return done
        undo()
    return attempt()


class ProcessCase(unittest.TestCase):
    """Each test has a folder of its own; what is in `processes` ends with it, before the folder goes."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.processes = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()


class RunTest(unittest.TestCase):
    """Every test leaves /dev/shm as it was."""

    def setUp(self):
        before = run_folders()
        self.addCleanup(lambda: self.assertEqual(run_folders() - before, set(), "left in /dev/shm"))

    def collector_on(self, store):
        """A collector of that store, and its HTTP address."""
        collector = start([str(BUILD / "fathom-collector"), "--store", str(store), "--grpc", "127.0.0.1:0", "--http",
                           "127.0.0.1:0"], env=environment(), start_new_session=True)
        self.addCleanup(end, collector)
        ready = wait_for(collector.stdout.readline).decode()
        return collector, next(word[5:] for word in ready.split() if word.startswith("http="))

    def stage(self, **options):
        stage = Stage(**options)
        self.addCleanup(stage.close)
        return stage
