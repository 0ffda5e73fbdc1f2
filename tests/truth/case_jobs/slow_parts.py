"""Functions that take about as long as they are told, each in its own way: what the cases plant in a job.

The name of the function is the truth that the table compares with, so each has one of its own.
"""
import concurrent.futures
import contextlib
import copy
import ctypes
import gc
import hashlib
import io
import json
import os
import pathlib
import pickle
import queue
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import numpy
import torch

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-case-"))
NATIVE = os.environ.get("CASE_NATIVE", "")


def until(seconds, work):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        work()


def send_metrics(seconds):
    time.sleep(seconds)


class MetricsLogger:
    def flush_buffer(self, seconds):
        time.sleep(seconds)

    def log(self, seconds):
        self.flush_buffer(seconds)


def log_through_logger(seconds):
    MetricsLogger().log(seconds)


def run_callbacks(seconds):
    for callback in (lambda: None, lambda: on_step_end(seconds)):
        callback()


def on_step_end(seconds):
    time.sleep(seconds)


def walk_tree(seconds, depth=150):
    if depth == 0:
        time.sleep(seconds)
    else:
        walk_tree(seconds, depth - 1)


def sample_slowly(seconds):
    yield 1
    time.sleep(seconds)
    yield 2


def draw_samples(seconds):
    for _ in sample_slowly(seconds):
        pass


@contextlib.contextmanager
def slow_guard(seconds):
    time.sleep(seconds)
    yield


def guarded_step(seconds):
    with slow_guard(seconds):
        pass


def format_report(seconds):
    rows = [{"id": i, "text": str(i)} for i in range(200)]
    until(seconds, lambda: json.dumps(rows))


def match_patterns(seconds):
    text, pattern = "a" * 300 + "b", re.compile("(a|aa)+c?b")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pattern.match(text[:24])


def sort_records(seconds):
    records = [(i * 7919) % 10007 for i in range(2000)]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sorted(records, key=lambda r: -r)


def tokenize_text(seconds):
    text = "the quick brown fox " * 40
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        out = ""
        for word in text.split(" "):
            out += word[:2] + "##" + word[2:]


def copy_state(seconds):
    state = {str(i): [i, {"x": i}] for i in range(300)}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        copy.deepcopy(state)


def hash_weights(seconds):
    block = bytes(1 << 18)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        hashlib.sha256(block).digest()


def compress_log(seconds):
    block = os.urandom(1 << 16)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        zlib.compress(block)


def whiten_features(seconds):
    matrix = numpy.ones((120, 120)) + numpy.eye(120)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        numpy.linalg.svd(matrix)


def log_spectrum(seconds):
    matrix = torch.ones(96, 96) + torch.eye(96)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        torch.linalg.svdvals(matrix)


def pickle_checkpoint(seconds):
    state = {i: list(range(50)) for i in range(400)}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pickle.dump(state, io.BytesIO())


def save_checkpoint(seconds):
    tensors = [torch.zeros(50_000) for _ in range(4)]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        torch.save(tensors, FOLDER / "checkpoint.pt")


def write_journal(seconds):
    end = time.perf_counter() + seconds
    with open(FOLDER / "journal", "wb") as file:
        while time.perf_counter() < end:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())


def list_shards(seconds):
    for i in range(60):
        (FOLDER / f"shard{i}").touch()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        [entry.stat().st_size for entry in os.scandir(FOLDER)]


def commit_rows(seconds):
    base = sqlite3.connect(FOLDER / "rows.db")
    base.execute("create table if not exists rows (x)")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        base.execute("insert into rows values (1)")
        base.commit()
    base.close()


def call_tool(seconds):
    subprocess.run(["sleep", str(seconds)], check=True)


def fetch_remote(seconds):
    near, far = socket.socketpair()
    threading.Timer(seconds, lambda: far.send(b"x")).start()
    near.recv(1)
    near.close()
    far.close()


LOCK = threading.Lock()


def hold_lock(seconds):
    with LOCK:
        time.sleep(seconds)


def update_shared_stats(seconds):
    threading.Thread(target=hold_lock, args=(seconds,), daemon=True).start()
    time.sleep(0.001)
    with LOCK:
        pass


def await_result(seconds):
    answers = queue.Queue()
    threading.Timer(seconds, lambda: answers.put(1)).start()
    answers.get()


def await_future(seconds):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, seconds).result()


def await_event(seconds):
    event = threading.Event()
    threading.Timer(seconds, event.set).start()
    event.wait()


HEAP = []


def collect_garbage(seconds):
    if not HEAP:
        HEAP.extend({"id": i} for i in range(int(3_000_000 * seconds)))
    gc.collect()


def build_cycles(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        nodes = [[] for _ in range(500)]
        for node in nodes:
            node.append(nodes)


def spin_in_c(seconds):
    ctypes.CDLL(NATIVE).burn(ctypes.c_long(int(1e6 * seconds)))


def spin_in_c_with_gil(seconds):
    ctypes.PyDLL(NATIVE).burn(ctypes.c_long(int(1e6 * seconds)))


def doze_in_c(seconds):
    ctypes.CDLL(NATIVE).doze(ctypes.c_long(int(1e6 * seconds)))


def evaluate_again(seconds, model, batch):
    end = time.perf_counter() + seconds
    with torch.no_grad():
        while time.perf_counter() < end:
            model(batch)


def read_sample(seconds):
    time.sleep(seconds)


def decode_sample(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(i * i for i in range(500))


def pad_batch(seconds):
    time.sleep(seconds)


def print_slowly(seconds):
    for _ in range(10):
        time.sleep(seconds / 10)
        sys.stderr.flush()
