"""How the ranks of a job meet and part. For the jobs of this folder and of unseen_jobs.

They meet as torchrun says, or each in a network of its own (disturbances.SlowCard makes them)."""
import ctypes
import os
import time

import torch.distributed as dist


def join(args):
    """The other ranks; in a network of its own, if it was told one."""
    if not args.network:
        return dist.init_process_group("gloo")
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    with open(f"/run/netns/{args.network}-{rank}") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
    return dist.init_process_group("gloo", init_method=f"file://{args.store}", rank=rank, world_size=world)


def part():
    """Of all ranks at once, when they have trained."""
    dist.barrier()
    # Gloo's threads let go of the last works of backward meanwhile: while the interpreter ends, one that wants Python's
    # lock for it aborts the process (pytorch/pytorch#190489), and DDP's reducer keeps them to the end.
    time.sleep(0.1)
    dist.destroy_process_group()
