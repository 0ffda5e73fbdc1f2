"""One of two NCCL ranks on one GPU for deploy/gpu-check: all-reduces whose sums are known.

    ranks.py ITERATIONS plain|profile|graph ADDRESS     (RANK and WORLD_SIZE from the environment)

Prints one JSON line: sums, NCCL's version, where on the PCI bus PyTorch has its GPU (null where it does not
tell), and with `profile` what PyTorch's own profiler says that an all-reduce takes on the GPU, in the middle.
With `graph` the all-reduce is captured once and replayed.
"""
import json
import os
import statistics
import sys

import torch
import torch.distributed as dist

iterations, mode = int(sys.argv[1]), sys.argv[2]
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(0)
dist.init_process_group("nccl", init_method=sys.argv[3], rank=rank, world_size=world)
sums = []


def loop(count):
    for i in range(count):
        value = torch.full((1 << 18,), float(rank + i), device="cuda")
        dist.all_reduce(value)
        sums.append(value[0].item())


def replay(count):
    value, graph = torch.zeros(1 << 18, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dist.all_reduce(value)
    for i in range(count):
        value.fill_(float(rank + i))
        graph.replay()
        sums.append(value[0].item())


def median_us(profiled):
    kernels = [event for event in profiled.events()
               if event.device_type == torch.autograd.DeviceType.CUDA and event.name.startswith("ncclDev")]
    return statistics.median(event.time_range.elapsed_us() for event in kernels) if kernels else float("nan")


loop(3)
properties = torch.cuda.get_device_properties(0)
result = {"nccl": ".".join(map(str, torch.cuda.nccl.version())),
          "pci": [getattr(properties, f"pci_{part}_id", None) for part in ("domain", "bus", "device")]}
if mode == "profile":
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        loop(iterations)
    result["us"] = median_us(profiled)
elif mode == "graph":
    replay(iterations)
else:
    loop(iterations)
result["sums"] = sums[-3:]
print(json.dumps(result))
dist.destroy_process_group()
