"""A small transformer whose layers are sharded with fully_shard (FSDP 2) on one GPU that all ranks share.

torchrun --nproc-per-node 2 fsdp.py --fault slow-compute --rank 0 --from-iteration 20
"""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader

from ddp import BATCH, LENGTH, Model
from faults import Batches, Fault, Profiler, Progress, arguments, start


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    start()
    fault = Fault(args)
    model = Model(fault).cuda()
    for layer in model.encoder.layers:
        fully_shard(layer)
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Batches(fault, BATCH, LENGTH + 1), batch_size=None))
    progress, profiler = Progress(), Profiler(args)
    for iteration in range(args.iterations):
        profiler.step(iteration)
        fault.iteration = iteration
        tokens = next(batches).cuda(non_blocking=True)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 512).float(), tokens[:, 1:].reshape(-1))
        loss.backward()
        fault.before_step()
        mean_loss = fault.mean(loss)
        optimizer.step()
        optimizer.zero_grad()
        progress.show(iteration, mean_loss)
    profiler.step(args.iterations)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
