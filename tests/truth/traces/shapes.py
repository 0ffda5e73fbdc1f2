"""Jobs of shapes that came after those of plans.py: gradients summed over micro-batches, optimisers that are
shared out, sequence and context parallelism, pipelines with several stages a rank, graphs and offload."""
from traces.plans import ADAM, ADD, MATMUL, NODE, NORM, Ddp, Fsdp, Parallel, Plan

FLASH = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, cutlass::bfloat16_t>>(Flash_fwd_params)"
KERNELS = ((NORM, "memory", 60), (MATMUL, "gemm", 420), (FLASH, "attention", 260), (ADD, "memory", 70),
           (MATMUL, "gemm", 520), (ADD, "memory", 50))
OFFLOAD, PREFETCH = 24, 25  # streams of copies


class AccumulatedDdp(Ddp):
    """DDP with no_sync: gradients are reduced in the last of four micro-batches only."""
    layers = 4
    micro_batches = 4

    def iterate(self, rank, step):
        work = self.faults.work_in(rank.number, step)
        for _ in range(self.micro_batches - 1):
            for share in (1.0, 2.0):
                for _ in range(self.layers):
                    yield from self.layer(rank, step, share, work)
        yield from super().iterate(rank, step)


class AccumulatedFsdp(Fsdp):
    """FSDP over three micro-batches: parameters are gathered in each, gradients scattered in the last."""
    layers = 4

    def iterate(self, rank, step):
        group, work = self.shards()[rank.number], self.faults.work_in(rank.number, step)
        for _ in range(2):
            for share in (1.0, 2.0):
                for _ in range(self.layers):
                    gathered = yield from self.communicate(rank, "_allgather_base", group, 4_000_000, step, 20,
                                                           after=[])
                    yield from rank.wait_for(gathered)
                    yield from self.layer(rank, step, share, work)
        yield from super().iterate(rank, step)


class SharedOptimiser(Plan):
    """Tensor × data with the optimiser shared out over the replicas, as in Megatron: one reduce-scatter behind
    the backward pass, one all-gather of what was updated, which the forward pass of the next step hides."""
    layers = 6

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        tensor = random.choice((1, 2, 4))
        self.synchronous = random.random() < 0.6
        self.tensor = self.add_groups("TENSOR_MODEL_PARALLEL_GROUP",
                                      [range(n, n + tensor) for n in range(0, size, tensor)])
        self.data = self.add_groups("DATA_PARALLEL_GROUP_WITH_CP", [range(n, size, tensor) for n in range(tensor)])
        self.gathered = {}

    def layer(self, rank, step, share=1.0, work=1.0):
        yield from super().layer(rank, step, share, work)
        group = self.tensor[rank.number]
        if len(group.ranks) > 1:
            yield from rank.wait_for((yield from self.communicate(rank, "allreduce", group, 800_000, step, 20)))

    def iterate(self, rank, step):
        data, work = self.data[rank.number], self.faults.work_in(rank.number, step)
        for index in range(self.layers):
            if index == 1 and rank in self.gathered:
                yield from rank.wait_for(self.gathered.pop(rank))
            yield from self.layer(rank, step, 1.0, work)
        self.pause(rank, step)
        for _ in range(self.layers):
            yield from self.layer(rank, step, 2.0, work)
        yield from rank.wait_for((yield from self.communicate(
            rank, "_reduce_scatter_base", data, 16_000_000, step, 40)))
        yield from rank.wait_for((yield from self.communicate(rank, "allreduce", self.groups[0], 1, step, 41)))
        yield from rank.kernel(ADAM, 150 * self.scale, "memory", 512)
        self.gathered[rank] = yield from self.communicate(rank, "_allgather_base", data, 16_000_000, step, 40)
        if self.synchronous:
            yield from rank.synchronise()


class SequenceParallel(Plan):
    """Tensor parallelism with sequences shared out: all-gather before, reduce-scatter behind each half layer."""
    layers = 5

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        tensor = random.choice((2, 4, 8))
        self.tensor = self.add_groups("TENSOR_MODEL_PARALLEL_GROUP",
                                      [range(n, n + tensor) for n in range(0, size, tensor)])
        self.data = self.add_groups("DATA_PARALLEL_GROUP", [range(n, size, tensor) for n in range(tensor)])

    def iterate(self, rank, step):
        group, data, work = self.tensor[rank.number], self.data[rank.number], self.faults.work_in(rank.number, step)
        for share in (1.0, 2.0):
            for _ in range(self.layers):
                for _ in range(2):
                    yield from rank.wait_for((yield from self.communicate(
                        rank, "_allgather_base", group, 1_200_000, step, 20)))
                    yield from self.layer(rank, step, share / 2, work)
                    yield from rank.wait_for((yield from self.communicate(
                        rank, "_reduce_scatter_base", group, 1_200_000, step, 20)))
            if share == 1.0:
                self.pause(rank, step)
        if len(data.ranks) > 1:
            yield from rank.wait_for((yield from self.communicate(
                rank, "allreduce", data, 10_000_000, step, 40)))
        yield from self.optimise(rank)
        yield from rank.synchronise()


