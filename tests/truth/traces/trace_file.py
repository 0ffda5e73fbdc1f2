"""Writes what a rank did as PyTorch's profiler prints it: one gzipped file a rank."""
import gzip
import json

from traces import dialects
from traces.plans import NODE

HOST = 4242


def metadata(op, group, elements, rank, peer):
    given = {"Collective name": op, "In msg nelems": elements, "Out msg nelems": elements,
             "Group size": len(group.ranks), "dtype": "BFloat16", "Process Group Name": group.name,
             "Process Group Description": group.description, "Process Group Ranks": str(group.ranks)}
    if op == "send":
        given.update({"Src Rank": rank, "Dst Rank": peer})
    if op == "recv":
        given.update({"Src Rank": peer, "Dst Rank": rank})
    return given


class Printer:
    """The events of one rank, one after the other, in one dialect."""

    def __init__(self, rank, shift, dialect):
        self.rank, self.shift, self.dialect = rank, shift, dialect
        self.sequence = {}
        self.launched = {event[4]: event for event in rank.events if event[0] == "kernel"}

    def event(self, category, name, thread, begin, duration, args):
        return {"ph": "X", "cat": category, "name": name, "pid": self.rank.number if thread < 100 else HOST,
                "tid": thread, "ts": round(begin + self.shift, 3), "dur": round(duration, 3), "args": args}

    def device(self, stream, correlation, grid, threads):
        return self.dialect.device_args(self.rank.number % NODE, stream, correlation, grid, threads)

    def runtime(self, name, begin, duration, correlation):
        kernel = self.launched.get(correlation)
        gemm = kernel is not None and "gemm" in kernel[1]
        return self.event("cuda_runtime", self.dialect.runtime(name, gemm), HOST, begin, duration,
                          self.dialect.launch_args(correlation, kernel[6] if kernel else 0))

    def kernel(self, name, begin, duration, correlation, stream, grid):
        return self.event("kernel", self.dialect.kernel(name), stream, begin, duration,
                          self.device(stream, correlation, grid, 256))

    def copy(self, name, begin, duration, correlation, stream, size):
        args = self.device(stream, correlation, 1, 1)
        for key in ("grid", "block", "registers per thread"):
            args.pop(key, None)
        return self.event("gpu_memcpy", name, stream, begin, duration, {**args, "bytes": size})

    def params(self, op, begin, duration, group, elements, peer):
        if not self.dialect.tells_parameters:
            return self.event("cpu_op", f"c10d::{dialects.C10D[op]}", HOST, begin, duration + 6.0, {
                "Input Dims": [[elements], [], []], "Input type": ["c10::BFloat16", "", ""]})
        given = metadata(op, group, elements, self.rank.number, peer)
        if peer is None and self.dialect.tells_sequence:
            self.sequence[group.name] = self.sequence.get(group.name, 0) + 1
            given["Seq"] = self.sequence[group.name]
        return self.event("cpu_op", "record_param_comms", HOST, begin, duration, given)

    def nccl(self, op, begin, join, correlation, stream, group, elements, peer):
        args = self.device(stream, correlation, 16, 544)
        if group and self.dialect.tells_parameters:
            args.update(metadata(op, group, elements, self.rank.number, peer))
        return self.event("kernel", self.dialect.nccl(op), stream, begin, join.end - begin, args)

    def all(self):
        of = {"runtime": self.runtime, "kernel": self.kernel, "copy": self.copy, "params": self.params,
              "nccl": self.nccl}
        for kind, name, begin, *more in sorted(self.rank.events, key=lambda e: e[2]):
            if kind in of:
                yield of[kind](name, begin, *more)
            else:
                yield self.event(more[1], name, HOST, begin, more[0], {})


def write(plan, folder, random, hosts, dialect="newest", ranks=None):
    """`hosts`: the traces tell them. Node clocks lie apart. `ranks`: only these were kept."""
    folder.mkdir(parents=True)
    dialect = dialects.DIALECTS[dialect]
    shifts = [6e4 + random.uniform(-5e4, 5e4) for _ in range(plan.size // NODE + 1)]
    for rank in plan.world.ranks:
        if ranks is not None and rank.number not in ranks:
            continue
        groups = [{"pg_name": group.name, "pg_desc": group.description, "pg_size": len(group.ranks),
                   "ranks": group.ranks} for group in plan.groups if rank.number in group.ranks]
        info = {"backend": "nccl", "rank": rank.number, "world_size": plan.size}
        if dialect.tells_parameters:
            info["pg_config"] = groups
        trace = {"schemaVersion": 1, "deviceProperties": [], "distributedInfo": info,
                 "baseTimeNanoseconds": 1790857026000000000}
        if hosts:
            trace["host_name"] = f"gpu-{rank.number // NODE:03d}"
        trace["traceEvents"] = list(Printer(rank, shifts[rank.number // NODE], dialect).all())
        with gzip.open(folder / f"rank{rank.number}.json.gz", "wt", compresslevel=1) as out:
            json.dump(trace, out)
