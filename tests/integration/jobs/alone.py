"""A training process on its own: no launcher, no process group. Its model is small, its batches are slow or not.

python alone.py STEPS BATCH_SECONDS COMPUTE_ROUNDS

ALONE_FAULT, which no argument tells, makes all of it slower: loader (each batch takes 2 ms more), churn (each step
allocates and frees many tensors), shapes (each operator gets a sixth more rows; a wider
layer would be another job, for it has other parameters).
"""
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Batches(Dataset):
    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.randn(64)


def main(steps, batch_seconds, rounds):
    fault = os.environ.get("ALONE_FAULT", "")
    batch_seconds += 0.002 if fault == "loader" else 0
    rows = 75 if fault == "shapes" else 64
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.GELU(), torch.nn.Linear(512, 64))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for x in DataLoader(Batches(4 * steps, batch_seconds / 4), batch_size=4):
        for _ in range(rounds):
            loss = (model(x.repeat(rows, 1)) - x.repeat(rows, 1)).square().mean()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if fault == "churn":
            kept = [torch.empty(1 << 16).fill_(1) for _ in range(60)]
            del kept
    print(f"{loss.item():.6f}", flush=True)


main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
