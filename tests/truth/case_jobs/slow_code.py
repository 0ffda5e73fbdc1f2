"""More functions that compute for about as long as they are told, in Python, in PyTorch or in the kernel.

As in slow_parts.py, the name of each function is the truth that the table compares with.
"""
import decimal
import mmap
import os
import random
import sys
import time

import numpy
import torch


def poll_clock(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def parse_loosely(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        try:
            int("no number")
        except ValueError:
            pass


def count_paths(seconds):
    def paths(n):
        return 1 if n < 2 else paths(n - 1) + paths(n - 2)

    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        paths(12)


def round_prices(seconds):
    price = decimal.Decimal("1.0000001")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(200):
            (price ** 7).quantize(decimal.Decimal("0.01"))


def shuffle_indices(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        numpy.random.permutation(50_000)


def draw_batch(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        random.sample(range(100_000), 500)


def track_quantiles(seconds):
    values = torch.linspace(0, 1, 40_000)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        torch.quantile(values, 0.99)


def grow_buffer(seconds):
    end = time.perf_counter() + seconds
    buffer = torch.zeros(1)
    while time.perf_counter() < end:
        buffer = torch.cat([buffer, torch.zeros(500)])


def log_each_gradient(seconds):
    gradient = torch.ones(400)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        [float(value) for value in gradient]


def decay_momentum(seconds):
    """Numbers so small that the processor computes with them slowly."""
    momentum = torch.full((20_000,), 1e-41)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        momentum.mul(0.9)


def reset_arena(seconds):
    """Pages that are given back and touched again."""
    arena = mmap.mmap(-1, 8 << 20)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for at in range(0, len(arena), mmap.PAGESIZE):
            arena[at] = 1
        arena.madvise(mmap.MADV_DONTNEED)
    arena.close()


def fork_helper(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)


def use_many_threads(seconds):
    """Once: far more threads of PyTorch than there are cores."""
    torch.set_num_threads(24)


def trace_calls(seconds):
    """Once: from here on each call of Python's is looked at."""
    if sys.getprofile() is None:
        sys.setprofile(note_call)


def note_call(frame, event, argument):
    for _ in range(15):
        str(frame.f_lineno)
