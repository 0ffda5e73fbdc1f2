"""The physics behind drawn GPU traces: hosts that launch ahead, streams, events and communication that
joins ranks. Nothing here knows how fathom judges.

A rank is a generator that yields while it needs the end of a communication op that is not known yet;
World.run() goes round until all ranks are through. All times are microseconds of one true clock; the
clocks of nodes are put apart when the trace is written.
"""
import math
import random

COMPUTE = 7


class Join:
    """A communication op: it ends `seconds` after the last member's kernel has begun."""

    def __init__(self, size, duration):
        self.size, self.duration, self.begins, self.end = size, duration, {}, None

    def arrive(self, rank, begin):
        self.begins[rank] = begin
        if len(self.begins) == self.size:
            self.end = max(self.begins.values()) + self.duration


class Batch(Join):
    """Messages that one kernel carries out: it ends with the last of them."""

    def __init__(self, joins):
        self.joins = joins

    @property
    def end(self):
        ends = [join.end for join in self.joins]
        return None if None in ends else max(ends)


class World:
    def __init__(self, ranks, seed, noisy=False):
        self.seed, self.random = seed, random.Random(seed)
        self.joins = {}
        self.progress = 0  # counts what ranks got done
        self.kernel_noise = 0.05 if noisy else 0.02
        self.host_noise = 0.30 if noisy else 0.10
        self.ranks = [Rank(self, number) for number in range(ranks)]

    def join(self, key, size, duration):
        if key not in self.joins:
            self.joins[key] = Join(size, duration)
        return self.joins[key]

    def run(self, program):
        """`program(rank)`: a generator. Goes round until all have ended."""
        running = [program(rank) for rank in self.ranks]
        while running:
            before = self.progress
            running = [each for each in running if next(each, self) is not self]
            if running and self.progress == before:
                raise RuntimeError("the job has come to a standstill")


class Rank:
    def __init__(self, world, number):
        self.world, self.number = world, number
        self.random = random.Random(world.random.random())
        self.host = 1000.0
        self.streams = {}      # stream → when its last work ends; a Join where that is open
        self.speed = self.random.gauss(1, 0.007)
        self.events = []       # of the trace, in true time
        self.ids = 10
        self.launch_factor = 1.0
        self.graph = None      # the correlation id of the graph that is replayed, else None
        self.kernel_factor = lambda kind: 1.0

    def noise(self, sigma):
        return math.exp(self.random.gauss(0, sigma))

    def launch(self, name="cudaLaunchKernel", cost=4.5):
        if self.graph is not None:
            return self.graph
        cost *= self.launch_factor * self.noise(self.world.host_noise)
        if self.random.random() < 0.0004:
            cost += self.random.uniform(200, 1500)   # a hiccup of the host
        self.ids += 1
        self.events.append(("runtime", name, self.host, cost, self.ids))
        self.host += cost + 1.0
        return self.ids

    def ended(self, what):
        """Waits, in the simulation and not in the job, until the end of a Join is known."""
        while isinstance(what, Join) and what.end is None:
            yield
        self.world.progress += 1
        return what.end if isinstance(what, Join) else what

    def begin_of(self, stream, after):
        begin = self.host + 3.0
        for what in (self.streams.get(stream, 0.0), *after):
            begin = max(begin, (yield from self.ended(what)) + 1.0)
        return begin

    def kernel(self, name, duration, kind="gemm", grid=128, after=()):
        """A kernel on the compute stream."""
        correlation = self.launch()
        begin = yield from self.begin_of(COMPUTE, after)
        duration *= self.speed * self.kernel_factor(kind) * self.noise(self.world.kernel_noise)
        self.streams[COMPUTE] = begin + duration
        self.events.append(("kernel", name, begin, duration, correlation, COMPUTE, grid))

    def copy(self, size, stream=COMPUTE, after=(), name="Memcpy HtoD (Pinned -> Device)", rate=12_000.0):
        """A copy behind all that the stream has; returns when it ends. `rate`: bytes a µs."""
        correlation = self.launch("cudaMemcpyAsync", 6.0)
        begin = yield from self.begin_of(stream, after)
        duration = size / rate * self.noise(0.03)
        self.streams[stream] = begin + duration
        self.events.append(("copy", name, begin, duration, correlation, stream, size))
        return begin + duration

    def replay(self, seconds=60.0):
        """What follows is a graph that was captured before: one launch, until replayed()."""
        self.graph = self.launch("cudaGraphLaunch", seconds)

    def replayed(self):
        self.graph = None

    def communicate(self, op, group, key, duration, elements, stream, after=None, peer=None):
        """Launches the op behind `after` (else all that the compute stream has); returns its Join."""
        if self.graph is None:
            self.events.append(("params", op, self.host, 8.0, group, elements, peer))
            self.host += 5.0
        correlation = self.launch("cudaLaunchKernelExC", 5.0)
        deps = [self.streams.get(COMPUTE, 0.0)] if after is None else after
        begin = yield from self.begin_of(stream, deps)
        size = 2 if peer is not None else len(group.ranks)
        join = self.world.join(key, size, duration)
        join.arrive(self.number, begin)
        self.world.progress += 1
        self.streams[stream] = join
        known = group if self.graph is None else None   # a graph tells no parameters when it is replayed
        self.events.append(("nccl", op, begin, join, correlation, stream, known, elements, peer))
        return join

    def exchange(self, messages, group, stream, elements):
        """batch_isend_irecv: [(op, key, microseconds, peer)] of one kernel, launched when the batch closes."""
        for op, _, _, peer in messages:
            self.events.append(("params", op, self.host, 8.0, group, elements, peer))
            self.host += 9.0
        correlation = self.launch("cudaLaunchKernelExC", 5.0)
        begin = yield from self.begin_of(stream, [self.streams.get(COMPUTE, 0.0)])
        joins = [self.world.join(key, 2, duration) for _, key, duration, _ in messages]
        for join in joins:
            join.arrive(self.number, begin)
        self.world.progress += 1
        batch = Batch(joins)
        self.streams[stream] = batch
        self.events.append(("nccl", "coalesced", begin, batch, correlation, stream, None, elements, None))
        return batch

    def wait_for(self, join):
        """The compute stream waits for the op; the host does not."""
        if self.graph is None:
            self.launch("cudaStreamWaitEvent", 1.5)
        before = self.streams.get(COMPUTE, 0.0)
        end = yield from self.ended(join)
        self.streams[COMPUTE] = max((yield from self.ended(before)), end)

    def synchronise(self):
        """The host waits for all streams."""
        begin = self.host
        end = begin
        for what in list(self.streams.values()):
            end = max(end, (yield from self.ended(what)))
        self.ids += 1
        self.events.append(("runtime", "cudaDeviceSynchronize", begin, end + 4 - begin, self.ids))
        self.host = end + 8.0

    def busy(self, name, duration, category="user_annotation"):
        """The host does something else for so long."""
        self.events.append(("host", name, self.host, duration, category))
        self.host += duration
