"""Shapes in which each rank has the whole model."""
import contextlib
import io
import json
import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from parts import ROWS, WIDTH, average, loss_of


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.001)


def finish(job, optimizer):
    job.plants.act("step")
    optimizer.step()
    optimizer.zero_grad()


def training(job, model):
    optimizer, batches = sgd(model), job.batches()

    def step():
        loss_of(model(next(batches))).backward()
        finish(job, optimizer)

    return step


def plain(job, **more):
    return training(job, DistributedDataParallel(job.layers(), bucket_cap_mb=1, **more))


def unused(job):
    """DDP looks for parameters without a gradient: one more all-reduce, of what was used."""
    return plain(job, find_unused_parameters=True)


def zero(job):
    """Each rank has a part of the optimizer's state, and broadcasts the parameters that it updated."""
    model = DistributedDataParallel(job.layers(), bucket_cap_mb=1)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=0.001)
    batches = job.batches()

    def step():
        loss_of(model(next(batches))).backward()
        finish(job, optimizer)

    return step


def micro(job):
    """What the job calls a step is a micro-batch: gradients are reduced in each fourth only."""
    model = DistributedDataParallel(job.layers(), bucket_cap_mb=1)
    optimizer, batches = sgd(model), job.batches()

    def step():
        last = job.iteration % 4 == 3
        with contextlib.nullcontext() if last else model.no_sync():
            loss_of(model(next(batches))).backward()
        job.plants.act("step")
        if last:
            optimizer.step()
            optimizer.zero_grad()

    return step


def local(job):
    """Local SGD: each step is a rank's own, and each fourth averages the parameters."""
    model = job.layers()
    optimizer, batches = sgd(model), job.batches()

    def step():
        loss_of(model(next(batches))).backward()
        finish(job, optimizer)
        if job.iteration % 4 == 3:
            with torch.no_grad():
                for parameter in model.parameters():
                    dist.all_reduce(parameter)
                    parameter /= job.world

    return step


def evaluating(job):
    """Each sixth iteration all ranks evaluate."""
    step, model, batches = plain(job), job.layers(), job.batches()

    def both():
        step()
        if job.iteration % 6 != 5:
            return
        with torch.no_grad():
            total = sum(loss_of(model(next(batches))) for _ in range(4))
        dist.all_reduce(total)

    return both


def adversaries(job):
    """Two models by two optimizers: one in each iteration, the other in each second."""
    one, other = (DistributedDataParallel(job.layers(count), bucket_cap_mb=1) for count in (4, 3))
    of_one, of_other, batches = sgd(one), torch.optim.Adam(other.parameters(), lr=0.001), job.batches()

    def step():
        batch = next(batches)
        loss_of(one(other(batch).detach())).backward()
        finish(job, of_one)
        if job.iteration % 2:
            loss_of(one(other(batch))).backward()
            of_other.step()
            of_other.zero_grad()
            one.zero_grad()

    return step


def rollouts(job):
    """Each rank generates a drawn number of tokens, then all train."""
    model = DistributedDataParallel(job.layers(), bucket_cap_mb=1)
    optimizer, batches = sgd(model), job.batches()

    def step():
        batch = next(batches)
        with torch.no_grad():
            for _ in range(job.drawn(4, 12)):
                model.module(batch)
        loss_of(model(batch)).backward()
        finish(job, optimizer)

    return step


def first_writes(job):
    """Rank 0 alone gathers metrics, logs them, and saves every fifteenth time, as designed."""
    model = DistributedDataParallel(job.layers(), bucket_cap_mb=1)
    optimizer, batches = sgd(model), job.batches()
    log = tempfile.TemporaryFile("w") if job.rank == 0 else None

    def write(metrics):
        json.dump({"iteration": job.iteration, "loss": [m.item() for m in metrics]}, log)
        log.flush()
        if job.iteration % 15 == 14:
            torch.save(model.state_dict(), io.BytesIO())
            os.fsync(log.fileno())

    def step():
        loss = loss_of(model(next(batches)))
        loss.backward()
        finish(job, optimizer)
        found = [torch.zeros(1) for _ in range(job.world)] if job.rank == 0 else None
        dist.gather(loss.detach().reshape(1), found, dst=0)
        if job.rank == 0:
            write(found)
        rate = torch.ones(1)
        dist.broadcast(rate, src=0)

    return step


def first_reads(job):
    """Rank 0 reads all batches and scatters them."""
    model = job.layers()
    optimizer, batches = sgd(model), job.batches()

    def step():
        batch = torch.empty(ROWS, WIDTH)
        parts = [next(batches) for _ in range(job.world)] if job.rank == 0 else None
        dist.scatter(batch, parts, src=0)
        loss_of(model(batch)).backward()
        average(model.parameters())
        finish(job, optimizer)

    return step


SHAPES = {each.__name__: each for each in (plain, unused, zero, micro, local, evaluating, adversaries, rollouts,
                                           first_writes, first_reads)}
