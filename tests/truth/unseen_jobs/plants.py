"""What a case plants: KIND:PLACE:RANK:EVERY:SECONDS, several with commas; RANK of -1 means all.

A shape calls act(place) where a fault may be. Seconds of what computes are of the processor, so that a full machine
makes a fault no larger.
"""
import gc
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

import torch

SLOW_READER = "import sys, time\nwhile sys.stdin.buffer.read1(4096): time.sleep({})"


class Plant(NamedTuple):
    kind: str
    place: str
    rank: int
    every: int
    seconds: float


def parse(text):
    parts = [one.split(":") for one in text.split(",") if one]
    return [Plant(kind, place, int(rank), int(every), float(seconds)) for kind, place, rank, every, seconds in parts]


class Plants:
    def __init__(self, text, rank, first):
        self.mine = [each for each in parse(text) if each.rank in (rank, -1)]
        self.first, self.iteration = first, 0
        self.heap = self.log = None
        self.folder = tempfile.TemporaryDirectory()
        self.lock, self.taken = threading.Lock(), threading.Event()

    def due(self, place):
        now = self.iteration >= self.first
        return [each for each in self.mine if each.place == place and now and self.iteration % each.every == 0]

    def act(self, place):
        for each in self.due(place):
            getattr(self, each.kind)(each.seconds)

    def times(self, place):
        """So many times as many rows in the batch: SECONDS of the kind `batch`."""
        return max([int(each.seconds) for each in self.due(place) if each.kind == "batch"], default=1)

    def batch(self, _):
        pass  # by times()

    def sleep(self, seconds):
        time.sleep(seconds)

    def compute(self, seconds):
        begin, a = time.thread_time(), torch.ones(128, 128)
        while time.thread_time() - begin < seconds:
            a = (a @ a) / 128

    def python(self, seconds):
        begin, words = time.thread_time(), {}
        while time.thread_time() - begin < seconds:
            for n in range(500):
                words[n % 50] = words.get(n % 50, 0) + len(str(n))

    def garbage(self, seconds):
        """A heap of which one collection takes about as long."""
        if self.heap is None:
            self.heap = [{"id": n} for n in range(int(seconds * 4_000_000))]
        gc.collect()

    def hold(self, seconds):
        with self.lock:
            self.taken.set()
            time.sleep(seconds)

    def lock_wait(self, seconds):
        """Another thread has the lock that the training thread wants."""
        self.taken.clear()
        threading.Thread(target=self.hold, args=(seconds,)).start()
        self.taken.wait()
        with self.lock:
            pass

    def slow_log(self, seconds):
        """A log into a pipe whose reader takes so long for each 4 KiB."""
        if self.log is None:
            self.log = subprocess.Popen([sys.executable, "-c", SLOW_READER.format(seconds)], stdin=subprocess.PIPE)
            self.log.stdin.write(b"x" * (60 << 10))
        self.log.stdin.write(b"x" * 4096)
        self.log.stdin.flush()

    def imports(self, seconds):
        """A module that is compiled anew each time."""
        name = f"made_{self.iteration}"
        body = "".join(f"def f{n}(a, b={n}):\n    return [a + c for c in range(b) if c % 3]\n" for n in range(150))
        sys.path.insert(0, self.folder.name)
        begin, number = time.thread_time(), 0
        while time.thread_time() - begin < seconds:
            number += 1
            pathlib.Path(self.folder.name, f"{name}_{number}.py").write_text(body)
            importlib.invalidate_caches()
            importlib.import_module(f"{name}_{number}")
        sys.path.remove(self.folder.name)

    def fsync(self, seconds):
        """Small files that are written through to the disk."""
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            with open(os.path.join(self.folder.name, "part"), "wb") as file:
                file.write(b"x" * 4096)
                os.fsync(file.fileno())

    def pages(self, seconds):
        """Memory that is taken, touched and given back."""
        begin = time.thread_time()
        while time.thread_time() - begin < seconds:
            torch.ones(1 << 21)

    def end(self):
        if self.log is not None:
            self.log.kill()
        self.folder.cleanup()
