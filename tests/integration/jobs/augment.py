"""What a training script does to its data on the host. On one rank it becomes slow."""
import time

from slow_rank import is_slow


def resize(iteration):
    if is_slow(iteration):
        time.sleep(0.3)


def normalise(iteration):
    resize(iteration)


def before(iteration):
    normalise(iteration)
