"""What the jobs in this folder share: the model's parts, and the loop around one step."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from faults import Batches, Fault, Progress

BATCH, LENGTH, WIDTH, VOCABULARY = 4, 48, 128, 512


def begin(args):
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    return Fault(args)


def block():
    return nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)


def loss_of(model, tokens):
    logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))


def average(parameters):
    """The gradients' mean over all ranks, one all-reduce a parameter."""
    for parameter in parameters:
        if parameter.grad is not None:
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()


def train(args, fault, step, batches_a_step=1):
    """`step` takes the batches of an iteration, and returns its loss with all gradients made."""
    progress = Progress()
    batches = iter(DataLoader(Repeated(fault, args.iterations * batches_a_step), batch_size=None))
    for iteration in range(args.iterations):
        fault.iteration = iteration
        loss = step([next(batches) for _ in range(batches_a_step)])
        progress.show(iteration, fault.mean(loss))
    dist.barrier()
    dist.destroy_process_group()


class Repeated(Batches):
    """The faulty loader is late once an iteration, with its first batch."""

    def __init__(self, fault, length):
        super().__init__(fault, dist.get_rank(), BATCH, LENGTH + 1)
        self.length, self.last = length, -1

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        fault = self.fault
        if fault.iteration == self.last:
            generator = torch.Generator().manual_seed(index)
            return torch.randint(0, VOCABULARY, self.shape, generator=generator)
        self.last = fault.iteration
        return super().__getitem__(index)
