"""Trains a little, for ever the same: elastic.py FOLDER STEPS. A checkpoint every ten steps, loaded at the start.

Prints "step N of NODE" for each, and at the end writes FOLDER/result: the parameters, bit by bit."""
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(7)
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
found = sorted((int(file.stem.split("-")[1]), file) for file in folder.glob("step-*.pt"))
first = 0
if found:
    first, file = found[-1]
    state = torch.load(file)
    model.module.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
for step in range(first, steps):
    data = torch.randn(32, 64, generator=torch.Generator().manual_seed(1000 * step + rank))
    loss = model(data).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.05)
    print(f"step {step} of {os.environ['NODE']}", flush=True)
    if (step + 1) % 10 == 0 and rank == 0:
        half = folder / f"tmp_step-{step + 1}.pt"
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, half)
        half.rename(folder / f"step-{step + 1}.pt")
dist.barrier()
if rank == 0:
    bits = [parameter.detach().numpy().tobytes().hex() for parameter in model.module.parameters()]
    (folder / "result").write_text("\n".join(bits))
