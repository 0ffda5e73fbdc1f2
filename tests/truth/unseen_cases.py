"""The cases of tests/truth/unseen: jobs of shapes that no other file here has, and what is right to say of them.

`culprits`: the ranks that a right verdict convicts, each with the causes that are right. None: nobody may be convicted.
`at_ease`: causes that may be told besides without accusing a device (work that is unequal by design).
"""
import os
from typing import NamedTuple

import trace_edits as edits
from disturbances import Disturbance, Load, SlowCard, threads_of

HOST, COMPUTE, LOADER, GC = "host_slow", "compute_slow", "dataloader", "gc"
LINK, UNEQUAL = "link_slow", "imbalance"
OWN = (HOST, COMPUTE)  # what computes in Python or writes files is either


class Niced(Load):
    """The lowest ordinary priority, and others that want the cores."""

    def begin(self, pid, pids):
        super().begin(pid, pids)
        for thread in threads_of(pid):
            os.setpriority(os.PRIO_PROCESS, thread, 19)


class Pinned(Disturbance):
    """One core for this rank, which others may use as well."""

    def begin(self, pid, pids):
        for thread in threads_of(pid):
            os.sched_setaffinity(thread, {max(os.sched_getaffinity(0))})


class Case(NamedTuple):
    name: str
    shape: str
    ranks: int
    plant: str = ""                # KIND:PLACE:RANK:EVERY:SECONDS,…
    culprits: dict = {}            # rank: causes
    first: int = 0                 # the iteration from which on
    every: int = 1                 # that a verdict has to tell
    steps: int = 0                 # recorded by the profiler; 0: the job is judged live
    stacks: bool = False
    shapes: bool = False           # of tensors, and the other ends of messages
    work: int = 1
    edit: object = None            # of the recording
    outside: object = None         # of a live job
    sick: int = -1                 # the rank that it is about
    at_ease: tuple = ()


def live(name, shape, ranks, *faults, first=0, every=1, **more):
    """Faults: (kind, place, rank, seconds, causes)."""
    plant = ",".join(f"{kind}:{place}:{rank}:{every}:{seconds}" for kind, place, rank, seconds, _ in faults)
    culprits = {rank: causes for _, _, rank, _, causes in faults if causes}
    return Case(name, shape, ranks, plant, culprits, first, every, **more)


def recorded(name, shape, ranks, *faults, steps=3, **more):
    return live(name, shape, ranks, *faults, steps=steps, **more)


def sleep(rank, seconds=0.04, place="step"):
    return "sleep", place, rank, seconds, (HOST,)


def compute(rank, seconds=0.04, place="forward", causes=OWN):
    return "compute", place, rank, seconds, causes


