"""What the shapes beside this file share: the job's place in the world, layers, and batches."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

WIDTH, ROWS = 192, 48


class Samples(Dataset):
    def __init__(self, job, replica):
        self.job, self.replica = job, replica

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        self.job.plants.act("loader")
        generator = torch.Generator().manual_seed(1_000_003 * self.replica + index)
        return torch.randn(ROWS * self.job.plants.times("loader"), WIDTH, generator=generator)


class Marked(nn.Module):
    """A layer in whose forward, and in the backward behind it, a fault may be."""

    def __init__(self, job):
        super().__init__()
        self.job, self.layer = job, nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())

    def forward(self, x):
        self.job.plants.act("forward")
        out = self.layer(x)
        if out.requires_grad and self.job.plants.due("backward"):
            out.register_hook(lambda _: self.job.plants.act("backward"))
        return out


class Job:
    def __init__(self, plants, work):
        self.plants, self.work, self.iteration = plants, work, 0
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def layers(self, count=5):
        plain = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(count * self.work)]
        return nn.Sequential(*plain, Marked(self))

    def batches(self, replica=None):
        return iter(DataLoader(Samples(self, self.rank if replica is None else replica), batch_size=None))

    def drawn(self, low, high, rank=None):
        """A number of this iteration and rank."""
        seed = 7919 * self.iteration + 31 * (self.rank if rank is None else rank)
        return int(torch.randint(low, high, (1,), generator=torch.Generator().manual_seed(seed)))


def loss_of(output):
    return output.square().mean()


def average(parameters, group=None):
    """The gradients' mean, one all-reduce for all of them."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([g.reshape(-1) for g in gradients])
    dist.all_reduce(flat, group=group)
    flat /= dist.get_world_size(group)
    at = 0
    for gradient in gradients:
        gradient.copy_(flat[at:at + gradient.numel()].view_as(gradient))
        at += gradient.numel()
