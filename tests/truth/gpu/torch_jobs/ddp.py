"""A small transformer trained with DistributedDataParallel on one GPU that all ranks share.

torchrun --nproc-per-node 2 ddp.py --fault slow-python --rank 1 --from-iteration 20
"""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from faults import Batches, Fault, Profiler, Progress, arguments, start

BATCH, LENGTH, WIDTH, LAYERS = 64, 256, 512, 6


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(512, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS)
        self.head = nn.Linear(WIDTH, 512)

    def forward(self, tokens):
        x = self.embed(tokens)
        self.fault.extra_compute()
        return self.head(self.encoder(x))


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    start()
    fault = Fault(args)
    model = DistributedDataParallel(Model(fault).cuda(), bucket_cap_mb=10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Batches(fault, BATCH, LENGTH + 1), batch_size=None))
    progress, profiler = Progress(), Profiler(args)
    for iteration in range(args.iterations):
        profiler.step(iteration)
        fault.iteration = iteration
        tokens = next(batches).cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
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
