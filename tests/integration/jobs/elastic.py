"""Trains a little, for ever the same: elastic.py FOLDER STEPS. A checkpoint every ten steps, loaded at the start.

On the node SICK (a variable) each step from FIRST_SLOW on needs a multiple of the time. Ends after STEPS, or soon
after FOLDER/finish is there. Prints "step N of NODE" for each, "loaded N", and at the end writes
FOLDER/result: the last step and the parameters, bit by bit.
"""
import gc
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

PACE_S = 0.04
EVERY = 10


def newest(folder):
    found = sorted((int(file.stem.split("-")[1]), file) for file in folder.glob("step-*.pt"))
    return found[-1] if found else (0, None)


class Training:
    def __init__(self, folder):
        self.folder, self.rank, self.node = folder, dist.get_rank(), os.environ["NODE"]
        self.sick = self.node == os.environ.get("SICK")
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.work = torch.ones(192, 192)
        self.first, file = newest(folder)
        if file:
            state = torch.load(file)
            self.model.module.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        print(f"loaded {self.first}", flush=True)

    def compute(self, seconds):
        """What a slower machine needs longer for: the same work, again and again."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            torch.mm(self.work, self.work)

    def step(self, number):
        data = torch.randn(32, 64, generator=torch.Generator().manual_seed(1000 * number + self.rank))
        loss = self.model(data).square().mean()
        if self.sick and number >= int(os.environ["FIRST_SLOW"]):
            self.compute(4 * PACE_S)
        time.sleep(PACE_S)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        print(f"step {number} of {self.node}", flush=True)

    def save(self, step):
        half = self.folder / f"tmp_step-{step}.pt"
        torch.save({"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict()}, half)
        half.rename(self.folder / f"step-{step}.pt")

    def finished(self):
        """Whether rank 0 was told to finish: all ranks must end at the same step."""
        told = torch.tensor([float(self.rank == 0 and (self.folder / "finish").exists())])
        dist.all_reduce(told)
        return told.item() > 0

    def run(self, steps):
        done = self.first
        for number in range(self.first, steps):
            self.step(number)
            done = number + 1
            if done % EVERY == 0 and self.rank == 0:
                self.save(done)
            if self.finished():
                break
        if self.rank == 0:
            bits = [parameter.detach().numpy().tobytes().hex() for parameter in self.model.module.parameters()]
            (self.folder / "result").write_text("\n".join([str(done), *bits]))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    dist.init_process_group("gloo")
    Training(pathlib.Path(sys.argv[1])).run(int(sys.argv[2]))
    dist.barrier()
    # Gloo's threads must be gone before the interpreter ends, see exact.py.
    gc.collect()
    dist.destroy_process_group()


main()
