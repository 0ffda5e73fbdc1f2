"""Shapes in which ranks exchange what they made: tokens for experts, embeddings, gradients for a server."""
import torch
import torch.distributed as dist

from parts import ROWS, WIDTH, average, loss_of
from replicas import finish, sgd


class Exchange(torch.autograd.Function):
    """all_to_all_single of rows, and back."""

    @staticmethod
    def forward(ctx, x, sent, got):
        ctx.splits = sent, got
        out = x.new_empty(sum(got), x.shape[1])
        dist.all_to_all_single(out, x.contiguous(), got, sent)
        return out

    @staticmethod
    def backward(ctx, grad):
        sent, got = ctx.splits
        out = grad.new_empty(sum(sent), grad.shape[1])
        dist.all_to_all_single(out, grad.contiguous(), sent, got)
        return out, None, None


def routed(job, hot):
    """How many of its rows each rank gets: drawn; the expert of the last rank gets most, if it is hot."""
    weights = torch.rand(job.world, generator=torch.Generator().manual_seed(101 * job.iteration + job.rank)) + 0.5
    if hot:
        weights[-1] += 1.5 * job.world
    edges = (weights.cumsum(0) / weights.sum() * 4 * ROWS).round().long()
    return torch.diff(edges, prepend=torch.zeros(1, dtype=torch.long)).tolist()


def experts(job, hot=False):
    dense, expert = job.layers(1), job.layers(3)
    optimizer = torch.optim.SGD([*dense.parameters(), *expert.parameters()], lr=0.001)
    batches = job.batches()

    def step():
        x = dense(next(batches)).repeat(4, 1)[:4 * ROWS]
        sent = routed(job, hot)
        counts = torch.tensor(sent)
        got = torch.empty_like(counts)
        dist.all_to_all_single(got, counts)
        got = got.tolist()
        back = Exchange.apply(expert(Exchange.apply(x, sent, got)), got, sent)
        loss_of(x + back).backward()
        average(dense.parameters())
        finish(job, optimizer)

    return step


def hot_expert(job):
    return experts(job, hot=True)


def embeddings(job):
    """Each rank has a table; rows go to all by an exchange that is awaited behind the lower layers."""
    table = torch.nn.Embedding(4096, WIDTH)
    lower, upper = job.layers(2), job.layers(2)
    optimizer = torch.optim.SGD([*lower.parameters(), *upper.parameters()], lr=0.001)
    batches, even = job.batches(), ROWS // job.world * job.world

    def step():
        rows = table(torch.arange(even) + job.drawn(0, 4000, 0)).detach()
        theirs = torch.empty_like(rows)
        work = dist.all_to_all_single(theirs, rows, async_op=True)
        below = lower(next(batches))
        work.wait()
        loss_of(upper(below[:even] + theirs)).backward()
        average([*lower.parameters(), *upper.parameters()])
        finish(job, optimizer)

    return step


def flat(model, of):
    return torch.cat([of(p).reshape(-1) for p in model.parameters()])


def server(job):
    """Rank 0 gets each worker's gradients by a message, updates, and sends the parameters back."""
    model = job.layers()
    optimizer, batches = sgd(model), job.batches()
    own = flat(model, torch.Tensor.detach)

    def serve():
        gradients = torch.zeros_like(own)
        for worker in range(1, job.world):
            part = torch.empty_like(own)
            dist.recv(part, worker)
            gradients += part
        job.plants.act("step")
        own.sub_(gradients, alpha=0.001)
        for worker in range(1, job.world):
            dist.send(own, worker)

    def work():
        loss_of(model(next(batches))).backward()
        job.plants.act("step")
        dist.send(flat(model, lambda p: p.grad), 0)
        optimizer.zero_grad()
        dist.recv(own, 0)
        torch.nn.utils.vector_to_parameters(own, model.parameters())

    return serve if job.rank == 0 else work


def gathered(job):
    """Rank 0 gathers the gradients, updates, and broadcasts the parameters."""
    model = job.layers()
    optimizer, batches = sgd(model), job.batches()

    def step():
        loss_of(model(next(batches))).backward()
        job.plants.act("step")
        mine = flat(model, lambda p: p.grad)
        dist.gather(mine, [torch.empty_like(mine) for _ in range(job.world)] if job.rank == 0 else None)
        if job.rank == 0:
            optimizer.step()
        optimizer.zero_grad()
        own = flat(model, torch.Tensor.detach)
        dist.broadcast(own, 0)
        torch.nn.utils.vector_to_parameters(own, model.parameters())

    return step


SHAPES = {each.__name__: each for each in (experts, hot_expert, embeddings, server, gathered)}
