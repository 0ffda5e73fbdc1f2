"""A small model trained with DistributedDataParallel; one rank has what the case plants.

torchrun --nproc-per-node 3 train.py --case send_metrics --at step --rank 1
"""
import argparse
import contextlib
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, get_worker_info

import meeting
import slow_code
import slow_parts
import slow_services

MODULES = (slow_parts, slow_services, slow_code)
WIDTH, BATCH = 192, 48


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", default="none", help="a function of MODULES, or none")
    parser.add_argument("--at", default="step",
                        help="step, forward, backward, optimizer, dataset, collate, batch, once, outside")
    parser.add_argument("--rank", type=int, default=1, help="the one that has it; -1: all")
    parser.add_argument("--workers", type=int, default=0, help="of the data loader")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from-iteration", type=int, default=60)
    parser.add_argument("--mark", type=int, default=-1, help="the iteration of the fault, where it is another")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=0.06)
    parser.add_argument("--network", default="", help="rank R lives in the network namespace NETWORK-R")
    parser.add_argument("--store", default="", help="where its ranks meet")
    parser.add_argument("--profile", default="", help="a folder for a trace of PyTorch's profiler of each rank")
    parser.add_argument("--without-stacks", action="store_true", help="of that trace")
    return parser.parse_args()


def profiler(args):
    """Of 24 steps: 12 before the fault begins and 12 with it."""
    if not args.profile:
        return contextlib.nullcontext()
    first = args.from_iteration - 12

    def write(done):
        done.export_chrome_trace(f"{args.profile}/rank{dist.get_rank()}.json.gz")

    return torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], with_stack=not args.without_stacks, on_trace_ready=write,
        schedule=torch.profiler.schedule(wait=first - 1, warmup=1, active=24, repeat=1))


class Plant:
    def __init__(self, args):
        self.args, self.iteration = args, 0
        self.mine = args.case != "none" and args.rank in (dist.get_rank(), -1)

    def due(self, where, iteration=None):
        at = self.iteration if iteration is None else iteration
        return (self.mine and self.args.at == where and at >= self.args.from_iteration
                and (at == self.args.from_iteration if where == "once" else at % self.args.every == 0))

    def act(self, where, *more, iteration=None):
        if self.due(where, iteration):
            act = next(getattr(each, self.args.case) for each in MODULES if hasattr(each, self.args.case))
            act(self.args.seconds, *more)


class Samples(Dataset):
    def __init__(self, plant):
        self.plant = plant

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if get_worker_info():
            self.plant.iteration = index  # of this process, which counts none of its own
        self.plant.act("dataset", iteration=index)
        generator = torch.Generator().manual_seed(index)
        return torch.randn(BATCH, WIDTH, generator=generator)


def main():
    args = arguments()
    meeting.join(args)
    run(args)
    meeting.part()


def run(args):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    plant = Plant(args)

    def collate(batch):
        plant.act("collate")
        return batch[0]

    layers = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(6)]
    plain = nn.Sequential(*layers)
    plain[2].register_forward_pre_hook(lambda module, inputs: plant.act("forward"))
    model = DistributedDataParallel(plain, bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    optimizer.register_step_pre_hook(lambda *_: plant.act("optimizer"))
    loader = DataLoader(Samples(plant), batch_size=1, collate_fn=collate, num_workers=args.workers)
    batches = iter(loader)
    with profiler(args) as profiled:
        train(args, plant, plain, model, optimizer, batches, profiled)


def train(args, plant, plain, model, optimizer, batches, profiled):
    start, mark = time.perf_counter(), args.from_iteration if args.mark < 0 else args.mark
    for iteration in range(args.iterations):
        plant.iteration = iteration
        if iteration == mark and dist.get_rank() == 0 and args.case != "none":
            print("the fault begins", flush=True)
        batch = next(batches)
        if plant.due("batch"):
            batch = batch.repeat(10, 1)
        output = model(batch)
        if plant.due("backward"):
            output.register_hook(lambda gradient: plant.act("backward"))
        loss = F.mse_loss(output, torch.zeros_like(output))
        loss.backward()
        plant.act("step")
        plant.act("once")
        plant.act("model", plain, batch)
        mean = loss.detach().reshape(1).clone()
        dist.all_reduce(mean)
        optimizer.step()
        optimizer.zero_grad()
        if dist.get_rank() == 0 and iteration % 20 == 19:
            print(f"iteration {iteration + 1}: {50 * (time.perf_counter() - start):.1f} ms an iteration", flush=True)
            start = time.perf_counter()
        if profiled is not None:
            profiled.step()


if __name__ == "__main__":
    main()
