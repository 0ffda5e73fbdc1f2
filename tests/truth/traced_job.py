"""One real job under `fathom run`, watched from outside until it ends or has to be ended."""
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

POLL_S = 0.1


def descendants(pid):
    """All processes below `pid`, torchrun's workers included: they are sessions of their own."""
    below = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = pathlib.Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        below.setdefault(int(text[text.rindex(")") + 2:].split()[1]), []).append(int(entry))
    out, todo = [], [pid]
    while todo:
        found = below.get(todo.pop(), [])
        out += found
        todo += found
    return out


def program_of(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return os.path.basename(words[0].decode(errors="replace"))


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class TracedJob:
    """Starts the job; watch() follows it; the results lie in the attributes.

    fault_time    when the first faulty iteration began (monotonic), None if it never did
    first_right   when the first verdict appeared for which `wanted` was true
    ever          every state of every verdict that was seen
    final         the verdicts of the report (of the last look, when the job had to be ended)
    """

    def __init__(self, fathom, command, name, environment, marker, recorded=False):
        """`marker`: pattern of the line that the job prints when the fault begins."""
        self.fathom, self.name, self.marker = fathom, name, re.compile(marker)
        self.folder = tempfile.TemporaryDirectory(prefix="fathom-truth-")
        self.recording = pathlib.Path(self.folder.name) / "recording"
        self.report = pathlib.Path(self.folder.name) / "report.json"
        self.fault_time = self.first_right = self.url = None
        self.ever, self.final, self.seen, self.log = [], [], set(), []
        self.process = subprocess.Popen(
            [fathom, "run", "--job", name, "--report", self.report, *(["--record", self.recording] if recorded else []),
             "--", *command], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.readers = [threading.Thread(target=self.read_output, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()

    def read_output(self):
        for line in self.process.stdout:
            self.log.append(line)
            if self.fault_time is None and self.marker.match(line):
                self.fault_time = time.monotonic()

    def read_errors(self):
        for line in self.process.stderr:
            self.log.append(line)
            if line.startswith("fathom: page "):
                self.url = line.split()[-1]

    def look(self, wanted):
        """Asks the collector for all verdicts of the job; tells whether it answered."""
        if self.url is None:
            return False
        try:
            with urllib.request.urlopen(f"{self.url}api/v1/verdicts?job={self.name}", timeout=5) as reply:
                verdicts = json.load(reply)["verdicts"]
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            return False
        self.final = verdicts
        for verdict in verdicts:
            state = json.dumps([verdict.get(k) for k in ("id", "grade", "cause", "entity")], sort_keys=True)
            if state not in self.seen:
                self.seen.add(state)
                self.ever.append(verdict)
            if self.first_right is None and wanted(verdict):
                self.first_right = time.monotonic()
        return True

    def watch(self, wanted, seconds, hangs):
        """Until the job ends by itself. Ended at the latest `seconds` after its fault began (or 4
        times that after its start); and a while after its verdict, in which it may be withdrawn."""
        began = time.monotonic()
        while self.process.poll() is None:
            self.look(wanted)
            now = time.monotonic()
            late = now - self.fault_time > seconds if self.fault_time else now - began > 4 * seconds
            patience = 3 if hangs else 8
            told = self.first_right is not None and now - self.first_right > patience
            if late or told:
                return self.end()
            time.sleep(POLL_S)
        self.finish()
        try:
            self.final = json.loads(self.report.read_text()).get("verdicts", [])
        except (OSError, ValueError):
            self.log.append("no report\n")
        return None

    def end(self):
        """Ends the job's own processes, not fathom's, so that fathom sees it end."""
        ours = ("fathom", "fathomd", "fathom-collector")
        jobs = [p for p in descendants(self.process.pid) if program_of(p) not in ours]
        kill_all(jobs)
        self.finish()

    def finish(self):
        left = descendants(self.process.pid)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            kill_all([*left, self.process.pid])
            self.process.wait()
        for reader in self.readers:
            reader.join(timeout=5)

    def judged_again(self):
        """The verdicts of `fathom analyze` on the recording of this run; None if it cannot be read."""
        done = subprocess.run([self.fathom, "analyze", self.recording, "-o", "json", "--exit-zero"],
                              capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            self.log.append(done.stderr)
            return None
        return json.loads(done.stdout)["verdicts"]

    def close(self):
        if self.process.poll() is None:
            self.end()
        self.folder.cleanup()
