"""More functions that take about as long as they are told: files, pipes, other processes and other threads.

As in slow_parts.py, the name of each function is the truth that the table compares with.
"""
import asyncio
import csv
import fcntl
import http.client
import io
import logging
import mmap
import os
import pathlib
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy
import torch

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-case-"))
HELPERS = {}

SERVER = """
import http.server, sys, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(float(self.path[1:]))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
print(server.server_port, flush=True)
server.serve_forever()
"""
SLOW_READER = "import os, time\nwhile os.read(0, 1 << 16): time.sleep(0.05)"
LOCKER = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
for line in sys.stdin:
    fcntl.flock(file, fcntl.LOCK_EX)
    print(flush=True)
    time.sleep(float(line))
    fcntl.flock(file, fcntl.LOCK_UN)
"""


def helper(program, *words, **options):
    """A process that serves this one for as long as it lives."""
    if program not in HELPERS:
        HELPERS[program] = subprocess.Popen([sys.executable, "-c", program, *words], stdin=subprocess.PIPE,
                                            text=True, bufsize=1, **options)
    return HELPERS[program]


PORT = []


def fetch_labels(seconds):
    server = helper(SERVER, stdout=subprocess.PIPE)
    if not PORT:
        PORT.append(int(server.stdout.readline()))
    connection = http.client.HTTPConnection("127.0.0.1", PORT[0])
    connection.request("GET", f"/{seconds}")
    connection.getresponse().read()
    connection.close()


def resolve_name(seconds):
    """Asks a name server that does not answer."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as near, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        near.settimeout(seconds)
        near.sendto(b"who", silent.getsockname())
        try:
            near.recv(100)
        except TimeoutError:
            pass


class PipeHandler(logging.Handler):
    """A log that another process reads slowly: the pipe is full."""

    def emit(self, record):
        reader = helper(SLOW_READER)
        os.write(reader.stdin.fileno(), record.getMessage().encode())


LOGGER = logging.getLogger("case")
LOGGER.addHandler(PipeHandler())
LOGGER.setLevel(logging.INFO)
LOGGER.propagate = False


def log_to_pipe(seconds):
    LOGGER.info("x" * int(seconds / 0.05 * (1 << 16)))


def lock_file(seconds):
    """Another process holds the lock of a file."""
    path = str(FOLDER / "lock")
    other = helper(LOCKER, path, stdout=subprocess.PIPE)
    other.stdin.write(f"{seconds}\n")
    other.stdout.readline()
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_UN)


def poll_queue(seconds):
    near, far = os.pipe()
    select.select([near], [], [], seconds)
    os.close(near)
    os.close(far)


def read_tool_output(seconds):
    with subprocess.Popen(["sh", "-c", f"sleep {seconds}; echo done"], stdout=subprocess.PIPE) as tool:
        tool.stdout.read()


def gather_replies(seconds):
    async def reply():
        await asyncio.sleep(seconds)

    async def replies():
        await asyncio.gather(reply(), reply())

    asyncio.run(replies())


def copy_shard(seconds):
    source = FOLDER / "shard"
    if not source.exists():
        source.write_bytes(os.urandom(4 << 20))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        shutil.copyfile(source, FOLDER / "copy")


def read_shard(seconds):
    """Past the page cache, as a data loader of large files does: 256 KiB, however long that takes."""
    path = FOLDER / "direct"
    if not path.exists():
        path.write_bytes(bytes(8 << 20))
        os.sync()
    page = mmap.mmap(-1, 1 << 18)
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    os.preadv(file, [page], (time.monotonic_ns() // 1000 % 30) << 18)
    os.close(file)


def write_shard(seconds):
    page = mmap.mmap(-1, 1 << 18)
    file = os.open(FOLDER / "direct-out", os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
    os.pwritev(file, [page], (time.monotonic_ns() // 1000 % 30) << 18)
    os.close(file)


def save_arrays(seconds):
    array = numpy.zeros(200_000)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        with open(FOLDER / "arrays.npy", "wb") as file:
            numpy.save(file, array)
            os.fsync(file.fileno())


def load_checkpoint(seconds):
    path = FOLDER / "model.pt"
    if not path.exists():
        torch.save({str(i): torch.zeros(1000) for i in range(200)}, path)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        torch.load(path)


def parse_rows(seconds):
    text = "\n".join(",".join(str(i * j) for j in range(20)) for i in range(100))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for row in csv.reader(io.StringIO(text)):
            [float(cell) for cell in row]


def await_barrier(seconds):
    """A helper thread comes late to a barrier of threads."""
    barrier = threading.Barrier(2)
    threading.Timer(seconds, barrier.wait).start()
    barrier.wait()


def queue_behind_threads(seconds):
    """Six threads want one lock, and this one comes last."""
    lock = threading.Lock()

    def hold():
        with lock:
            time.sleep(seconds / 6)

    threads = [threading.Thread(target=hold) for _ in range(6)]
    for thread in threads:
        thread.start()
    with lock:
        pass
    for thread in threads:
        thread.join()


def crunch_numbers():
    while True:
        sum(i * i for i in range(200))


def crunch_beside(seconds):
    """Once: from here on another thread of this process wants Python's lock all the time."""
    if "cruncher" not in HELPERS:
        HELPERS["cruncher"] = threading.Thread(target=crunch_numbers, daemon=True)
        HELPERS["cruncher"].start()
