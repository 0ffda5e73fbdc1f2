"""DistributedDataParallel that adds up the gradients of four batches before it reduces them.

torchrun --nproc-per-node 4 accumulate.py --fault dataloader --rank 0 --from-iteration 0
"""
import contextlib

import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

from faults import arguments
from training import VOCABULARY, WIDTH, begin, block, loss_of, train

BATCHES = 4


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault, self.calls = fault, 0
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.block = block()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embed(tokens)
        if self.calls % BATCHES == 0:
            self.fault.extra_compute(self.block, x)
        self.calls += 1
        return self.head(self.block(x))


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    fault = begin(args)
    model = DistributedDataParallel(Model(fault), bucket_cap_mb=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batches):
        for number, tokens in enumerate(batches):
            last = number + 1 == len(batches)
            with contextlib.nullcontext() if last else model.no_sync():
                loss = loss_of(model, tokens)
                loss.backward()
        fault.before_step()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    train(args, fault, step, BATCHES)


if __name__ == "__main__":
    main()
