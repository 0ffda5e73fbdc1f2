"""Each rank trains by itself and the parameters are averaged in every fourth step: ranks meet seldom.

torchrun --nproc-per-node 4 local.py --fault slow-compute --rank 2 --from-iteration 0
"""
import torch
import torch.distributed as dist
import torch.nn as nn

from faults import arguments
from training import VOCABULARY, WIDTH, begin, block, loss_of, train

STEPS = 4


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.block = block()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.embed(tokens)
        self.fault.extra_compute(self.block, x)
        return self.head(self.block(x))


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    args.repeats //= STEPS
    fault = begin(args)
    model = Model(fault)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batches):
        for tokens in batches:
            loss = loss_of(model, tokens)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        fault.before_step()
        with torch.no_grad():
            for parameter in model.parameters():
                dist.all_reduce(parameter)
                parameter /= dist.get_world_size()
        return loss

    train(args, fault, step, STEPS)


if __name__ == "__main__":
    main()
