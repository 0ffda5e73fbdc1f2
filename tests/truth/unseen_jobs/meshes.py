"""Shapes whose model is cut over the ranks: PyTorch's own sharding, tensor parallelism and pipelines."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from parts import ROWS, WIDTH, Marked, average, loss_of
from replicas import finish, sgd, training


def sharded(job, mesh, **more):
    model = nn.Sequential(job.layers(2), job.layers(2))
    for part in model:
        fully_shard(part, mesh=mesh, **more)
    fully_shard(model, mesh=mesh, **more)
    return model


def hsdp(job):
    """Sharded over half of the ranks, and two such halves are replicas."""
    mesh = init_device_mesh("cpu", (2, job.world // 2), mesh_dim_names=("replicas", "shards"))
    return training(job, sharded(job, mesh))


def kept(job):
    """fully_shard that keeps the parameters until backward is over."""
    return training(job, sharded(job, init_device_mesh("cpu", (job.world,)), reshard_after_forward=False))


def tensor(job):
    """DTensor: a pair of ranks has the columns and rows of each layer; the pairs are replicas."""
    mesh = init_device_mesh("cpu", (job.world // 2, 2), mesh_dim_names=("data", "tensor"))
    pairs = [nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))
             for _ in range(2 * job.work)]
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    for pair in pairs:
        parallelize_module(pair, mesh["tensor"], plan)
    own = Marked(job)  # of each rank, the same
    model = nn.Sequential(*pairs, own)
    optimizer, batches = sgd(model), job.batches(mesh.get_local_rank("data"))

    def step():
        loss_of(model(next(batches))).backward()
        for parameter in model.parameters():
            gradient = parameter.grad
            whole = gradient.to_local() if hasattr(gradient, "to_local") else gradient
            dist.all_reduce(whole, group=mesh.get_group("data"))
        finish(job, optimizer)

    return step


def pipeline(job, schedule, copies):
    """torch.distributed.pipelining: each rank a stage, `copies` such pipelines."""
    stages = job.world // copies
    mesh = init_device_mesh("cpu", (copies, stages), mesh_dim_names=("data", "stages"))
    at, model = mesh.get_local_rank("stages"), job.layers(3)
    stage = PipelineStage(model, at, stages, torch.device("cpu"), group=mesh.get_group("stages"))
    last = at == stages - 1
    run = schedule(stage, n_microbatches=2 * stages, loss_fn=lambda output, _: loss_of(output))
    optimizer, batches = sgd(model), job.batches(mesh.get_local_rank("data"))
    rows = ROWS // (2 * stages) * 2 * stages

    def step():
        batch = next(batches)[:rows]
        run.step(*([batch] if at == 0 else []), **({"target": batch} if last else {}))
        if copies > 1:
            average(model.parameters(), mesh.get_group("data"))
        norm = sum(p.grad.square().sum() for p in model.parameters()).reshape(1)
        dist.all_reduce(norm)
        finish(job, optimizer)

    return step


def one_f_one_b(job):
    return pipeline(job, Schedule1F1B, 1)


def two_pipelines(job):
    return pipeline(job, Schedule1F1B, 2)


def gpipe(job):
    return pipeline(job, ScheduleGPipe, 1)


SHAPES = {each.__name__: each for each in (hsdp, kept, tensor, one_f_one_b, two_pipelines, gpipe)}
