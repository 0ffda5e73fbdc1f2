"""A small job on a grid of tensor and data groups that can hang, or only look as if it did.

    torchrun --nproc-per-node 4 hang.py --happens skip --rank 2 --from-iteration 40 --iterations 200

Every rank holds a slice of two layers, sums over its tensor group, shares gradients over its data
group, and joins all others for the mean loss. It knows nothing of any tracer. When the event begins
the rank that it is on prints "event".
"""
import argparse
import ctypes
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

HANGS = ("lock", "gil", "sleep", "size", "skip", "order", "exit", "kill", "first-op", "group",
         "heartbeat")
CONFUSERS = ("none", "checkpoint", "evaluation", "save", "pause", "input", "loader", "first-step", "join",
             "compile", "slow-save", "late-init", "late-group", "beats", "heartbeat-stops")
BEATING = ("heartbeat", "beats", "heartbeat-stops")
WIDTH = 96


class Batches(Dataset):
    def __init__(self, job):
        self.job = job

    def __len__(self):
        return self.job.args.iterations

    def __getitem__(self, iteration):
        if iteration == self.job.args.from_iteration and self.job.mine("loader"):
            self.job.announce()
            time.sleep(self.job.args.seconds)
        return torch.randn(16, WIDTH, generator=torch.Generator().manual_seed(iteration))


