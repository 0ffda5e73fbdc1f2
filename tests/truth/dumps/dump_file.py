"""Writes what a job did as the dumps of PyTorch's Flight Recorder, version 2.9: one pickle a rank."""
import pickle

INF = float("inf")
BEGAN_NS = 1_790_000_000_000_000_000
RING = 2000


def write(folder, job, plan, fault, only_open, timed, missing):
    for rank in job.ranks:
        if rank.number in missing:
            continue
        with open(folder / ("_dump_%d" % rank.number), "wb") as file:
            pickle.dump(dump(rank, plan, fault, only_open, timed), file, protocol=2)


def dump(rank, plan, fault, only_open, timed):
    groups = [group for group in plan.groups if rank.number in group.ranks]
    local = {group.name: number for number, group in enumerate(groups)}
    status = {str(n): {"last_enqueued_collective": -1, "last_started_collective": -1, "last_completed_collective": -1}
              for n in range(len(groups))}
    counts, entries = {}, []
    for number, piece in enumerate(rank.entries):
        entry = entry_of(piece, number, rank.number, local, counts, fault, timed)
        told = status[str(entry["pg_id"])]
        told["last_enqueued_collective"] = entry["op_id"]
        if entry["state"] != "scheduled":
            told["last_started_collective"] = entry["op_id"]
        if entry["retired"]:
            told["last_completed_collective"] = entry["op_id"]
        entries.append(entry)
    entries = [e for e in entries[-RING:] if not (only_open and e["retired"])]
    config = {g.name: {"name": g.name, "desc": g.description, "ranks": str(g.ranks)} for g in groups}
    return {"version": "2.9", "pg_config": config, "nccl_version": "2.27.5", "pg_status": status, "entries": entries}


def entry_of(piece, number, rank, local, counts, fault, timed):
    transfer = piece.transfer
    name = transfer.group.name
    message = transfer.kind in ("send", "recv") or transfer.key[1] != ""
    done = piece.end is not None and fault.sees(rank, piece.end)
    began = timed and piece.start is not None and fault.sees(rank, piece.start)
    counts.setdefault(name, [0, 0])[1 if message else 0] += 1
    collective, p2p = counts[name]
    ends = [transfer.group.ranks.index(r) for r in transfer.ranks] if message else []
    kind = transfer.kind
    if message:
        kind = "send %d->%d" % tuple(ends) if rank == transfer.ranks[0] else "recv %d<-%d" % (ends[1], ends[0])
    state = "completed" if done and timed else "started" if began else "completed" if done else "scheduled"
    when = lambda t: BEGAN_NS + int(t * 1000)  # noqa: E731
    return {"record_id": number, "pg_id": local[name], "process_group": (name, transfer.group.description),
            "collective_seq_id": collective, "p2p_seq_id": p2p if message else 0, "op_id": collective + p2p,
            "profiling_name": "nccl:" + kind, "time_created_ns": when(piece.enqueued), "input_sizes": [[4096, 1024]],
            "input_dtypes": ["BFloat16"], "output_sizes": [[4096, 1024]], "output_dtypes": ["BFloat16"], "state": state,
            "time_discovered_started_ns": when(piece.start) if began else None,
            "time_discovered_completed_ns": when(piece.end) if done else None, "retired": done,
            "timeout_ms": 600000, "is_p2p": message, "frames": []}
