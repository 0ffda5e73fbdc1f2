"""What one rank records, as PyTorch writes it: the parts of which make_dumps.py makes its cases."""

START = 1_700_000_000_000_000_000
THREAD = tuple({"name": name, "filename": "/usr/lib/python3.12/threading.py", "line": line}
               for name, line in (("run", 1012), ("_bootstrap_inner", 1075), ("_bootstrap", 1032)))


class Rank:
    """What one rank recorded. `groups`: name → (description, members), in order of creation."""

    def __init__(self, rank, groups, backend="nccl"):
        self.rank, self.groups, self.backend = rank, groups, backend
        self.entries = []
        self.seq = {name: 0 for name in groups}
        self.p2p = {name: 0 for name in groups}
        self.parts = {name: 0 for name in groups}  # each counts as an op of its own

    def call(self, group, op="all_reduce", *, open=False, size=(8,), dtype="Float", p2p=None,
             listed=True, state=None, at=None, started=False, thread=False):
        if p2p is None:
            self.seq[group] += 1
        else:
            self.p2p[group] += 1
        if not listed:
            return self
        name = f"{self.backend}:{op}" + (f" {p2p}" if p2p else "")
        self.entries.append({
            "record_id": len(self.entries),
            "pg_id": list(self.groups).index(group),
            "process_group": (group, self.groups[group][0]),
            "collective_seq_id": self.seq[group],
            "p2p_seq_id": self.p2p[group],
            "op_id": self.seq[group] + self.p2p[group] + self.parts[group],
            "profiling_name": name,
            "time_created_ns": START + (len(self.entries) if at is None else at) * 1_000_000,
            "input_sizes": [list(size)],
            "input_dtypes": [dtype],
            "output_sizes": [list(size)],
            "output_dtypes": [dtype],
            "state": state or "scheduled",
            "time_discovered_started_ns": START if started else None,
            "time_discovered_completed_ns": None,
            "retired": not open,
            "timeout_ms": 600000,
            "is_p2p": p2p is not None,
            "frames": [{"name": "step", "filename": "train.py", "line": 1}, *(THREAD if thread else ())],
        })
        return self

    def batch(self, group, parts, *, open=False, p2p=True, old=False):
        """Ops launched as one, as PyTorch records them: the parts share a number and are never updated, the
        closing entry has the state. Until 2.4 it is not marked as point-to-point."""
        counts = self.p2p if p2p else self.seq
        counts[group] += 1
        for part in parts:
            counts[group] -= 1  # call() counts up
            op, _, ends = part.partition(" ")
            self.call(group, op, p2p=ends or None, open=True)
            self.parts[group] += 1
        counts[group] -= 1
        self.call(group, "coalesced", p2p="" if p2p else None, open=open, state="scheduled" if open else "completed")
        self.entries[-1]["is_p2p"] = p2p and not old
        return self

    def dump(self, version="2.10", only_open=False, config=True):
        entries = [e for e in self.entries if not e["retired"]] if only_open else self.entries
        status = {}
        for i, name in enumerate(self.groups):
            count = self.seq[name] + (self.p2p[name] if self.backend == "gloo" else 0)
            if self.backend == "nccl" and self.p2p[name]:
                count = self.p2p[name]
            status[str(i)] = {"last_enqueued_collective": count, "last_started_collective": -1,
                              "last_completed_collective": count}
        groups = {name: {"name": name, "desc": desc, "ranks": str(ranks)}
                  for name, (desc, ranks) in self.groups.items()}
        return {"version": version, "pg_config": groups if config else
                {"": {"name": "", "desc": "", "ranks": "[]"}},
                "nccl_version": "2.27.3", "pg_status": status, "entries": entries}


def as_json(dump):
    """As PyTorch's dump_json() writes it: counts as text, 0 for a time that is not known."""
    for status in dump["pg_status"].values():
        status.update((key, str(count)) for key, count in status.items())
    for entry in dump["entries"]:
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            entry[key] = entry[key] or 0
        del entry["frames"]
    return dump


def world(n, backend="nccl"):
    groups = {"0": ("default_pg", list(range(n)))}
    return [Rank(r, groups, backend) for r in range(n)]
