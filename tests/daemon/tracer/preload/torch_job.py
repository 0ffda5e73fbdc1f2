"""A job of every op that Gloo has, run by torch_test.py with and without the tracer.

Prints what it computed, exactly, so that two runs can be compared byte for byte.
"""
import gc
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader


def say(what, *tensors):
    values = [v for t in tensors for v in t.detach().reshape(-1).double().tolist()]
    sys.stdout.write(f"{dist.get_rank()} {what} {' '.join(float(v).hex() for v in values)}\n")


def collectives(rank, world):
    x = torch.arange(8, dtype=torch.float32) + rank
    dist.all_reduce(x)
    say("all_reduce", x)
    b = torch.full((3,), float(rank), dtype=torch.float64)
    dist.broadcast(b, src=1)
    say("broadcast", b)
    parts = [torch.zeros(5, dtype=torch.int32) for _ in range(world)]
    dist.all_gather(parts, torch.full((5,), rank, dtype=torch.int32))
    say("all_gather", *parts)
    whole = torch.zeros(4 * world, dtype=torch.bfloat16)
    dist.all_gather_into_tensor(whole, torch.full((4,), rank, dtype=torch.bfloat16))
    say("all_gather_into_tensor", whole)
    piece = torch.zeros(2)
    dist.reduce_scatter_tensor(piece, torch.arange(2.0 * world))
    say("reduce_scatter_tensor", piece)
    dist.reduce_scatter(piece, [torch.full((2,), float(i)) for i in range(world)])
    say("reduce_scatter", piece)
    r = torch.ones(6)
    dist.reduce(r, dst=0)
    got = [torch.zeros(7) for _ in range(world)] if rank == 0 else None
    dist.gather(torch.full((7,), float(rank)), got, dst=0)
    mine = torch.zeros(9)
    dist.scatter(mine, [torch.full((9,), float(i)) for i in range(world)] if rank == 1 else None, src=1)
    say("scatter", mine)
    out = torch.zeros(2 * world)
    dist.all_to_all_single(out, torch.arange(2.0 * world) + 100 * rank)
    say("all_to_all_single", out)
    dist.barrier()
    dist.monitored_barrier()


def point_to_point(rank, world):
    x = torch.full((1000,), float(rank))
    after, before = (rank + 1) % world, (rank - 1) % world
    sent = dist.isend(x, after)
    y = torch.zeros(1000)
    dist.recv(y, before)
    sent.wait()
    say("recv", y[:2])
    if rank == 0:
        z = torch.zeros(10)
        say("recv_any", torch.tensor(float(dist.recv(z))), z)
    elif rank == 1:
        dist.send(torch.full((10,), 5.0), 0)


def failure():
    """An op that throws inside PyTorch's C++ must throw the same here."""
    try:
        dist.all_reduce(torch.ones(2).to(torch.complex64), op=dist.ReduceOp.MAX)
    except Exception as error:
        sys.stdout.write(f"{dist.get_rank()} {type(error).__name__}\n")
    half = torch.ones(3)
    try:
        dist.group.WORLD._get_backend(torch.device("cpu")).allreduce([half, torch.ones(2)]).wait()
    except Exception as error:
        sys.stdout.write(f"{dist.get_rank()} {type(error).__name__} {str(error)[:40]}\n")


def training(rank):
    torch.manual_seed(1)
    pair = dist.new_group([0, 1], group_desc="PAIR")
    model = DistributedDataParallel(torch.nn.Linear(16, 16), process_group=pair)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = [torch.full((16,), float(i + rank)) / 8 for i in range(6)]
    for batch in DataLoader(data, batch_size=2, num_workers=1):
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    say("trained", *model.parameters())
    gc.collect()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    collectives(rank, world)
    point_to_point(rank, world)
    failure()
    training(rank)
    dist.barrier()
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