class ContextParallel(Plan):
    """Ring attention: keys and values go round within a group while attention is computed, each exchange one
    batch of a send and a receive; gradients are reduced over all."""
    layers = 4

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        ring = random.choice((4, 8) if size > 8 else (4,))
        apart = NODE if size == 4 * NODE and random.random() < 0.4 else 1   # over nodes, or within one
        rings = [range(n, size, NODE) for n in range(NODE)] if apart > 1 else [
            range(n, n + ring) for n in range(0, size, ring)]
        self.ring = self.add_groups("CONTEXT_PARALLEL_GROUP", rings)

    def turn(self, rank, step, elements):
        group = self.ring[rank.number]
        ranks, at = group.ranks, group.ranks.index(rank.number)
        messages = []
        for op, peer in (("send", ranks[(at + 1) % len(ranks)]), ("recv", ranks[at - 1])):
            way = (rank.number, peer) if op == "send" else (peer, rank.number)
            count = (rank.number, group.name, way)
            self.serial[count] = self.serial.get(count, 0) + 1
            messages.append((op, (group.name, way, self.serial[count]),
                             self.transfer(group, elements, step, peer, rank.number), peer))
        return (yield from rank.exchange(messages, group, 30, elements))

    def iterate(self, rank, step):
        ranks = self.ring[rank.number].ranks
        rounds, at, work = len(ranks), ranks.index(rank.number), self.faults.work_in(rank.number, step)
        for share in (1.0, 2.0):
            for _ in range(self.layers):
                yield from self.layer(rank, step, share / 2, work)
                for turn in range(rounds):
                    moved = (yield from self.turn(rank, step, 600_000)) if turn + 1 < rounds else None
                    if self.faults.kind != "causal" or turn <= at:
                        yield from rank.kernel(FLASH, 800 / rounds * share * self.scale * work, "attention",
                                               int(512 * work))
                    if moved:
                        yield from rank.wait_for(moved)
            if share == 1.0:
                self.pause(rank, step)
        yield from rank.wait_for((yield from self.communicate(
            rank, "allreduce", self.groups[0], 10_000_000, step, 40)))
        yield from self.optimise(rank)
        yield from rank.synchronise()


class Interleaved(Parallel):
    """A pipeline in which each rank has two stages, the first of the second half follows on the last rank:
    micro-batches in the order of Megatron's interleaved schedule."""
    chunks = 2

    def __init__(self, world, size, faults, random, tensor=None, pipeline=None):
        tensor, pipeline = random.choice([(1, 2), (2, 2), (1, 4), (2, 4), (4, 2)])
        super().__init__(world, size, faults, random, tensor, pipeline)
        self.micro_batches = pipeline * (2 if pipeline == 2 else 1)

    def hop(self, rank, step, chunk, forward, sends):
        """The message that enters (or leaves, `sends`) a chunk, if there is one."""
        d, p, t = self.place[rank.number]
        ahead = forward == sends      # whether the other end is the stage behind this one in the forward order
        mine = chunk * self.p + p
        stage = mine + (1 if ahead else -1)
        if not 0 <= stage < self.chunks * self.p:
            return
        other = self.at(d, stage % self.p, t)
        wraps = max(stage, mine) % self.p == 0   # from the last rank to the first
        tag = ("f" if forward else "b") + ("w" if wraps else "")
        group = self.pipe[rank.number]
        stream = 30 + 4 * sends + 2 * (not forward) + wraps
        join = yield from self.communicate(rank, "send" if sends else "recv", group, 800_000, step, stream,
                                           None if sends else [], other, tag)
        if not sends:
            yield from rank.wait_for(join)

    def part(self, rank, step, number, forward):
        within = number % (self.p * self.chunks)
        chunk = within // self.p if forward else self.chunks - 1 - within // self.p
        yield from self.hop(rank, step, chunk, forward, False)
        yield from self.stage(rank, step, 0.5 if forward else 1.0)
        yield from self.hop(rank, step, chunk, forward, True)

    def schedule(self, rank):
        """[forward?] in order, as Megatron's."""
        _, p, _ = self.place[rank.number]
        total = self.micro_batches * self.chunks
        warm = min(total, (self.p - p - 1) * 2 + (self.chunks - 1) * self.p)
        return [True] * warm + [True, False] * (total - warm) + [False] * warm

    def iterate(self, rank, step):
        done = {True: 0, False: 0}
        for forward in self.schedule(rank):
            yield from self.part(rank, step, done[forward], forward)
            done[forward] += 1
            if not forward and done[False] == 1:
                self.pause(rank, step)
        yield from self.finish(rank, step)


