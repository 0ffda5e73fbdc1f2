"""Full collections of garbage that become long on one rank: a heap of many live objects."""
import gc

import torch.distributed.distributed_c10d  # noqa: F401  the hook watches collections from here on
from slow_rank import is_slow

gc.disable()
live = []


def before(iteration):
    if is_slow(iteration):
        while len(live) < 1_000_000:
            live.append([])
        gc.collect()
