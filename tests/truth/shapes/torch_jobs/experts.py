"""A layer of experts, one a rank: tokens go there and back by all-to-all, as many to each; gradients are averaged.

torchrun --nproc-per-node 4 experts.py --fault slow-compute --rank 1 --from-iteration 0
"""
import torch
import torch.distributed as dist
import torch.nn as nn

from faults import arguments
from training import VOCABULARY, WIDTH, average, begin, block, loss_of, train


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        dist.all_to_all_single(out, grad.contiguous())
        return out


class Experts(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.expert = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        tokens = Exchange.apply(x.reshape(-1, WIDTH))
        self.fault.extra_compute(self.expert, tokens)
        return x + Exchange.apply(self.expert(tokens)).view_as(x)


class Model(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.dense = block()
        self.experts = nn.ModuleList(Experts(fault) for _ in range(2))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.dense(self.embed(tokens))
        for each in self.experts:
            x = each(x)
        return self.head(x)


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    fault = begin(args)
    model = Model(fault)
    own = {id(p) for each in model.experts for p in each.parameters()}
    shared = [p for p in model.parameters() if id(p) not in own]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batches):
        loss = loss_of(model, batches[0])
        loss.backward()
        fault.before_step()
        average(shared)
        optimizer.step()
        optimizer.zero_grad()
        return loss

    train(args, fault, step)


if __name__ == "__main__":
    main()
