"""What a training script does to its data on the host. On rank 1 it becomes slow."""
import os
import time


def resize(iteration):
    if os.environ["RANK"] == "1" and iteration >= 120:
        time.sleep(0.06)


def normalise(iteration):
    resize(iteration)
