"""Trains a small model over Gloo on sequences whose length is one rank's own: unequal work, and no device is slow.

    torchrun --nproc-per-node=4 uneven.py --rank 2 --times 2 --from-iteration 0     rank 2 gets twice as long ones
    torchrun --nproc-per-node=4 uneven.py --vary                                    lengths are drawn, on all ranks
"""
import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH, LENGTH, WIDTH, VOCABULARY = 8, 64, 128, 256


class Sequences(Dataset):
    def __init__(self, args, rank):
        self.args, self.rank = args, rank

    def __len__(self):
        return self.args.iterations

    def length(self, iteration, generator):
        if self.args.vary:
            return int(torch.randint(LENGTH // 2, 2 * LENGTH, (1,), generator=generator))
        longer = self.rank == self.args.rank and iteration >= self.args.from_iteration
        return int(LENGTH * (self.args.times if longer else 1))

    def __getitem__(self, iteration):
        generator = torch.Generator().manual_seed(1_000_003 * self.rank + iteration)
        length = self.length(iteration, generator)
        tokens = torch.randint(0, VOCABULARY, (BATCH, length + 1), generator=generator)
        return {"weight": torch.ones(BATCH), "tokens": tokens}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
                                      for _ in range(4)))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, default=-1)
    parser.add_argument("--times", type=float, default=2)
    parser.add_argument("--from-iteration", type=int, default=0)
    parser.add_argument("--iterations", type=int, default=150)
    parser.add_argument("--vary", action="store_true")
    return parser.parse_args()


def train(args):
    torch.set_num_threads(1)
    torch.manual_seed(7)
    model = nn.parallel.DistributedDataParallel(Model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in DataLoader(Sequences(args, dist.get_rank()), batch_size=None):
        tokens = batch["tokens"]
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    args = arguments()
    dist.init_process_group("gloo")
    train(args)
    # Gloo's threads let go of the last works of backward meanwhile: while the interpreter ends, one that wants Python's
    # lock for it aborts the process (pytorch/pytorch#190489), and DDP's reducer keeps them to the end.
    time.sleep(0.1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
