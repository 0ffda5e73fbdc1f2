"""Trains one of SHAPES for some iterations, with what a case plants.

torchrun --nproc-per-node 4 train.py --shape hsdp --plant sleep:backward:3:1:0.03
"""
import argparse
import contextlib
import pathlib
import sys

import torch
import torch.distributed as dist

import exchanging
import meshes
import replicas
from parts import Job
from plants import Plants

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "case_jobs"))
import meeting  # noqa: E402

SHAPES = {**replicas.SHAPES, **meshes.SHAPES, **exchanging.SHAPES}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, required=True)
    parser.add_argument("--plant", default="")
    parser.add_argument("--from-iteration", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--work", type=int, default=1, help="so many times the layers")
    parser.add_argument("--network", default="", help="rank R lives in the network namespace NETWORK-R")
    parser.add_argument("--store", default="", help="where its ranks meet")
    parser.add_argument("--profile", default="", help="a folder for a trace of PyTorch's profiler of each rank")
    parser.add_argument("--active", type=int, default=3, help="steps that it records, the last ones")
    parser.add_argument("--stacks", action="store_true", help="with them")
    parser.add_argument("--shapes", action="store_true", help="of tensors, and the other ends of messages")
    return parser.parse_args()


def profiler(args):
    if not args.profile:
        return contextlib.nullcontext()

    def write(done):
        done.export_chrome_trace(f"{args.profile}/rank{dist.get_rank()}.json.gz")

    wait = args.iterations - args.active - 1
    return torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], with_stack=args.stacks,
        record_shapes=args.shapes, on_trace_ready=write,
        schedule=torch.profiler.schedule(wait=wait, warmup=1, active=args.active, repeat=1))


def main():
    args = arguments()
    meeting.join(args)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    plants = Plants(args.plant, dist.get_rank(), args.from_iteration)
    job = Job(plants, args.work)
    step = SHAPES[args.shape](job)
    with profiler(args) as profiled:
        for iteration in range(args.iterations):
            plants.iteration = job.iteration = iteration
            if dist.get_rank() == 0:
                print("the fault begins" if iteration == args.from_iteration else f"iteration {iteration}", flush=True)
            step()
            if profiled is not None:
                profiled.step()
    meeting.part()
    plants.end()


if __name__ == "__main__":
    main()
