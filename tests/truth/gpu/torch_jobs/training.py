"""The loop that the jobs of this folder have in common."""
import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader

from faults import Batches, Profiler, Progress

BATCH, LENGTH = 64, 256


def train(args, fault, model, mixed):
    """Trains `model` as the arguments say, then leaves the job. `mixed`: its forward pass in bf16."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Batches(fault, BATCH, LENGTH + 1), batch_size=None))
    progress, profiler = Progress(), Profiler(args)
    for iteration in range(args.iterations):
        profiler.step(iteration)
        fault.iteration = iteration
        tokens = next(batches).cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16) if mixed else contextlib.nullcontext():
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, 512).float(), tokens[:, 1:].reshape(-1))
        if args.stray_sync:
            loss.item()
        loss.backward()
        fault.before_step()
        mean_loss = fault.mean(loss)
        optimizer.step()
        optimizer.zero_grad()
        progress.show(iteration, mean_loss)
    profiler.step(args.iterations)
    dist.barrier()
    dist.destroy_process_group()
