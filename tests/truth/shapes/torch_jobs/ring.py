"""A sequence cut over all ranks: keys and values go round a ring by send and receive; gradients are averaged.

torchrun --nproc-per-node 4 ring.py --fault slow-python --rank 3 --from-iteration 0
"""
import torch
import torch.distributed as dist
import torch.nn as nn

from faults import arguments
from training import VOCABULARY, WIDTH, average, begin, loss_of, train


def passed_on(x):
    """What the rank before has, while the next one gets x."""
    rank, world = dist.get_rank(), dist.get_world_size()
    out = torch.empty_like(x)
    sends = [dist.P2POp(dist.isend, x.contiguous(), (rank + 1) % world),
             dist.P2POp(dist.irecv, out, (rank - 1) % world)]
    for work in dist.batch_isend_irecv(sends):
        work.wait()
    return out


class RingAttention(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        query, key, value = self.query(x), self.key(x), self.value(x)
        self.fault.extra_compute(self.mlp, x)
        mixed = 0
        for hop in range(dist.get_world_size()):
            mixed = mixed + torch.softmax(query @ key.transpose(1, 2), -1) @ value
            if hop + 1 < dist.get_world_size():
                key, value = passed_on(key.detach()), passed_on(value.detach())
        return x + self.mlp(x + mixed)


def main():
    args = arguments(__doc__.splitlines()[0]).parse_args()
    fault = begin(args)
    model = nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), RingAttention(fault), RingAttention(fault),
                          nn.Linear(WIDTH, VOCABULARY))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batches):
        loss = loss_of(model, batches[0])
        loss.backward()
        fault.before_step()
        average(model.parameters())
        optimizer.step()
        optimizer.zero_grad()
        return loss

    train(args, fault, step)


if __name__ == "__main__":
    main()
