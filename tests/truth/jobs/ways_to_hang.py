"""Small jobs of three shapes, and ways to hang that real code has: skipped calls, storage, messages.

    torchrun --nproc-per-node 4 ways_to_hang.py --happens fifo --rank 2 --from-iteration 40

data   gradients of three layers are shared one by one; a barrier, objects and a broadcast now and then
pairs  neighbours exchange halves, then all share a mean
pipe   a pipeline with one forward and one backward in turn (1F1B), micro-batches sent and received

The event's iteration must be a multiple of 5. It knows nothing of any tracer. When the event begins the rank that it is on prints "event". With
`--dumps FOLDER` each rank writes its Flight Recorder there 9 s after the event's iteration.
"""
import argparse
import datetime
import os
import pathlib
import queue
import tempfile
import threading
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

DATA = ("except-barrier", "worker", "monitored", "waitpid", "fifo", "store", "root", "object", "new-group", "ahead")
PAIRS = ("alike", "wrong-peer", "send-more")
PIPE = ("swapped",)
SHAPE = {**{name: "data" for name in DATA}, **{name: "pairs" for name in PAIRS}, **{name: "pipe" for name in PIPE}}
WIDTH = 64
BIG = 1 << 16  # elements of a message


class Batches(Dataset):
    def __init__(self, job):
        self.job = job

    def __len__(self):
        return self.job.args.iterations

    def __getitem__(self, iteration):
        # As a lock of a library that another thread held when the worker was forked.
        if iteration == self.job.args.from_iteration + 4 and self.job.mine("worker"):
            stuck = threading.Lock()
            stuck.acquire()
            stuck.acquire()
        return torch.randn(16, WIDTH, generator=torch.Generator().manual_seed(iteration))


class Job:
    def __init__(self, args):
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        self.iteration = 0
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def mine(self, event):
        return self.rank == self.args.rank and self.args.happens == event

    def at(self):
        return self.iteration == self.args.from_iteration

    def now(self, event):
        if not self.mine(event) or not self.at():
            return False
        os.write(1, f"event {self.args.happens} on rank {self.rank}\n".encode())
        return True

    def compute(self, batch):
        for layer in self.layers:
            batch = torch.tanh(layer(batch))
        return batch