class BatchedPipeline(Parallel):
    """One forward and one backward in turn, as Megatron's: what goes to a neighbour and comes from it is one
    batch, and the compute stream waits for all of it."""

    def __init__(self, world, size, faults, random):
        tensor, pipeline = random.choice([(1, 2), (2, 2), (1, 4), (2, 4), (4, 2), (1, 8)])
        super().__init__(world, size, faults, random, tensor, pipeline)

    def batch(self, rank, step, *wanted):
        """`wanted`: ("send" or "recv", whether to or from the stage behind); those without an end are left out."""
        d, p, t = self.place[rank.number]
        group, messages = self.pipe[rank.number], []
        for op, behind in wanted:
            if not 0 <= p + (1 if behind else -1) < self.p:
                continue
            peer = self.at(d, p + (1 if behind else -1), t)
            way = (rank.number, peer) if op == "send" else (peer, rank.number)
            count = (rank.number, group.name, way)
            self.serial[count] = self.serial.get(count, 0) + 1
            messages.append((op, (group.name, way, self.serial[count]),
                             self.transfer(group, 800_000, step, peer, rank.number), peer))
        if messages:
            yield from rank.wait_for((yield from rank.exchange(messages, group, 30, 800_000)))

    def iterate(self, rank, step):
        p = self.place[rank.number][1]
        warm = min(self.micro_batches, self.p - 1 - p)
        rest = self.micro_batches - warm
        for _ in range(warm):
            yield from self.batch(rank, step, ("recv", False))
            yield from self.stage(rank, step, 1.0)
            yield from self.batch(rank, step, ("send", True))
        if rest:
            yield from self.batch(rank, step, ("recv", False))
        for index in range(rest):
            yield from self.stage(rank, step, 1.0)
            if index == 0:
                self.pause(rank, step)
            yield from self.batch(rank, step, ("send", True), ("recv", True))
            yield from self.stage(rank, step, 2.0)
            yield from self.batch(rank, step, ("send", False), *([("recv", False)] if index + 1 < rest else []))
        for _ in range(warm):
            yield from self.batch(rank, step, ("recv", True))
            yield from self.stage(rank, step, 2.0)
            yield from self.batch(rank, step, ("send", False))
        yield from self.finish(rank, step)


class Graphs(Ddp):
    """DDP whose step, or forward and backward pass, was captured: NCCL's kernels are then part of the graph."""
    layers = 6

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        self.whole = random.random() < 0.5

    def iterate(self, rank, step):
        if self.whole:
            self.pause(rank, step)
            rank.replay()
            yield from super().iterate(rank, step)
            return
        work, world = self.faults.work_in(rank.number, step), self.groups[0]
        rank.replay()
        for _ in range(self.layers):
            yield from self.layer(rank, step, 1.0, work)
        rank.replayed()
        self.pause(rank, step)
        rank.replay()
        for _ in range(self.layers):
            yield from self.layer(rank, step, 2.0, work)
        rank.replayed()
        for _ in range(3):
            yield from rank.wait_for((yield from self.communicate(rank, "allreduce", world, 6_000_000, step, 20)))
        yield from self.optimise(rank)
        yield from rank.synchronise()

    def pause(self, rank, step):
        if rank.graph is None:   # a graph has no host to pause
            super().pause(rank, step)

    def optimise(self, rank):
        rank.replayed()
        yield from super().optimise(rank)


class Offload(Fsdp):
    """FSDP that sends activations to the host on a stream of its own and fetches them in the backward pass."""
    layers = 6

    def layer(self, rank, step, share=1.0, work=1.0):
        fetched = None
        if share > 1.0:
            fetched = yield from rank.copy(int(12_000_000 * work), PREFETCH, (), rate=self.rate(rank, step))
            yield from rank.wait_for(fetched)
        yield from super().layer(rank, step, share, work)
        if share == 1.0:
            yield from rank.copy(int(12_000_000 * work), OFFLOAD, [rank.streams[7]],
                                 "Memcpy DtoH (Device -> Pinned)", self.rate(rank, step))

    def rate(self, rank, step):
        return 22_000.0 / self.faults.copying(rank.number, step)


PLANS = {"accumulated_ddp": AccumulatedDdp, "accumulated_fsdp": AccumulatedFsdp, "shared_optimiser": SharedOptimiser,
         "sequence": SequenceParallel, "context": ContextParallel, "interleaved": Interleaved, "batched_pipeline": BatchedPipeline, "graphs": Graphs,
         "offload": Offload}
