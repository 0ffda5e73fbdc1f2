"""A small DDP job whose output depends on nothing but its arithmetic: losses and a hash, bit by bit.

torchrun --nproc-per-node 4 exact.py ITERATIONS EXIT_CODE
"""
import hashlib
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def train(iterations):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(dist.get_rank())
    for iteration in range(iterations):
        x = torch.randn(32, 64, generator=generator)
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if dist.get_rank() == 0 and iteration % 20 == 0:
            print(iteration, mean.item().hex(), flush=True)
    if dist.get_rank() == 0:
        digest = hashlib.sha256()
        for parameter in model.parameters():
            digest.update(parameter.detach().numpy().tobytes())
        print(digest.hexdigest(), flush=True)
    dist.barrier()


def main(iterations, code):
    dist.init_process_group("gloo")
    train(iterations)
    # Gloo's threads let go of the last works of backward meanwhile: while the interpreter ends, one that wants Python's
    # lock for it aborts the process (pytorch/pytorch#190489), and DDP's reducer keeps them to the end.
    time.sleep(0.1)
    dist.destroy_process_group()
    sys.exit(code if dist.is_available() else 1)


main(int(sys.argv[1]), int(sys.argv[2]))
