"""One of two tensor-parallel ranks for deploy/gpu-check: what tracers with timing events have slowed down.

    tensor_parallel.py ITERATIONS plain ADDRESS     (RANK and WORLD_SIZE from the environment)

Layers of Megatron's kind: first matrix cut by columns, second by rows, the sum of the outputs all-reduced;
backward, the gradient of the input is all-reduced while the GPU computes the gradient of the weights, which
only overlaps as it should where kernels reach the GPU in the order of CUDA_DEVICE_MAX_CONNECTIONS=1.
Prints one JSON line: ms an iteration in the middle, a loss. Without a GPU on the CPU, small: a dry run.
"""
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist

iterations = int(sys.argv[1])
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
on_gpu = torch.cuda.is_available()
device = torch.device("cuda", 0) if on_gpu else torch.device("cpu")
if not on_gpu:
    torch.set_num_threads(1)
LAYERS, WIDTH, TOKENS = (8, 2048, 2048) if on_gpu else (2, 64, 32)
dist.init_process_group("nccl" if on_gpu else "gloo", init_method=sys.argv[3], rank=rank, world_size=world)


class Column(torch.autograd.Function):
    """x·w; backward, the sum of x's gradient over the ranks runs beside w's."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        of_x = gradient @ w.t()
        under_way = dist.all_reduce(of_x, async_op=True)
        of_w = x.t() @ gradient
        under_way.wait()
        return of_x, of_w


class Sum(torch.autograd.Function):
    """The sum over the ranks; its gradient is the same on all."""

    @staticmethod
    def forward(ctx, x):
        del ctx
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        del ctx
        return gradient


def synchronize():
    if on_gpu:
        torch.cuda.synchronize()


torch.manual_seed(rank)
layers = [[(torch.randn(shape, device=device) / WIDTH ** 0.5).requires_grad_() for shape in
           ((WIDTH, 4 * WIDTH // world), (4 * WIDTH // world, WIDTH))] for _ in range(LAYERS)]
torch.manual_seed(7)
tokens = torch.randn(TOKENS, WIDTH, device=device)
took, loss = [], 0.0
for iteration in range(iterations + 10):
    synchronize()
    begin = time.perf_counter()
    x = tokens
    for columns, rows in layers:
        x = x + Sum.apply(torch.relu(Column.apply(x, columns)) @ rows)
    total = x.square().mean()
    total.backward()
    with torch.no_grad():
        for weight in (w for layer in layers for w in layer):
            weight -= 1e-3 * weight.grad
            weight.grad = None
    synchronize()
    if iteration >= 10:
        took.append((time.perf_counter() - begin) * 1e3)
    loss = total.item()
print(json.dumps({"ms": statistics.median(took), "loss": loss}))
dist.destroy_process_group()