class Data(Job):
    def step(self, batch):
        loss = self.compute(batch).square().mean()
        loss.backward()
        self.block()
        try:
            self.share()
        except ValueError:  # "a bad batch is not worth the job"
            pass
        self.layers.zero_grad()

    def share(self):
        for i, parameter in enumerate(self.layers.parameters()):
            if i == 2 and self.now("ahead"):
                raise ValueError("bad batch")
            dist.all_reduce(parameter.grad)
        self.now_and_then()
        dist.all_reduce(torch.ones(1))

    def now_and_then(self):
        try:
            if self.now("except-barrier"):
                raise ValueError("no space left")
            if self.iteration % 5 == 0:
                dist.barrier()
        except ValueError:
            pass
        if self.iteration % 5 == 0:
            scale = torch.ones(WIDTH)
            dist.broadcast(scale, max(1, self.rank) if self.now("root") else 0)
            if not self.now("object"):
                seen = [None] * self.world
                dist.all_gather_object(seen, {"rank": self.rank, "iteration": self.iteration})
        if self.args.happens == "monitored" and self.at():
            if self.now("monitored"):
                queue.Queue().get()
            dist.monitored_barrier(timeout=datetime.timedelta(seconds=600))
        if self.args.happens == "new-group" and self.at():
            self.now("new-group")
            halves = [list(range(self.world // 2)), list(range(self.world))]
            for members in reversed(halves) if self.mine("new-group") else halves:
                dist.new_group(members)

    def block(self):
        if self.now("waitpid"):
            child = os.fork()
            if child == 0:
                time.sleep(1e6)
            os.waitpid(child, 0)
        if self.now("fifo"):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "shard")
                os.mkfifo(path)
                open(path, "rb").read()
        if self.now("store"):
            dist.distributed_c10d._get_default_store().get("a key that nobody sets")


class Pairs(Job):
    """Ranks 2n and 2n + 1 exchange; the even one sends first. Then the same with the other neighbour.
    By the event `alike` an odd rank sends first as its neighbour does, an even one receives first."""

    def step(self, batch):
        self.compute(batch)
        mine, theirs = torch.ones(BIG), torch.empty(BIG)
        for shift in (0, 1):
            even = (self.rank + shift) % 2 == 0
            peer = (self.rank + (1 if even else -1)) % self.world
            sends_first = even
            if shift == 0 and self.now("alike"):
                sends_first = not even
            if shift == 0 and self.now("wrong-peer"):
                dist.recv(theirs, (peer + 2) % self.world)
            if shift == 0 and self.now("send-more"):
                dist.send(mine, (peer + 2) % self.world)
            if sends_first:
                dist.send(mine, peer)
                dist.recv(theirs, peer)
            else:
                dist.recv(theirs, peer)
                dist.send(mine, peer)
        dist.all_reduce(torch.ones(1))


class Pipe(Job):
    """Each stage: warm-up forwards, then one forward and one backward in turn, then the rest."""

    def step(self, batch):
        micro_batches, ahead = 2 * self.world, self.world - 1 - self.rank
        before, after = self.rank - 1, self.rank + 1
        for _ in range(ahead):
            self.exchange(get=before)
            self.exchange(put=after)
        self.exchange(get=before)
        for i in range(ahead, micro_batches):
            # Two backwards in a row: the next stage has none to give before it gets its forward.
            if i == ahead + 2 and self.now("swapped"):
                self.exchange(get=after if after < self.world else before)
            self.exchange(put=after, get=after)
            last = i == micro_batches - 1
            self.exchange(put=before, get=None if last else before)
        for _ in range(ahead):
            self.exchange(get=after)
            self.exchange(put=before)
        dist.all_reduce(torch.ones(1))

    def exchange(self, put=None, get=None):
        """Sends to and receives from other stages at once, then computes on what came."""
        there = [peer if peer is not None and 0 <= peer < self.world else None for peer in (put, get)]
        works = [] if there[0] is None else [dist.isend(torch.ones(BIG), there[0])]
        if there[1] is not None:
            works.append(dist.irecv(torch.empty(BIG), there[1]))
        for work in works:
            work.wait()
        if get is not None:
            self.compute(torch.randn(16, WIDTH))


def dump_later(folder, seconds):
    from torch._C import _distributed_c10d
    dump = getattr(_distributed_c10d, "_dump_fr_trace", None) or _distributed_c10d._dump_nccl_trace

    def write():
        time.sleep(seconds)
        path = pathlib.Path(folder) / f"rank_{dist.get_rank()}"
        path.write_bytes(dump())

    threading.Thread(target=write, daemon=True).start()


def train(job):
    workers = {"num_workers": 1, "multiprocessing_context": "fork"} if job.mine("worker") else {}
    for iteration, batch in enumerate(DataLoader(Batches(job), batch_size=None, **workers)):
        job.iteration = iteration
        if iteration == job.args.from_iteration and job.args.dumps:
            dump_later(job.args.dumps, 9)
        job.now("worker")
        job.step(batch)
        time.sleep(job.args.pace)
        if job.rank == 0 and iteration % 10 == 9:
            os.write(1, f"iteration {iteration + 1}\n".encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--happens", choices=("none", *SHAPE), default="none")
    parser.add_argument("--shape", choices=("data", "pairs", "pipe"), help="where nothing happens")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--from-iteration", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--pace", type=float, default=0.02, help="s slept in each iteration, to spare the machine")
    parser.add_argument("--dumps", help="folder for Flight Recorder dumps")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    shape = SHAPE.get(args.happens, args.shape or "data")
    train({"data": Data, "pairs": Pairs, "pipe": Pipe}[shape](args))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
