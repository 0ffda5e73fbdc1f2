"""Trains a little and knows nothing of shadow iterations: shadow.py KIND STEPS [WIDTH].

KIND: ddp (DistributedDataParallel, a DataLoader with a worker), tensor (two by two ranks, DTensor's tensor parallel
and data parallel), exchange (every op that Gloo has, whose results all go into the weights), any (receives from
whoever comes first). After each step the weights are written to OUT/rank-R-step-N, bit by bit. With CHECKPOINT, a
folder, an exchange begins with the weights in its rank-R.
"""
import gc
import os
import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn


class Batches(torch.utils.data.Dataset):
    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.randn(32, generator=torch.Generator().manual_seed(1000 * self.rank + index))


def ddp(width):
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(32, width), nn.GELU(), nn.Linear(width, 32)))
    loader = iter(torch.utils.data.DataLoader(Batches(dist.get_rank()), batch_size=8, num_workers=1))
    return model.parameters(), lambda: model(next(loader)).square().mean().backward()


def tensor(width):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "tensor"))
    model = nn.Sequential(nn.Linear(32, width), nn.GELU(), nn.Linear(width, 32))
    parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    data = Batches(mesh.get_local_rank("data"))
    step = iter(range(64))

    def compute():
        model(data[next(step)].view(1, 32)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad.to_local(), group=mesh.get_group("data"))

    return model.parameters(), compute


def exchange(width):
    rank, size = dist.get_rank(), dist.get_world_size()
    pair = dist.new_group([0, 1])  # not of every rank
    weights = nn.Parameter(torch.arange(float(size * width)).view(size, width) * (rank + 1))
    if "CHECKPOINT" in os.environ:
        saved = pathlib.Path(os.environ["CHECKPOINT"], f"rank-{rank}").read_bytes()
        weights.data = torch.frombuffer(bytearray(saved), dtype=torch.float32).view(size, width)

    def compute():
        own = weights.detach().sin() * (rank + 1)
        got = [own.clone() for _ in range(size)]
        dist.all_gather(got, own)
        flat = torch.empty(size * size, width)
        dist.all_gather_into_tensor(flat, own)
        part = torch.empty(width)
        dist.reduce_scatter_tensor(part, own.flatten())
        piece = torch.empty(width)
        dist.reduce_scatter(piece, [row.clone() for row in own])
        swapped = torch.empty_like(own)
        dist.all_to_all_single(swapped, own)
        row = torch.empty(width)
        dist.scatter(row, [r.clone() for r in own] if rank == 1 else None, src=1)
        rows = [torch.empty(width) for _ in range(size)] if rank == 2 else None
        dist.gather(own[0].contiguous(), rows, dst=2)
        sent = own.clone().t()  # dense, and not contiguous
        dist.broadcast(sent, src=2)
        summed = own.clone()
        dist.reduce(summed, dst=0, op=dist.ReduceOp.MAX)
        ring = torch.empty_like(own)
        for work in dist.batch_isend_irecv([dist.P2POp(dist.irecv, ring, (rank - 1) % size),
                                            dist.P2POp(dist.isend, own, (rank + 1) % size)]):
            work.wait()
        total = own.to(torch.bfloat16)
        late = dist.all_reduce(total, async_op=True)
        if rank < 2:
            dist.all_reduce(own, group=pair)
        told = [None] * size
        dist.all_gather_object(told, {"rank": rank, "width": width})
        dist.barrier()
        late.wait()
        parts = (*got, flat[:size], part, piece, swapped, row, *(rows or ()), sent.sum(), summed, ring, total.float(), own)
        weights.grad = sum(p.sum(dim=0) if p.shape == own.shape else p for p in parts) + torch.zeros_like(own)
        weights.grad += sum(t["rank"] for t in told)

    return [weights], compute


def any_source(width):
    weights = nn.Parameter(torch.zeros(width))

    def compute():
        weights.grad = torch.ones(width)
        if dist.get_rank() == 0:
            dist.recv(weights.grad)
        else:
            dist.send(weights.grad, 0)

    return [weights], compute


def main(kind, steps, width):
    torch.set_num_threads(1)
    torch.manual_seed(7)
    dist.init_process_group("gloo")
    assert dist.get_backend() == "gloo"
    rank = dist.get_rank()
    parameters, compute = {"ddp": ddp, "tensor": tensor, "exchange": exchange, "any": any_source}[kind](width)
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    out, done = pathlib.Path(os.environ["OUT"]), iter(range(1, steps + 1))

    def write(optimizer, args, kwargs):
        locals_ = [p.to_local() if hasattr(p, "to_local") else p for p in optimizer.param_groups[0]["params"]]
        (out / f"rank-{rank}-step-{next(done)}").write_bytes(b"".join(p.detach().numpy().tobytes() for p in locals_))

    optimizer.register_step_post_hook(write)
    for _ in range(steps):
        compute()
        optimizer.step()
        optimizer.zero_grad()
    dist.barrier()
    # Gloo's threads must be gone before the interpreter ends, see exact.py.
    del compute, parameters, optimizer
    gc.collect()
    dist.destroy_process_group()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 64)
