"""A small transformer whose parameters are sharded by fully_shard: gathered a block at a time, gradients scattered.

torchrun --nproc-per-node 4 fsdp.py --fault gc --rank 2 --from-iteration 0
"""
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from faults import arguments
from training import VOCABULARY, WIDTH, begin, block, loss_of, train


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(block() for _ in range(2))
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.spare = [block()]  # sharded by nobody

    def forward(self, tokens):
        x = self.embed(tokens)
        self.fault.extra_compute(self.spare[0], x)
        for each in self.blocks:
            x = each(x)
        return self.head(x)


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    fault = begin(args)
    mesh = init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    model = Model(fault)
    for each in model.blocks:
        fully_shard(each, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batches):
        loss = loss_of(model, batches[0])
        loss.backward()
        fault.before_step()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    train(args, fault, step)


if __name__ == "__main__":
    main()