CASES = (
    # Live, sick from the first iteration.
    live("hsdp sleeps in backward", "hsdp", 4, sleep(3, place="backward")),
    live("kept collects garbage", "kept", 3, ("garbage", "step", 1, 0.06, (GC,))),
    live("1F1B sleeps in a stage", "one_f_one_b", 3, sleep(1, 0.01, "forward")),
    live("1F1B first stage's loader", "one_f_one_b", 3, ("sleep", "loader", 0, 0.05, (LOADER,))),
    live("two pipelines compute", "two_pipelines", 6, compute(4, 0.012)),
    live("GPipe last stage sleeps", "gpipe", 4, sleep(3, 0.05)),
    live("DTensor computes", "tensor", 6, compute(2)),
    live("DTensor lock", "tensor", 4, ("lock_wait", "step", 3, 0.04, (HOST,))),
    live("experts sleep", "experts", 5, sleep(3, place="forward")),
    live("embeddings, slow log", "embeddings", 4, ("slow_log", "step", 2, 0.04, (HOST,))),
    live("adversaries collect garbage", "adversaries", 4, ("garbage", "step", 0, 0.06, (GC,))),
    live("local SGD sleeps", "local", 3, sleep(2, 0.03)),
    live("server: a worker sleeps", "server", 4, sleep(2, 0.05)),
    live("server sleeps", "server", 4, sleep(0, 0.05)),
    live("gathered: the root computes", "gathered", 4, compute(0, 0.05, "step")),
    live("zero computes", "zero", 4, compute(1)),
    live("unused imports", "unused", 5, ("imports", "step", 1, 0.05, OWN)),
    live("micro-batches, loader", "micro", 3, ("sleep", "loader", 1, 0.04, (LOADER,))),
    live("rollouts lock", "rollouts", 5, ("lock_wait", "step", 4, 0.06, (HOST,))),
    live("first writes, another computes Python", "first_writes", 4, ("python", "step", 3, 0.04, OWN)),
    live("first writes, and sleeps", "first_writes", 3, sleep(0)),
    live("evaluating, pages", "evaluating", 4, ("pages", "step", 2, 0.05, OWN)),
    live("two ranks of two causes", "plain", 5, sleep(1, 0.06), ("garbage", "step", 3, 0.06, (GC,))),
    live("computes in backward only", "plain", 4, compute(1, place="backward")),
    live("writes through to the disk", "plain", 4, ("fsync", "step", 0, 0.05, OWN)),
    live("a tenth of an iteration", "plain", 3, sleep(1, 0.012), work=4),
    # Live, begins later.
    live("a twentieth from 60 on", "plain", 3, sleep(2, 0.008), work=4, first=60),
    live("hsdp computes from 40 on", "hsdp", 4, compute(1), first=40),
    live("server's worker from 40 on", "server", 4, sleep(3, 0.05), first=40),
    live("local SGD from 60 on", "local", 4, sleep(1, 0.03), first=60),
    Case("slow card of one of four", "kept", 4, "", {2: (LINK,)}, 60, outside=lambda: SlowCard(60, 4), sick=2),
    Case("nice and two that spin", "plain", 3, "", {1: OWN}, 60, outside=lambda: Niced(count=2), sick=1),
    Case("one core of two, alone", "plain", 3, "", {}, 60, outside=Pinned, sick=1),
    # Live, in every k-th iteration.
    live("adversaries sleep in every 3rd", "adversaries", 4, sleep(1, 0.08), every=3),
    live("1F1B loader in every 5th", "one_f_one_b", 3, ("sleep", "loader", 0, 0.1, (LOADER,)), every=5),
    live("experts sleep in every 7th", "experts", 4, sleep(2, 0.1), every=7),
    live("hsdp garbage in every 4th", "hsdp", 4, ("garbage", "step", 0, 0.08, (GC,)), every=4),
    live("evaluating, sleeps in every 6th", "evaluating", 3, sleep(1, 0.1), every=6),
    live("embeddings compute in every 2nd", "embeddings", 4, compute(3, 0.06), every=2),
    live("server's worker in every 4th", "server", 3, sleep(1, 0.1), every=4),
    # Live, unequal by design, or nothing wrong.
    live("hsdp, batches of one rank tripled", "hsdp", 4, ("batch", "loader", 1, 3, ()), at_ease=(UNEQUAL,)),
    live("a hot expert", "hot_expert", 4, at_ease=(UNEQUAL,)),
    live("first reads for all", "first_reads", 4, at_ease=(UNEQUAL,)),
    *(live(f"{shape}, healthy", shape, ranks, at_ease=(UNEQUAL,)) for shape, ranks in (
        ("hsdp", 6), ("kept", 5), ("one_f_one_b", 3), ("two_pipelines", 6), ("tensor", 4), ("experts", 5),
        ("embeddings", 3), ("server", 4), ("gathered", 4), ("zero", 3), ("micro", 4), ("local", 4), ("rollouts", 5),
        ("adversaries", 3), ("evaluating", 4), ("first_writes", 3))),
    # Recorded, three steps.
    recorded("hsdp sleeps", "hsdp", 4, sleep(2)),
    recorded("hsdp computes, with stacks", "hsdp", 4, compute(0), stacks=True),
    recorded("kept sleeps, a rank missing", "kept", 4, sleep(1), edit=edits.without_rank(3)),
    recorded("1F1B sleeps in a stage", "one_f_one_b", 3, sleep(1, 0.01, "forward")),
    recorded("two pipelines sleep", "two_pipelines", 6, sleep(5, 0.05)),
    recorded("1F1B sleeps in a stage, with shapes", "one_f_one_b", 3, sleep(1, 0.01, "forward"), shapes=True),
    recorded("two pipelines compute, with shapes", "two_pipelines", 6, compute(3, 0.01), shapes=True),
    recorded("GPipe loader, with shapes", "gpipe", 4, ("sleep", "loader", 0, 0.05, (LOADER,)), shapes=True),
    recorded("server: a worker sleeps, with shapes", "server", 4, sleep(2, 0.05), shapes=True),
    recorded("server sleeps, with shapes", "server", 4, sleep(0, 0.05), shapes=True),
    recorded("DTensor computes", "tensor", 6, compute(4)),
    recorded("DTensor lock, with stacks", "tensor", 4, ("lock_wait", "step", 1, 0.05, (HOST,)), stacks=True),
    recorded("experts sleep", "experts", 5, sleep(0, place="forward")),
    recorded("experts compute, not packed", "experts", 4, compute(2), edit=edits.plain_text),
    recorded("server: a worker sleeps", "server", 4, sleep(1, 0.05)),
    recorded("gathered: the root sleeps", "gathered", 4, sleep(0)),
    recorded("zero garbage, with stacks", "zero", 4, ("garbage", "step", 3, 0.06, (GC, HOST)), stacks=True),
    recorded("micro-batches sleep, 4 steps", "micro", 3, sleep(1), steps=4),
    recorded("local SGD computes, 4 steps", "local", 4, compute(3), steps=4),
    recorded("adversaries, loader", "adversaries", 4, ("sleep", "loader", 2, 0.05, (LOADER,))),
    recorded("unused sleeps, ends within a step", "unused", 4, sleep(2), edit=edits.ends_within),
    recorded("plain computes, begins within a step", "plain", 5, compute(4), edit=edits.begins_within),
    recorded("plain sleeps, windows apart", "plain", 4, sleep(3), steps=4, edit=edits.one_earlier),
    recorded("plain computes, the user's marks", "plain", 4, compute(1), edit=edits.renamed),
    recorded("plain sleeps, no marks", "plain", 4, sleep(2), edit=edits.unmarked),
    recorded("plain sleeps, as PyTorch 1.13", "plain", 4, sleep(0), edit=edits.old_style),
    recorded("tensor computes, as PyTorch 1.13", "tensor", 4, compute(3), edit=edits.old_style),
    recorded("hsdp sleeps, in no order", "hsdp", 4, sleep(1), edit=edits.shuffled),
    recorded("experts sleep, clocks apart", "experts", 4, sleep(2), edit=edits.skewed),
    recorded("two ranks of two causes", "plain", 6, sleep(1, 0.06), compute(4, 0.06)),
    recorded("writes to a slow log, 6 steps", "first_writes", 4, ("slow_log", "step", 2, 0.05, (HOST,)), steps=6),
    recorded("sleeps in every 3rd of 12", "evaluating", 4, sleep(1, 0.1), every=3, steps=12),
    recorded("hsdp, batches of one rank tripled", "hsdp", 4, ("batch", "loader", 2, 3, ()), at_ease=(UNEQUAL,)),
    recorded("a hot expert", "hot_expert", 4, at_ease=(UNEQUAL,)),
    *(recorded(f"{shape}, healthy", shape, ranks, at_ease=(UNEQUAL,)) for shape, ranks in (
        ("hsdp", 4), ("one_f_one_b", 3), ("tensor", 6), ("experts", 5), ("server", 4), ("zero", 3), ("rollouts", 4),
        ("first_writes", 5), ("embeddings", 4), ("gpipe", 4))),
    *(recorded(f"{shape}, healthy, with shapes", shape, ranks, shapes=True) for shape, ranks in (
        ("two_pipelines", 6), ("server", 4))),
)
