"""The cases of function-level truth: what is planted where, and which cause and function are right.

Each is a Case. No cause: the job is healthy, and silence is right. No function: the cause alone is right, and a
function would be wrong. Functions are those that people would look at first; where a library below has Python code
of its own, so named. A counter is told in the verdict where the machine is to blame and says so.
"""
from typing import NamedTuple

from disturbances import (CoreNeighbour, CpuQuota, DiskLimit, Freezes, IdlePriority, Load, Pauses, SlowCard, STREAM,
                          Together)

HOST, COMPUTE, LOADER, GC = "host_slow", "compute_slow", "dataloader", "gc"
LINK, COMMUNICATION = "link_slow", "communication_slow"
WAITS = (HOST,)
OWN = (HOST, COMPUTE)  # a thread that computes in Python or C is either, by how busy its core is




class Case(NamedTuple):
    name: str
    group: str                     # software, hardware, none
    options: dict                  # of case_jobs/train.py
    causes: tuple                  # that are right
    functions: tuple = ()          # that are right
    outside: object = None         # makes what disturbs the job from outside
    sick: int = -1                 # the rank, where the options do not say it
    counter: str = ""              # that the verdict has to tell; empty: none is asked for

    @property
    def rank(self):
        return self.sick if self.sick >= 0 else self.options.get("rank", -1)


def planted(name, at="step", causes=OWN, also=(), group="software", outside=None, **options):
    where = "" if at in ("step", "model", "once") else f" in {at}"
    kind = " of a worker" if options.get("workers") else " every third iteration" if options.get("every") else ""
    return Case(name + where + kind, group, {"case": name, "at": at, **options}, causes, (name, *also), outside)


def disturbed(name, outside, sick, causes=OWN, functions=(), counter="", **options):
    """From outside, at iteration 60 or `mark`. Without options the job itself does nothing unusual."""
    given = {"case": "outside", "at": "outside", "mark": 60, **options}
    return Case(name, "hardware", given, causes, functions, outside, sick, counter)


