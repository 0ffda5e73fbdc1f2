"""A data-parallel training loop in Python on simulated GPUs: one process a rank, started by itself.

    gpu_loop.py LIBFAKE_TRAINER RANKS [HOST_WORK]

HOST_WORK is a module of this folder: what its `before(iteration)` does comes before each iteration.
"""
import ctypes
import importlib
import os
import subprocess
import sys
import tempfile


def train(library, host_work):
    before = importlib.import_module(host_work).before
    lib = ctypes.CDLL(library)
    lib.fake_trainer_new.restype = ctypes.c_void_p
    lib.fake_trainer_iterate.argtypes = [ctypes.c_void_p, ctypes.c_int]
    trainer = lib.fake_trainer_new()
    for iteration in range(100_000):
        before(iteration)
        lib.fake_trainer_iterate(trainer, iteration)


def main():
    library, ranks = sys.argv[1], int(sys.argv[2])
    if "RANK" in os.environ:
        return train(library, sys.argv[3] if len(sys.argv) > 3 else "augment")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        shared = {**os.environ, "WORLD_SIZE": str(ranks), "FAKE_NCCL_DIR": folder}
        children = [subprocess.Popen([sys.executable, *sys.argv], env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                    for rank in range(ranks)]
        for child in children:
            child.wait()


if __name__ == "__main__":
    main()
