"""What is wrong in a drawn job, and the truth of it. Times in microseconds."""
import math
import random

from traces.plans import NODE

KINDS = ("slow_gpu", "thermal", "slow_memory", "slow_host", "python_pause", "gc", "loader", "synchronises",
         "nic", "link", "nvlink", "two_ranks", "hidden", "healthy", "noisy", "longer_sequences", "heavy_stage")
# Drawn where they are asked for: a node that is hot, a slow PCIe link, and what is nobody's fault: batches
# of other sizes in each step, packed sequences whose attention takes longer without larger grids, rings in
# which the ranks behind compute more, and averaged weights that rank 0 alone keeps.
LATER_KINDS = ("slow_node", "slow_copies", "uneven", "packed", "causal", "averages")
NOBODY = ("hidden", "healthy", "noisy", "longer_sequences", "heavy_stage", "uneven", "packed", "causal", "averages")


class Faults:
    def __init__(self, kind, dice, size, first, steps, late):
        self.kind, self.size = kind, size
        self.begins = first + (steps // 2 if late else 0)
        self.first, self.steps = first, steps
        self.rank = dice.randrange(size)
        self.other = dice.choice([rank for rank in range(size) if rank != self.rank])
        self.factor = dice.choice((1.12, 1.2, 1.4, 2.0, 3.0))
        self.every = dice.choice((1, 1, 2)) if steps < 8 else dice.choice((1, 2, 3))
        self.length = dice.uniform(20_000, 60_000)
        self.node = self.rank // NODE
        self.pair = ()
        self.shares = lambda rank: rank   # the first of those that work on the same batch
        self.heavy_layers = 2 if kind == "heavy_stage" else 0
        self.slow_by = dice.choice((3.0, 5.0, 8.0))

    def on(self, step):
        return step >= self.begins

    def due(self, step):
        return self.on(step) and (step - self.begins) % self.every == 0

    def computing(self, rank, step, kind):
        if not self.on(step):
            return 1.0
        if self.kind == "two_ranks" and rank in (self.rank, self.other):
            return max(self.factor, 1.2)
        if self.kind == "slow_node" and rank // NODE == self.node:
            return max(self.factor, 1.2)
        if self.kind == "packed" and kind == "attention":
            return self.by_chance(rank, step, 0.25)
        if rank != self.rank:
            return 1.0
        if self.kind == "slow_gpu":
            return self.factor
        if self.kind == "thermal":
            return 1.0 + 0.6 * min(1.0, (step - self.begins + 1) / 3)
        if self.kind == "slow_memory":
            return 4.0 if kind == "memory" else 1.0
        return 1.0

    def launches(self, rank, step):
        return self.slow_by * 20 if self.kind == "slow_host" and rank == self.rank and self.on(step) else 1.0

    def pauses(self, rank, step):
        if rank != self.rank or not self.due(step):
            return []
        if self.kind == "python_pause":
            return [("train.py(88): write_metrics", self.length)]
        if self.kind == "gc":
            return [("Python GC", self.length)]
        return []

    def loading(self, rank, step):
        return self.length if self.kind == "loader" and rank == self.rank and self.due(step) else 0.0

    def synchronises(self, rank, step):
        return self.kind == "synchronises" and rank == self.rank and self.on(step)

    def by_chance(self, rank, step, sigma):
        """Near 1, another for each rank and step."""
        return math.exp(random.Random(self.shares(rank) * 7919 + step * 104_729).gauss(0, sigma))

    def work_in(self, rank, step):
        return self.work(rank) * (self.by_chance(rank, step, 0.15) if self.kind == "uneven" else 1.0)

    def copying(self, rank, step):
        return self.slow_by if self.kind == "slow_copies" and rank == self.rank and self.on(step) else 1.0

    def work(self, rank):
        return 1.5 if self.kind == "longer_sequences" and rank == self.rank else 1.0

    def transfer(self, ranks, crosses, step):
        if not self.on(step):
            return 1.0
        if self.kind == "nic" and crosses and any(rank // NODE == self.node for rank in ranks):
            return self.slow_by
        if self.kind == "nvlink" and not crosses and ranks[0] // NODE == self.node:
            return self.slow_by * 2
        if self.kind == "link" and tuple(sorted(ranks)) == self.pair:
            return self.slow_by * 10
        if self.kind == "hidden" and self.rank in ranks:
            return 1.3
        return 1.0

    def truth(self):
        """Culprits, and what a verdict may name them as."""
        ranks = {"two_ranks": sorted((self.rank, self.other)), "link": list(self.pair)}.get(self.kind, [self.rank])
        if self.kind in ("nic", "nvlink", "slow_node"):
            ranks = [r for r in range(self.size) if r // NODE == self.node]
        if self.kind in NOBODY:
            ranks = []
        return {"kind": self.kind, "culprit_ranks": ranks, "factor": self.factor, "every": self.every,
                "first_faulty_step": self.begins, "pause_ms": self.length / 1000, "slow_by": self.slow_by}
