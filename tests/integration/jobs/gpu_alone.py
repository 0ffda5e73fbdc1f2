"""A training process on its own on a simulated GPU: its host waits for the GPU at the end of each step.

    gpu_alone.py LIBFAKE_TRAINER STEPS
"""
import ctypes
import os
import sys
import tempfile

from torch.optim.optimizer import Optimizer


def main(library, steps):
    lib = ctypes.CDLL(library)
    lib.fake_trainer_new.restype = ctypes.c_void_p
    lib.fake_trainer_iterate.argtypes = [ctypes.c_void_p, ctypes.c_int]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "FAKE_NCCL_DIR": folder}
        trainer, optimizer = lib.fake_trainer_new(), Optimizer()
        for step in range(steps):
            lib.fake_trainer_iterate(trainer, step)
            optimizer.step()


main(sys.argv[1], int(sys.argv[2]))
