"""A training loop on one GPU for deploy/gpu-check: the same numbers with and without the tracer.

    job.py ITERATIONS plain|graph|profile|late-profile ADDRESS

Each iteration ends with an all-reduce of the loss on a Gloo group of one, so that the tracer has an
op to tie its records to. Prints one JSON line: losses, ms an iteration, and with `profile` what
PyTorch's own profiler counted an iteration; with `late-profile` in the second half of them.
"""
import json
import statistics
import sys
import time

import torch
import torch.distributed as dist

iterations, mode = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = False  # no kernels of its own
dist.init_process_group("gloo", init_method=sys.argv[3], rank=0, world_size=1)
model = torch.nn.Sequential(*[layer for _ in range(12) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
batch = torch.randn(256, 512, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=False)
    loss = model(batch).square().mean()
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()  # as PyTorch asks before a capture
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(5):
        step()
torch.cuda.current_stream().wait_stream(side)
torch.cuda.synchronize()
graph, held = None, None
if mode == "graph":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        held = step()

losses, times = [], []


def loop(count):
    for _ in range(count):
        begin = time.perf_counter()
        loss = held if graph is not None and graph.replay() is None else step()
        value = torch.tensor([loss.item()])
        dist.all_reduce(value)
        losses.append(value.item())
        times.append(1000 * (time.perf_counter() - begin))


def is_kernel(event):
    """A kernel on the GPU, and neither a copy nor a range that somebody named (Optimizer.step)."""
    return (event.device_type == torch.autograd.DeviceType.CUDA and not getattr(event, "is_user_annotation", False)
            and not event.name.startswith(("Memcpy", "Memset", "Optimizer.")))


def profiled_loop(count):
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        loop(count)
    events = profiled.events()
    return {"launches": sum("LaunchKernel" in event.name for event in events) / count,
            "kernels": sum(map(is_kernel, events)) / count}


result = {}
if mode == "profile":
    result = profiled_loop(iterations)
elif mode == "late-profile":
    loop(iterations - iterations // 2)
    result = profiled_loop(iterations // 2)
else:
    loop(iterations)
result.update(losses=losses[:3] + losses[-3:], ms=statistics.median(times), torch=torch.__version__,
              cuda=torch.version.cuda, gpu=torch.cuda.get_device_name())
print(json.dumps(result))
dist.destroy_process_group()
