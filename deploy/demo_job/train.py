"""A small language model trained with DistributedDataParallel on the CPU; knows nothing of fathom.

torchrun --nproc-per-node 4 train.py --fault slow-python --rank 2 --from-iteration 100
"""
import argparse
import gc
import os
import signal
import subprocess
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

WIDTH, LENGTH, VOCABULARY, BATCH = 128, 48, 512, 4
FAULTS = ("none", "slow-python", "slow-compute", "dataloader", "gc", "stop")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=260)
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--rank", type=int, default=2, help="the rank with the fault")
    parser.add_argument("--from-iteration", type=int, default=100, help="first iteration with the fault, from 0")
    parser.add_argument("--seconds", type=float, default=0.1, help="size of slow-python and dataloader")
    parser.add_argument("--metrics-every", type=int, default=0,
                        help="every rank writes metrics in each so many-th iteration; 0: never")
    parser.add_argument("--stop-seconds", type=float, default=30, help="after which `stop` resumes")
    return parser.parse_args()


class Fault:
    """What goes wrong on one rank from one iteration on."""

    def __init__(self, args):
        self.args, self.iteration = args, 0
        self.here = dist.get_rank() == args.rank and args.fault != "none"
        self.heap = [{"id": i} for i in range(400_000)] if self.here and args.fault == "gc" else None

    def now(self, kind):
        return self.here and self.args.fault == kind and self.iteration >= self.args.from_iteration

    def stop_once(self):
        if self.now("stop") and self.iteration == self.args.from_iteration:
            resume = f"sleep {self.args.stop_seconds}; kill -CONT {os.getpid()}"
            subprocess.Popen(["sh", "-c", resume])
            os.kill(os.getpid(), signal.SIGSTOP)


class Tokens(IterableDataset):
    """Random token sequences, the same on every run."""

    def __init__(self, fault):
        self.fault = fault
        self.generator = torch.Generator().manual_seed(dist.get_rank())

    def __iter__(self):
        while True:
            if self.fault.now("dataloader"):
                time.sleep(self.fault.args.seconds)
            yield torch.randint(0, VOCABULARY, (BATCH, LENGTH + 1), generator=self.generator)


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embed(tokens)
        if self.fault.now("slow-compute"):
            with torch.no_grad():
                for _ in range(40):
                    self.encoder(x)
        return self.head(self.encoder(x))


def write_metrics(seconds):
    time.sleep(seconds)


def train(args):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    fault = Fault(args)
    model = DistributedDataParallel(Model(fault), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Tokens(fault), batch_size=None))
    start = time.perf_counter()
    for iteration in range(args.iterations):
        fault.iteration = iteration
        tokens = next(batches)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        loss.backward()
        if fault.now("slow-python"):
            write_metrics(args.seconds)
        if fault.now("gc"):
            gc.collect()
        fault.stop_once()
        if args.metrics_every and iteration % args.metrics_every == 0:
            write_metrics(args.seconds)
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        optimizer.step()
        optimizer.zero_grad()
        if dist.get_rank() == 0 and iteration % 20 == 19:
            now = time.perf_counter()
            print(f"iteration {iteration + 1:4d}: loss {mean.item() / dist.get_world_size():.3f}, "
                  f"{50 * (now - start):.0f} ms an iteration", flush=True)
            start = now


def main():
    args = parse_arguments()
    dist.init_process_group("gloo")
    train(args)
    dist.barrier()
    # Gloo's threads let go of the last works of backward meanwhile: while the interpreter ends, one that wants Python's
    # lock for it aborts the process (pytorch/pytorch#190489), and DDP's reducer keeps them to the end.
    time.sleep(0.1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
