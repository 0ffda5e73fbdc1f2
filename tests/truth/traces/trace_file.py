"""Writes what a rank did as PyTorch's profiler prints it: one gzipped file a rank."""
import gzip
import json

from traces.plans import NODE

HOST = 4242
KERNELS = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "_allgather_base": "AllGather_RING_LL",
           "_reduce_scatter_base": "ReduceScatter_Sum_bf16_RING_LL", "all_to_allv": "SendRecv",
           "send": "SendRecv", "recv": "SendRecv"}


def metadata(op, group, elements, rank, peer):
    given = {"Collective name": op, "In msg nelems": elements, "Out msg nelems": elements,
             "Group size": len(group.ranks), "dtype": "BFloat16", "Process Group Name": group.name,
             "Process Group Description": group.description, "Process Group Ranks": str(group.ranks)}
    if op == "send":
        given.update({"Src Rank": rank, "Dst Rank": peer})
    if op == "recv":
        given.update({"Src Rank": peer, "Dst Rank": rank})
    return given


def events_of(rank, shift):
    def event(category, name, thread, begin, duration, args):
        return {"ph": "X", "cat": category, "name": name, "pid": rank.number if thread < 100 else HOST,
                "tid": thread, "ts": round(begin + shift, 3), "dur": round(duration, 3), "args": args}
    sequence = {}
    for kind, name, begin, duration, *more in sorted(rank.events, key=lambda e: e[2]):
        if kind == "runtime":
            yield event("cuda_runtime", name, HOST, begin, duration, {"cbid": 211, "correlation": more[0]})
        elif kind == "kernel":
            yield event("kernel", name, more[1], begin, duration, {
                "device": rank.number % NODE, "context": 1, "stream": more[1], "correlation": more[0],
                "grid": [more[2], 1, 1], "block": [256, 1, 1], "registers per thread": 64})
        elif kind == "copy":
            yield event("gpu_memcpy", name, more[1], begin, duration, {
                "device": rank.number % NODE, "context": 1, "stream": more[1], "correlation": more[0],
                "bytes": more[2]})
        elif kind == "params":
            group, elements, peer = more
            given = metadata(name, group, elements, rank.number, peer)
            if peer is None:
                sequence[group.name] = sequence.get(group.name, 0) + 1
                given["Seq"] = sequence[group.name]
            yield event("cpu_op", "record_param_comms", HOST, begin, duration, given)
        elif kind == "nccl":
            correlation, stream, group, elements, peer = more
            yield event("kernel", f"ncclDevKernel_{KERNELS[name]}(ncclDevKernelArgsStorage<4096ul>)", stream,
                        begin, duration.end - begin, {
                            "device": rank.number % NODE, "context": 1, "stream": stream,
                            "correlation": correlation, "grid": [16, 1, 1], "block": [544, 1, 1],
                            **metadata(name, group, elements, rank.number, peer)})
        else:
            yield event(more[0], name, HOST, begin, duration, {})


def write(plan, folder, random, hosts):
    """`hosts`: the traces tell them. Node clocks lie apart."""
    folder.mkdir(parents=True)
    shifts = [random.uniform(-5e4, 5e4) for _ in range(plan.size // NODE + 1)]
    for rank in plan.world.ranks:
        groups = [{"pg_name": group.name, "pg_desc": group.description, "pg_size": len(group.ranks),
                   "ranks": group.ranks} for group in plan.groups if rank.number in group.ranks]
        trace = {"schemaVersion": 1, "deviceProperties": [], "distributedInfo": {
            "backend": "nccl", "rank": rank.number, "world_size": plan.size, "pg_config": groups},
            "baseTimeNanoseconds": 1790857026000000000}
        if hosts:
            trace["host_name"] = f"gpu-{rank.number // NODE:03d}"
        trace["traceEvents"] = list(events_of(rank, shifts[rank.number // NODE]))
        with gzip.open(folder / f"rank{rank.number}.json.gz", "wt", compresslevel=1) as out:
            json.dump(trace, out)
