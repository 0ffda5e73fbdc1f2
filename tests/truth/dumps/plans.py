"""Programs of ranks: data, tensor and pipeline parallel with or without experts, sharded data parallel."""


class Group:
    def __init__(self, name, description, ranks):
        self.name, self.description, self.ranks = str(name), description, list(ranks)


class Plan:
    def __init__(self, size, dice):
        self.size, self.dice = size, dice
        self.groups = [Group(0, "default_pg", range(size))]
        self.programs = [[] for _ in range(size)]
        self.serial = {}
        self.scale = dice.uniform(0.6, 2.0)

    def add(self, description, lists):
        mine = {}
        for ranks in lists:
            group = Group(len(self.groups), description, ranks)
            self.groups.append(group)
            mine.update({rank: group for rank in ranks})
        return mine

    def kernel(self, rank, length):
        self.programs[rank].append(("kernel", length * self.scale * self.dice.uniform(0.9, 1.1)))

    def host(self, rank, length):
        self.programs[rank].append(("host", length * self.dice.uniform(0.5, 1.5)))

    def sync(self, rank):
        self.programs[rank].append(("sync",))

    def collective(self, rank, group, kind, length, waits=True):
        if len(group.ranks) == 1:
            return
        count = (rank, group.name)
        self.serial[count] = self.serial.get(count, 0) + 1
        key = (group.name, "", self.serial[count])
        self.programs[rank].append(("transfer", group, kind, group.ranks, length, key, waits))

    def message(self, rank, group, source, to):
        """One end of a message; a receiver's main stream waits for it, a sender's does not."""
        count = (rank, group.name, source, to)
        self.serial[count] = self.serial.get(count, 0) + 1
        key = (group.name, "%d-%d" % (source, to), self.serial[count])
        kind = "send" if rank == source else "recv"
        self.programs[rank].append(("transfer", group, kind, [source, to], 300, key, rank == to))


class Parallel(Plan):
    """Tensor × pipeline × data, with experts over the ranks of a stage where `experts`; one micro-batch
    after the other through the pipeline and back."""

    def __init__(self, size, dice, tensor, pipeline, experts):
        super().__init__(size, dice)
        self.t, self.p, self.d = tensor, pipeline, size // (tensor * pipeline)
        at = lambda d, p, t: (p * self.d + d) * tensor + t  # noqa: E731
        self.at = at
        self.place = {at(d, p, t): (d, p, t) for d in range(self.d) for p in range(pipeline) for t in range(tensor)}
        r = range
        self.tensor = self.add("TENSOR_MODEL_PARALLEL_GROUP", [[at(d, p, t) for t in r(tensor)] for d in r(self.d) for p in r(pipeline)])
        self.pipe = self.add("PIPELINE_MODEL_PARALLEL_GROUP", [[at(d, p, t) for p in r(pipeline)] for d in r(self.d) for t in r(tensor)])
        self.data = self.add("DATA_PARALLEL_GROUP", [[at(d, p, t) for d in r(self.d)] for p in r(pipeline) for t in r(tensor)])
        self.expert = self.add("EXPERT_MODEL_PARALLEL_GROUP", [[at(d, p, t) for d in r(self.d) for t in r(tensor)] for p in r(pipeline)])
        self.experts, self.micro, self.layers = experts, dice.choice((2, 4, 8)), dice.choice((2, 4))

    def layer(self, rank):
        tensor = self.tensor[rank]
        self.collective(rank, tensor, "_all_gather_base", 120)
        self.kernel(rank, 600)
        self.collective(rank, tensor, "_reduce_scatter_base", 120)
        if self.experts:
            group = self.expert[rank]
            self.collective(rank, group, "all_gather", 40)
            self.sync(rank)
            self.collective(rank, group, "all_to_all", 200)
            self.kernel(rank, 500)
            self.collective(rank, group, "all_to_all", 200)
        self.host(rank, 150)

    def half(self, rank, forward):
        d, p, t = self.place[rank]
        before, after = (p - 1, p + 1) if forward else (p + 1, p - 1)
        if 0 <= before < self.p:
            self.message(rank, self.pipe[rank], self.at(d, before, t), rank)
        for _ in range(self.layers):
            self.layer(rank)
        if 0 <= after < self.p:
            self.message(rank, self.pipe[rank], rank, self.at(d, after, t))

    def step(self, rank):
        for _ in range(self.micro):
            self.half(rank, True)
        for _ in range(self.micro):
            self.half(rank, False)
        self.collective(rank, self.data[rank], "_reduce_scatter_base", 900)
        self.collective(rank, self.groups[0], "all_reduce", 60)
        self.sync(rank)
        self.kernel(rank, 400)
        self.collective(rank, self.data[rank], "_all_gather_base", 700, False)
        self.host(rank, 400)


class Sharded(Plan):
    """Fully sharded data parallel, or replicated: all-gathers ahead of their layers, reductions behind."""

    def __init__(self, size, dice, sharded):
        super().__init__(size, dice)
        self.sharded, self.layers = sharded, dice.choice((4, 8, 12))

    def step(self, rank):
        world = self.groups[0]
        for backward in (False, True):
            for _ in range(self.layers):
                if self.sharded:
                    self.collective(rank, world, "_all_gather_base", 200)
                self.kernel(rank, 500 * (1 + backward))
                self.host(rank, 60)
                if backward:
                    kind = "_reduce_scatter_base" if self.sharded else "allreduce"
                    self.collective(rank, world, kind, 250, False)
        self.collective(rank, world, "allreduce", 30)
        self.sync(rank)
        self.kernel(rank, 300)
        self.host(rank, 300)
