"""Training jobs as programs of ranks: who computes what, who communicates with whom, what overlaps."""
import zlib

NODE = 8  # GPUs of a node
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
NORM = "void at::native::layer_norm_kernel<float>(int, float, float const*, float*)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
ADAM = "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>"


class Group:
    def __init__(self, name, description, ranks):
        self.name, self.description, self.ranks = str(name), description, list(ranks)

    def crosses(self):
        return len({rank // NODE for rank in self.ranks}) > 1


class Plan:
    """What all plans share: layers, transfers, and what a fault changes in them."""
    layers = 8
    kernels = ((NORM, "memory", 60), (MATMUL, "gemm", 420), (MATMUL, "gemm", 260), (ADD, "memory", 70),
               (MATMUL, "gemm", 520), (ADD, "memory", 50))

    def __init__(self, world, size, faults, random):
        self.world, self.size, self.faults, self.random = world, size, faults, random
        self.groups = [Group(0, "default_pg", range(size))]
        self.serial = {}
        self.scale = random.uniform(0.7, 1.5)
        self.habits = None  # what ranks do between steps, by habits.py

    def add_groups(self, description, lists):
        mine = {}
        for ranks in lists:
            group = Group(len(self.groups), description, ranks)
            self.groups.append(group)
            for rank in ranks:
                mine[rank] = group
        return mine

    def transfer(self, group, elements, step, peer=None, rank=None):
        """Microseconds of the transfer alone."""
        ranks = [rank, peer] if peer is not None else group.ranks
        crosses = len({r // NODE for r in ranks}) > 1
        bandwidth = 20_000.0 if crosses else 120_000.0   # bytes a µs
        base = 15.0 + 2 * elements * 2 / bandwidth
        return base * self.faults.transfer(ranks, crosses, step)

    def communicate(self, rank, op, group, elements, step, stream, after=None, peer=None, tag=0):
        pair = (min(rank.number, peer), max(rank.number, peer), tag) if peer is not None else ()
        count = (rank.number, group.name, pair)
        self.serial[count] = self.serial.get(count, 0) + 1
        key = (group.name, pair, self.serial[count])
        noise = 1 + 0.03 * ((zlib.crc32(repr(key).encode()) % 1000) / 500.0 - 1)
        duration = self.transfer(group, elements, step, peer, rank.number) * noise
        return (yield from rank.communicate(op, group, key, duration, elements, stream, after, peer))

    def layer(self, rank, step, share=1.0, work=1.0):
        """One layer's kernels; `work`: more of it by design, told by the grids."""
        for name, kind, base in self.kernels:
            yield from rank.kernel(name, base * share * work * self.scale, kind, int(256 * work))
        if rank.graph is None and self.faults.synchronises(rank.number, step):
            yield from rank.synchronise()
            rank.busy("aten::item", 150.0)

    def step(self, rank, step):
        begin = rank.host
        if self.habits:
            self.habits.before(rank, step)
        rank.launch_factor = self.faults.launches(rank.number, step)
        rank.kernel_factor = lambda kind: self.faults.computing(rank.number, step, kind)
        rank.busy("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                  self.random_time(rank, 250) + self.faults.loading(rank.number, step))
        yield from rank.copy(600_000, rate=12_000.0 / self.faults.copying(rank.number, step))
        yield from self.iterate(rank, step)
        if self.habits:
            yield from self.habits.after(self, rank, step)
        rank.events.append(("host", f"ProfilerStep#{step}", begin, rank.host - begin, "user_annotation"))

    def random_time(self, rank, base):
        return base * rank.noise(self.world.host_noise)

    def pause(self, rank, step):
        for name, duration in self.faults.pauses(rank.number, step):
            rank.busy(name, duration, "python_function" if name != "Python GC" else "user_annotation")

    def optimise(self, rank):
        averages = 20 if self.faults.kind == "averages" and rank.number == 0 else 0
        for _ in range(4 + averages):
            yield from rank.kernel(ADAM, 150 * self.scale, "memory", 512)

    def program(self, first, steps):
        def run(rank):
            for step in range(first, first + steps):
                yield from self.step(rank, step)
            yield from rank.synchronise()
        return run


class Ddp(Plan):
    """Gradients in buckets, reduced on a stream of their own while backward goes on."""

    def iterate(self, rank, step):
        world = self.groups[0]
        work = self.faults.work_in(rank.number, step)
        for _ in range(self.layers):
            yield from self.layer(rank, step, 1.0, work)
        self.pause(rank, step)
        buckets = []
        for index in range(self.layers):
            yield from self.layer(rank, step, 2.0, work)
            if index % 2 == 1:
                buckets.append((yield from self.communicate(rank, "allreduce", world, 6_000_000, step, 20)))
        for bucket in buckets:
            yield from rank.wait_for(bucket)
        yield from self.optimise(rank)
        yield from rank.synchronise()   # loss.item()


class Fsdp(Plan):
    """Parameters gathered a layer ahead, gradients scattered behind."""

    def shards(self):
        return {rank: self.groups[0] for rank in range(self.size)}

    def iterate(self, rank, step):
        group = self.shards()[rank.number]
        work = self.faults.work_in(rank.number, step)
        for share, backward in ((1.0, False), (2.0, True)):
            gathered = yield from self.communicate(rank, "_allgather_base", group, 4_000_000, step, 20, after=[])
            reduced = []
            for index in range(self.layers):
                following = None
                if index + 1 < self.layers:
                    following = yield from self.communicate(rank, "_allgather_base", group, 4_000_000,
                                                            step, 20, after=[])
                yield from rank.wait_for(gathered)
                gathered = following
                yield from self.layer(rank, step, share, work)
                if backward:
                    scattered = yield from self.communicate(rank, "_reduce_scatter_base", group, 4_000_000,
                                                            step, 21)
                    reduced.append((yield from self.across(rank, step, scattered)))
            if not backward:
                self.pause(rank, step)
        for join in reduced:
            yield from rank.wait_for(join)
        yield from self.optimise(rank)
        yield from rank.synchronise()

    def across(self, rank, step, scattered):
        return scattered
        yield


class Hsdp(Fsdp):
    """FSDP within a node, an all-reduce of the shards across nodes."""

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        nodes = size // NODE
        self.inner = self.add_groups("mesh_shard", [range(n * NODE, n * NODE + NODE) for n in range(nodes)])
        self.outer = self.add_groups("mesh_replicate", [range(i, size, NODE) for i in range(NODE)])

    def shards(self):
        return self.inner

    def across(self, rank, step, scattered):
        return (yield from self.communicate(rank, "allreduce", self.outer[rank.number], 500_000, step, 22,
                                            after=[scattered]))


class Moe(Plan):
    """Experts across a node, all-to-all there and back in each layer, gradients reduced at the end."""

    def __init__(self, world, size, faults, random):
        super().__init__(world, size, faults, random)
        self.expert = self.add_groups("EXPERT_PARALLEL_GROUP", [range(n, n + NODE) for n in range(0, size, NODE)])

    def iterate(self, rank, step):
        experts = self.expert[rank.number]
        work = self.faults.work_in(rank.number, step)
        for share in (1.0, 2.0):
            for _ in range(self.layers // 2):
                yield from self.layer(rank, step, share, work)
                for _ in range(2):
                    yield from rank.wait_for((yield from self.communicate(
                        rank, "all_to_allv", experts, 1_500_000, step, 20)))
                    yield from rank.kernel(MATMUL, 350 * share * self.scale)
            if share == 1.0:
                self.pause(rank, step)
        yield from rank.wait_for((yield from self.communicate(
            rank, "allreduce", self.groups[0], 12_000_000, step, 21)))
        yield from self.optimise(rank)
        yield from rank.synchronise()


class Parallel(Plan):
    """Tensor × pipeline × data; one forward and one backward in turn."""
    micro_batches = 4

    def __init__(self, world, size, faults, random, tensor, pipeline):
        super().__init__(world, size, faults, random)
        self.t, self.p, self.d = tensor, pipeline, size // tensor // pipeline
        at = lambda d, p, t: (p * self.d + d) * self.t + t
        ranges = [(d, p, t) for p in range(self.p) for d in range(self.d) for t in range(self.t)]
        self.place = {at(*each): each for each in ranges}
        self.at = at
        self.tensor = self.add_groups("TENSOR_MODEL_PARALLEL_GROUP", [
            [at(d, p, t) for t in range(self.t)] for p in range(self.p) for d in range(self.d)])
        self.data = self.add_groups("DATA_PARALLEL_GROUP", [
            [at(d, p, t) for d in range(self.d)] for p in range(self.p) for t in range(self.t)])
        self.pipe = self.add_groups("PIPELINE_MODEL_PARALLEL_GROUP", [
            [at(d, p, t) for p in range(self.p)] for d in range(self.d) for t in range(self.t)])

    def stage(self, rank, step, share):
        _, p, _ = self.place[rank.number]
        layers = max(1, self.layers // self.p)
        for _ in range(layers):
            yield from self.layer(rank, step, share, self.faults.work_in(rank.number, step))
            if self.t > 1:
                yield from rank.wait_for((yield from self.communicate(
                    rank, "allreduce", self.tensor[rank.number], 800_000, step, 20)))
        if p == self.p - 1:
            for _ in range(self.faults.heavy_layers):
                yield from self.layer(rank, step, share)

    def message(self, rank, step, other, sends, tag):
        group = self.pipe[rank.number]
        stream = 30 + 2 * (other > rank.number) + (tag == "b")
        after = None if sends else []
        join = yield from self.communicate(rank, "send" if sends else "recv", group, 800_000, step, stream,
                                           after, other, tag)
        if not sends:
            yield from rank.wait_for(join)

    def forward(self, rank, step):
        d, p, t = self.place[rank.number]
        if p > 0:
            yield from self.message(rank, step, self.at(d, p - 1, t), False, "f")
        yield from self.stage(rank, step, 1.0)
        if p < self.p - 1:
            yield from self.message(rank, step, self.at(d, p + 1, t), True, "f")

    def backward(self, rank, step):
        d, p, t = self.place[rank.number]
        if p < self.p - 1:
            yield from self.message(rank, step, self.at(d, p + 1, t), False, "b")
        yield from self.stage(rank, step, 2.0)
        if p > 0:
            yield from self.message(rank, step, self.at(d, p - 1, t), True, "b")

    def iterate(self, rank, step):
        _, p, _ = self.place[rank.number]
        warm = min(self.micro_batches, self.p - 1 - p)
        for _ in range(warm):
            yield from self.forward(rank, step)
        for index in range(self.micro_batches - warm):
            yield from self.forward(rank, step)
            yield from self.backward(rank, step)
            if index == 0:
                self.pause(rank, step)
        for _ in range(warm):
            yield from self.backward(rank, step)
        yield from self.finish(rank, step)

    def finish(self, rank, step):
        """Gradients scattered, their norm, the optimiser, parameters gathered."""
        if self.d > 1:
            yield from rank.wait_for((yield from self.communicate(
                rank, "_reduce_scatter_base", self.data[rank.number], 8_000_000, step, 40)))
        yield from rank.wait_for((yield from self.communicate(
            rank, "allreduce", self.groups[0], 1, step, 41)))   # the norm of the gradients
        yield from self.optimise(rank)
        if self.d > 1:
            yield from rank.wait_for((yield from self.communicate(
                rank, "_allgather_base", self.data[rank.number], 8_000_000, step, 40)))
        yield from rank.synchronise()
