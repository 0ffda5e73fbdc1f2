"""Ways in which traces of PyTorch's profiler differ from those that the jobs beside this file write.

Each edit takes a folder with rank0.json.gz… and changes it in place; used by tests/truth/unseen.
"""
import gzip
import json
import pathlib
import random

STEP = "ProfilerStep#"


def paths(folder):
    return sorted(pathlib.Path(folder).glob("*.json*"))


def load(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return json.load(file)


def store(path, trace):
    with gzip.open(path, "wt") as file:
        json.dump(trace, file)


def each(folder, change):
    for path in paths(folder):
        trace = load(path)
        change(trace)
        store(path, trace)


def steps(trace):
    """(begin, end) in µs of each step, ascending."""
    found = [e for e in trace["traceEvents"] if str(e.get("name", "")).startswith(STEP) and e.get("ph") == "X"]
    return sorted({(float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in found})


def cut(trace, begin, end):
    """What lies wholly within; metadata stays."""
    def inside(event):
        ts = event.get("ts")
        return ts is None or event.get("ph") == "M" or (float(ts) >= begin and float(ts) + float(event.get("dur", 0)) <= end)
    trace["traceEvents"] = [e for e in trace["traceEvents"] if inside(e)]


def without_rank(number):
    """Its trace is missing."""
    return lambda folder: paths(folder)[number].unlink()


def plain_text(folder):
    """Not packed, and named as a worker names it."""
    for number, path in enumerate(paths(folder)):
        trace = load(path)
        path.unlink()
        (path.parent / f"node{number}_{4000 + number}.1790000000000.pt.trace.json").write_text(json.dumps(trace))


def ends_within(folder):
    """Recording ended in the middle of the last step, of all ranks."""
    def change(trace):
        first, last = steps(trace)[0], steps(trace)[-1]
        cut(trace, first[0] - 1e6, (last[0] + last[1]) / 2)
    each(folder, change)


def begins_within(folder):
    """Recording began in the middle of the first step, of all ranks."""
    def change(trace):
        first, last = steps(trace)[0], steps(trace)[-1]
        cut(trace, (first[0] + first[1]) / 2, last[1] + 1e6)
    each(folder, change)


def one_earlier(folder):
    """The window of rank 0 lacks the last step, and that of the last rank the first one."""
    found = paths(folder)
    for path, one in ((found[0], -1), (found[-1], 0)):
        trace = load(path)
        begin, end = steps(trace)[one]
        if one == 0:
            cut(trace, end, float("inf"))
        else:
            cut(trace, 0, begin)
        store(path, trace)


def renamed(folder):
    """Steps are marked by the user's own record_function."""
    def change(trace):
        for event in trace["traceEvents"]:
            if str(event.get("name", "")).startswith(STEP):
                event["name"] = "train_step"
    each(folder, change)


def unmarked(folder):
    """No steps at all: the profiler's step() was never called."""
    def change(trace):
        trace["traceEvents"] = [e for e in trace["traceEvents"] if not str(e.get("name", "")).startswith(STEP)]
    each(folder, change)


def old_style(folder):
    """PyTorch 1.13: no args of communication, no record_param_comms, no description of groups."""
    def change(trace):
        kept = [e for e in trace["traceEvents"] if e.get("name") != "record_param_comms"]
        for event in kept:
            args = event.get("args")
            if isinstance(args, dict):
                for name in ("Collective name", "Process Group Name", "Process Group Description",
                             "Process Group Ranks", "Group size", "In msg nelems", "Out msg nelems", "dtype", "Seq",
                             "Rank", "In split size", "Out split size", "Global rank start", "Global rank stride",
                             "Src Rank", "Dst Rank"):
                    args.pop(name, None)
        trace["traceEvents"] = kept
        info = trace.get("distributedInfo")
        if info:
            trace["distributedInfo"] = {k: info[k] for k in ("backend", "rank", "world_size") if k in info}
    each(folder, change)


def shuffled(folder):
    """Events in no order, as they are when tools have merged them."""
    def change(trace):
        random.Random(5).shuffle(trace["traceEvents"])
    each(folder, change)


def skewed(folder):
    """Each rank on a machine whose clock is some seconds off."""
    for number, path in enumerate(paths(folder)):
        trace = load(path)
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] = float(event["ts"]) + 1.7e6 * number
        store(path, trace)