CASES = (
    # It sleeps.
    planted("send_metrics", causes=WAITS, rank=0),
    planted("send_metrics", "forward", causes=WAITS, rank=1),
    planted("send_metrics", "backward", causes=WAITS, rank=2),
    planted("send_metrics", "optimizer", causes=WAITS, rank=0),
    planted("log_through_logger", causes=WAITS, rank=1, also=("flush_buffer", "MetricsLogger.flush_buffer")),
    planted("run_callbacks", causes=WAITS, rank=2, also=("on_step_end",)),
    planted("walk_tree", causes=WAITS, rank=0),
    planted("draw_samples", causes=WAITS, rank=1, also=("sample_slowly",)),
    planted("guarded_step", causes=WAITS, rank=2, also=("slow_guard",)),
    planted("print_slowly", causes=WAITS, rank=0),
    # It computes in Python, or in what Python calls.
    planted("format_report", rank=1, also=("until", "<lambda>", "format_report.<locals>.<lambda>")),
    planted("match_patterns", rank=2),
    planted("sort_records", rank=0, also=("<lambda>", "sort_records.<locals>.<lambda>")),
    planted("tokenize_text", rank=1),
    planted("copy_state", rank=2),
    planted("hash_weights", rank=0),
    planted("compress_log", rank=1),
    planted("whiten_features", rank=2),
    planted("log_spectrum", rank=0),
    planted("pickle_checkpoint", rank=1),
    planted("evaluate_again", "model", rank=2),
    # Files, processes, sockets.
    planted("save_checkpoint", rank=0),
    planted("write_journal", rank=1),
    planted("list_shards", rank=2, also=("<listcomp>", "list_shards.<locals>.<listcomp>")),
    planted("commit_rows", rank=0),
    planted("call_tool", causes=WAITS, rank=1),
    planted("fetch_remote", causes=WAITS, rank=2),
    # Locks and other threads.
    planted("update_shared_stats", causes=WAITS, rank=0),
    planted("await_result", causes=WAITS, rank=1),
    planted("await_future", causes=WAITS, rank=2),
    planted("await_event", causes=WAITS, rank=0),
    # Garbage.
    planted("collect_garbage", rank=1, causes=(GC,)),
    planted("build_cycles", rank=2, causes=(GC, *OWN)),
    # Native code of the user's.
    planted("spin_in_c", rank=0),
    planted("spin_in_c_with_gil", rank=1),
    planted("doze_in_c", causes=WAITS, rank=2),
    # The data loader, in its process and in a worker.
    planted("read_sample", "dataset", (LOADER,), rank=0),
    planted("decode_sample", "dataset", (LOADER, *OWN), ("<genexpr>", "decode_sample.<locals>.<genexpr>"), rank=1),
    planted("pad_batch", "collate", (LOADER,), rank=2),
    planted("read_sample", "dataset", (LOADER,), rank=1, workers=1),
    planted("decode_sample", "dataset", (LOADER,), ("<genexpr>", "decode_sample.<locals>.<genexpr>"), rank=2,
            workers=1),
    # Comes and goes.
    planted("send_metrics", causes=WAITS, rank=1, every=3, seconds=0.12),
    # More work: no function is to blame.
    Case("a batch ten times as large", "software", {"case": "batch", "at": "batch", "rank": 1}, (COMPUTE,)),
    # Nothing is wrong.
    Case("healthy", "none", {"case": "none"}, ()),
    Case("healthy with workers of a loader", "none", {"case": "none", "workers": 1}, ()),
    Case("all ranks wait alike", "none", {"case": "send_metrics", "rank": -1, "from-iteration": 0}, ()),
    Case("all ranks compute alike", "none",
         {"case": "format_report", "rank": -1, "from-iteration": 0, "seconds": 0.03}, ()),
    # More that waits, for pipes, sockets, files, processes and threads.
    planted("fetch_labels", causes=WAITS, rank=0),
    planted("resolve_name", causes=WAITS, rank=1),
    planted("log_to_pipe", causes=WAITS, rank=2, also=("emit", "PipeHandler.emit")),
    planted("lock_file", causes=WAITS, rank=0),
    planted("poll_queue", causes=WAITS, rank=1),
    planted("read_tool_output", causes=WAITS, rank=2),
    planted("gather_replies", causes=WAITS, rank=0, also=("reply", "replies")),
    planted("await_barrier", causes=WAITS, rank=1),
    planted("queue_behind_threads", causes=WAITS, rank=2),
    planted("copy_shard", rank=0),
    planted("save_arrays", rank=1),
    planted("load_checkpoint", rank=2),
    # More that computes.
    planted("parse_rows", rank=0, also=("<listcomp>",)),
    planted("poll_clock", rank=1),
    planted("parse_loosely", rank=2),
    planted("count_paths", rank=0, also=("paths",)),
    planted("round_prices", rank=1),
    planted("shuffle_indices", rank=2),
    planted("draw_batch", rank=0),
    planted("track_quantiles", rank=1),
    planted("grow_buffer", rank=2),
    planted("log_each_gradient", rank=0, also=("<listcomp>",)),
    planted("decay_momentum", rank=1),
    planted("fork_helper", rank=2),
    planted("fetch_labels", "dataset", (LOADER,), rank=2, workers=2),
    planted("parse_rows", "collate", (LOADER, *OWN), ("<listcomp>",), rank=0),
    planted("pad_batch", "collate", (LOADER,), rank=1, workers=1),
    # What makes a rank slow at all that it does: no one function of its training thread.
    planted("crunch_beside", "once", rank=0, also=("crunch_numbers", "<genexpr>")),
    planted("trace_calls", "once", rank=1, also=("note_call",)),
    Case("use_many_threads", "software", {"case": "use_many_threads", "at": "once", "rank": 2}, OWN),
    # The machine: processors.
    disturbed("a quarter of a core", lambda: CpuQuota(0.25), 1, counter="held_back"),
    disturbed("a tenth of a core", lambda: CpuQuota(0.1), 2, counter="held_back"),
    disturbed("a fifth of a core in periods of 20 ms", lambda: CpuQuota(0.2, 20), 0, counter="held_back"),
    disturbed("two neighbours on its only core", lambda: CoreNeighbour(count=2), 1),
    disturbed("six neighbours on its only core", lambda: CoreNeighbour(count=6), 2),
    disturbed("idle priority beside two that spin", lambda: IdlePriority(count=2), 0),
    disturbed("stopped for 60 of each 120 ms", lambda: Pauses(0.06, 0.12), 1, causes=WAITS),
    disturbed("stopped for 0.3 s each second", lambda: Pauses(0.3, 1), 2, causes=WAITS),
    disturbed("frozen for 60 of each 120 ms", lambda: Freezes(0.06, 0.12), 0, causes=WAITS),
    # The machine: memory and disk.
    planted("reset_arena", rank=1, group="hardware"),
    disturbed("a disk of 4 MB/s read", lambda: DiskLimit(4 << 20), 2, WAITS, ("read_shard",), case="read_shard",
              at="step", rank=-1, **{"from-iteration": 0}),
    disturbed("a disk of 4 MB/s written", lambda: DiskLimit(4 << 20), 0, WAITS, ("write_shard",), case="write_shard",
              at="step", rank=-1, **{"from-iteration": 0}),
    disturbed("a disk of 4 MB/s read by the loader", lambda: DiskLimit(4 << 20), 1, (LOADER,), ("read_shard",),
              case="read_shard", at="dataset", rank=-1, **{"from-iteration": 0}),
    # The machine: network.
    disturbed("a card of 100 Mbit/s", lambda: SlowCard(100), 1, (LINK, COMMUNICATION)),
    disturbed("a card of 40 Mbit/s", lambda: SlowCard(40), 2, (LINK, COMMUNICATION)),
    disturbed("a card of 100 Mbit/s since the job began", lambda: SlowCard(100), 1, (LINK,), mark=0),
    disturbed("a card of 60 Mbit/s since the job began", lambda: SlowCard(60), 2, (LINK,), mark=0),
    disturbed("a quarter of a core and a network of its own",
              lambda: Together(SlowCard(10_000), CpuQuota(0.25)), 0, counter="held_back"),
    # Looks like a fault, and is none.
    Case("networks of their own", "none", {"case": "outside", "at": "outside", "mark": 0, "iterations": 350}, (),
         outside=lambda: SlowCard(10_000)),
    Case("others spin on all cores", "none", {"case": "outside", "at": "outside", "mark": 60, "iterations": 350}, (),
         outside=lambda: Load(count=2)),
    Case("others fill the memory bus", "none", {"case": "outside", "at": "outside", "mark": 60, "iterations": 350}, (),
         outside=lambda: Load(STREAM, count=2)),
    Case("one checkpoint of a second", "none", {"case": "send_metrics", "at": "once", "rank": 0, "seconds": 1,
                                               "iterations": 350}, ()),
    Case("one evaluation of a second", "none", {"case": "poll_clock", "at": "once", "rank": 1, "seconds": 1,
                                               "iterations": 350}, ()),
)