class Job:
    def __init__(self, args):
        self.args, self.rank, self.world = args, dist.get_rank(), dist.get_world_size()
        self.iteration = 0
        self.tensor = self.subgroups("TENSOR", [range(i, i + 2) for i in range(0, self.world, 2)])
        self.data = self.subgroups("DATA", [range(i, self.world, 2) for i in range(2)])
        if args.happens in BEATING:
            threading.Thread(target=self.beat, args=(dist.new_group(group_desc="HEARTBEAT"),), daemon=True).start()
        self.layers = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.Linear(WIDTH, WIDTH))

    def subgroups(self, description, all_members):
        mine = None
        for members in all_members:
            group = dist.new_group(list(members), group_desc=description)
            mine = group if self.rank in members else mine
        return mine

    def beat(self, group):
        """As a monitor does: on a thread and a communicator of its own, whatever the training does."""
        try:
            while True:
                if self.mine("heartbeat-stops") and self.iteration >= self.args.from_iteration:
                    self.announce()
                    return
                dist.all_reduce(torch.ones(1), group=group)
                time.sleep(0.2)
        except RuntimeError:
            pass  # the job is over

    def mine(self, event):
        return self.rank == self.args.rank and self.args.happens == event

    def announce(self):
        print(f"event {self.args.happens} on rank {self.rank}", flush=True)

    def now(self, event):
        if not self.mine(event) or self.iteration != self.args.from_iteration:
            return False
        self.announce()
        return True

    def work(self, batch):
        out = self.layers(batch)
        if not self.now("skip"):
            dist.all_reduce(out.detach(), group=self.tensor)
        loss = out.square().mean()
        loss.backward()
        self.share_gradients()
        self.happen()
        mean = loss.detach().reshape(1).clone()
        if self.now("size"):
            mean = torch.zeros(4096)
        if self.now("order"):  # the others call the last sum of the tensor group before the one of all
            dist.all_reduce(mean)
            dist.all_reduce(out.detach(), group=self.tensor)
        else:
            dist.all_reduce(out.detach(), group=self.tensor)
            dist.all_reduce(mean)
        self.layers.zero_grad()
        return mean[0].item() / self.world

    def share_gradients(self):
        for parameter in self.layers.parameters():
            dist.all_reduce(parameter.grad, group=self.data)

    def happen(self):
        if self.now("lock") or self.now("group") or self.now("heartbeat"):
            wait_for_worker()
        if self.now("late-group"):
            time.sleep(self.args.seconds)
        if self.args.happens in ("group", "late-group") and self.iteration == self.args.from_iteration:
            dist.new_group(list(range(self.world)))
        if self.now("gil"):
            threading.Thread(target=ctypes.PyDLL(None).sleep, args=(100_000,), daemon=True).start()
            time.sleep(0)
        if self.now("sleep"):
            time.sleep(100_000)
        if self.now("exit"):
            os._exit(3)
        if self.now("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.now("checkpoint"):  # waits for a slow file system
            time.sleep(self.args.seconds)
        if self.now("save"):
            save_for(self.args.seconds)
        if self.now("compile"):
            compile_for(self.args.seconds)
        if self.now("slow-save"):
            torch.save(self.layers.state_dict(), SlowFile(self.args.seconds))
        if self.now("evaluation"):
            evaluate_for(self.args.seconds, self.layers)
        if self.now("pause"):
            resume_later(self.args.seconds)
            os.kill(os.getpid(), signal.SIGSTOP)
        if self.now("input"):  # as at a breakpoint
            wait_for_input(self.args.seconds)


def wait_for_worker():
    lock, held = threading.Lock(), threading.Event()

    def hold():
        with lock:
            held.set()
            time.sleep(100_000)

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    with lock:
        pass


def save_for(seconds):
    state, end = [torch.randn(64, 1024) for _ in range(16)], time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            torch.save(state, pathlib.Path(folder) / "checkpoint.pt")


def compile_for(seconds):
    """As a compiler that a pool of workers runs: the training thread sleeps on a lock meanwhile."""
    program = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    worker = threading.Thread(target=subprocess.run, args=([sys.executable, "-S", "-c", program],))
    worker.start()
    worker.join()


class SlowFile(io.BytesIO):
    """A file whose first write waits for a storage service, on a lock."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def write(self, data):
        seconds, self.seconds = self.seconds, 0
        threading.Event().wait(seconds)
        return super().write(data)


def evaluate_for(seconds, layers):
    end = time.monotonic() + seconds
    with torch.no_grad():
        while time.monotonic() < end:
            layers(torch.randn(4096, WIDTH))


def resume_later(seconds):
    subprocess.Popen([sys.executable, "-S", "-c", f"import os, time; time.sleep({seconds}); os.kill({os.getpid()}, 18)"],
                     env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})


def wait_for_input(seconds):
    reader, writer = os.pipe()
    threading.Timer(seconds, os.write, (writer, b"continue\n")).start()
    os.read(reader, 16)


def begin(args):
    """All ranks make the first communicator together."""
    here = int(os.environ["RANK"]) == args.rank
    if here and args.happens == "late-init":
        print(f"event {args.happens} on rank {args.rank}", flush=True)
        time.sleep(args.seconds)
    dist.init_process_group("gloo")


def train(args):
    job = Job(args)
    if job.mine("first-op"):
        job.announce()
        wait_for_worker()
    if job.mine("first-step"):
        job.announce()
        time.sleep(args.seconds)
    for iteration, batch in enumerate(DataLoader(Batches(job), batch_size=None)):
        job.iteration = iteration
        loss = job.work(batch)
        time.sleep(args.pace)
        if job.rank == 0 and iteration % 10 == 9:
            print(f"iteration {iteration + 1}: loss {loss:.3f}", flush=True)


def train_unevenly(args):
    """The faulty rank has three quarters of the batches; Join shadows its part of the rest."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(WIDTH, WIDTH))
    iterations = args.iterations * 3 // 4 if dist.get_rank() == args.rank else args.iterations
    with torch.distributed.algorithms.join.Join([model]):
        for iteration in range(iterations):
            model(torch.randn(16, WIDTH)).square().mean().backward()
            model.zero_grad()
            time.sleep(args.pace)
            if dist.get_rank() == 0 and iteration % 10 == 9:
                print(f"iteration {iteration + 1}", flush=True)
    print(f"event join on rank {dist.get_rank()}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--happens", choices=HANGS + CONFUSERS, default="none")
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--from-iteration", type=int, default=40)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20, help="how long a confuser lasts")
    parser.add_argument("--pace", type=float, default=0.02, help="s slept in each iteration, to spare the machine")
    args = parser.parse_args()
    torch.set_num_threads(1)
    begin(args)
    (train_unevenly if args.happens == "join" else train)(args)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
