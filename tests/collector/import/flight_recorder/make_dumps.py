#!/usr/bin/env python3
"""Writes the small Flight Recorder dumps of dumps/, one folder a case.

Run in this folder after a change; the dumps are committed. Each case is a job of a few ranks whose
truth is known by construction; import_cases_test.cc says what must come out.
"""
import json
import pathlib
import pickle
import shutil

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "dumps"
START = 1_700_000_000_000_000_000


class Rank:
    """What one rank recorded. `groups`: name → (description, members), in order of creation."""

    def __init__(self, rank, groups, backend="nccl"):
        self.rank, self.groups, self.backend = rank, groups, backend
        self.entries = []
        self.seq = {name: 0 for name in groups}
        self.p2p = {name: 0 for name in groups}

    def call(self, group, op="all_reduce", *, open=False, size=(8,), dtype="Float", p2p=None,
             listed=True, state=None, at=None, started=False):
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
            "op_id": self.seq[group] + self.p2p[group],
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
            "frames": [{"name": "step", "filename": "train.py", "line": 1}],
        })
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


def write(case, ranks, protocol=2, name="_dump_{}", **options):
    folder = ROOT / case
    folder.mkdir(parents=True, exist_ok=True)
    for rank in ranks:
        path = folder / name.format(rank.rank)
        dump = rank.dump(**options)
        if protocol == "json":
            path.write_text(json.dumps(as_json(dump)))
        else:
            path.write_bytes(pickle.dumps(dump, protocol=protocol))
    return folder


def world(n, backend="nccl"):
    groups = {"0": ("default_pg", list(range(n)))}
    return [Rank(r, groups, backend) for r in range(n)]


def one_absent(n=4, absent=(2,), calls=5, **extra):
    ranks = world(n)
    for rank in ranks:
        for _ in range(calls):
            rank.call("0", **extra)
        if rank.rank not in absent:
            rank.call("0", open=True, **extra)
    return ranks


def shared_name():
    """Two pairs, each of which calls its group "1" and does other work on it. Ranks 1 and 3 do not come
    to the sixth op of theirs."""
    ranks = [Rank(r, {"0": ("default_pg", [0, 1, 2, 3]), "1": ("TENSOR", [r // 2 * 2, r // 2 * 2 + 1])})
             for r in range(4)]
    for rank in ranks:
        op = "all_reduce" if rank.rank < 2 else "_all_gather_base"
        for _ in range(5):
            rank.call("1", op)
        if rank.rank in (0, 2):
            rank.call("1", op, open=True)
    return ranks


def pipeline(backend="nccl", listed=True):
    """Two stages of two: 0, 1 → 2, 3. Rank 3 stopped coming; 2 waits for it in its stage's group, 0
    and 1 wait to send to their stage's end."""
    ranks = []
    for r in range(4):
        stage, lane = divmod(r, 2)
        groups = {"0": ("default_pg", [0, 1, 2, 3]),
                  str(1 + stage): ("TENSOR", [2 * stage, 2 * stage + 1]),
                  str(3 + lane): ("PIPELINE", [lane, lane + 2])}
        rank = Rank(r, groups, backend)
        tensor, pipe = str(1 + stage), str(3 + lane)
        for _ in range(3):
            rank.call(tensor)
            rank.call(pipe, "send" if stage == 0 else "recv",
                      p2p="0->1" if stage == 0 else "1<-0", listed=listed)
        if stage == 0:
            rank.call(tensor).call(pipe, "send", p2p="0->1", open=True, listed=listed)
        if r == 2:
            rank.call(tensor, open=True)
        ranks.append(rank)
    return ranks


def messages():
    """Neighbours exchange, the even one sends first. In the last round an order cannot meet."""
    def rank(r, rounds=5, first=None, peer=None, history=True):
        me = Rank(r, {"0": ("default_pg", [0, 1, 2, 3])})
        ends = f"{r}->{r ^ 1}", f"{r}<-{r ^ 1}"
        steps = [("send", ends[0]), ("recv", ends[1])] if r % 2 == 0 else [("recv", ends[1]), ("send", ends[0])]
        for _ in range(rounds):
            for op, both in steps:
                me.call("0", op, p2p=both, listed=history)
            me.call("0", listed=history)
        if first:
            sends = first == "send"
            me.call("0", first, p2p=f"{r}{'->' if sends else '<-'}{r ^ 1 if peer is None else peer}", open=True)
        return me

    def done(r, **options):  # has exchanged, and waits in the sum
        me = rank(r, **options)
        both = [("send", "->"), ("recv", "<-")]
        for op, arrow in both if r % 2 == 0 else reversed(both):
            me.call("0", op, p2p=f"{r}{arrow}{r ^ 1}")
        return me.call("0", open=True)

    both_send = [rank(0, first="send"), rank(1, first="send"), done(2), done(3)]
    # Of the first exchange nobody has a habit.
    unknown = [rank(0, 0, "recv"), rank(1, 0, "recv"), done(2, rounds=0), done(3, rounds=0)]
    wrong_peer = [rank(0, first="recv", peer=3), rank(1, first="recv"), done(2), done(3)]
    # Both ends are there: the message itself does not move.
    on_its_way = [rank(0, first="send"), rank(1, first="recv"), done(2), done(3)]
    return {"both_send": both_send, "both_receive_at_once": unknown, "receives_from_another": wrong_peer,
            "message_on_its_way": on_its_way}


def device_stuck():
    """Starts are timed. The hosts run ahead; the device of rank 3 never came to op 6."""
    ranks = world(4)
    for rank in ranks:
        for _ in range(5):
            rank.call("0", state="completed", started=True)
        rank.call("0", open=True, state="scheduled" if rank.rank == 3 else "started")
        rank.call("0", open=True)
    return ranks


def device_stuck_behind_a_peer():
    """Tensor groups 0, 1 and 2, 3. Rank 3's host never enqueued its tensor op; the device of rank 2
    waits in that op, so the op of all that it has enqueued behind it does not begin."""
    ranks = []
    for r in range(4):
        groups = {"0": ("default_pg", [0, 1, 2, 3]), str(1 + r // 2): ("TENSOR", [r // 2 * 2, r // 2 * 2 + 1])}
        rank = Rank(r, groups)
        tensor = str(1 + r // 2)
        rank.call(tensor, state="completed", started=True).call("0", state="completed", started=True)
        if r < 2:
            rank.call(tensor, state="completed", started=True).call("0", open=True, state="started")
        if r == 2:
            rank.call(tensor, open=True, state="started").call("0", open=True)
        ranks.append(rank)
    return ranks


def left_behind(enqueued_ahead, op="all_reduce", behind=(1,), n=4):
    """All entered op 5; all but those behind finished it and wait in op 6."""
    ranks = world(n)
    for rank in ranks:
        late = rank.rank in behind
        for _ in range(4):
            rank.call("0", state="completed")
        rank.call("0", op, open=late, state="scheduled" if late else "completed")
        if not late or enqueued_ahead:
            rank.call("0", open=True)
    return ranks


def members_not_known():
    """Gloo tells no members. Data groups are 0, 2, 4 and 1, 3, 5; rank 4 never came to the sixth op
    of its group, and ranks 1 and 4 left no dump: 0 and 2 look like all of theirs."""
    ranks = []
    for r in (0, 2, 3, 5):
        data = str(4 + r % 2)
        rank = Rank(r, {"0": ("default_pg", [0, 1, 2, 3, 4, 5]), data: ("DATA", [])}, "gloo")
        for _ in range(5):
            rank.call(data).call("0")
        ranks.append(rank.call(data, open=True) if r % 2 == 0 else rank.call(data).call("0", open=True))
    return ranks


def skipped_in_a_pair():
    """Each iteration: tensor, data, all. Rank 1 leaves out the tensor op of its group with rank 0 and
    waits in the op of all; 0 waits for it in the tensor group. Counts alone accuse both."""
    ranks = []
    for r in range(2):
        rank = Rank(r, {"0": ("default_pg", [0, 1]), "1": ("TENSOR", [0, 1])})
        for _ in range(5):
            rank.call("1").call("1").call("0")
        if r == 0:
            rank.call("1").call("1", open=True)
        else:
            rank.call("1").call("0", open=True)
        ranks.append(rank)
    return ranks


def rebuilt():
    """The group was built again after 40 ops and counts from 1; rank 2 stops coming after op 3."""
    ranks = world(4)
    for rank in ranks:
        for _ in range(40):
            rank.call("0")
        rank.seq["0"] = 0
        for _ in range(3):
            rank.call("0")
        if rank.rank != 2:
            rank.call("0", open=True)
    return ranks


def stale():
    """Rank 2 wrote its record early: others completed ops that it had not entered then."""
    ranks = world(4)
    for rank in ranks:
        for _ in range(3 if rank.rank == 2 else 6):
            rank.call("0", state="completed")
        rank.call("0", open=True)
    return ranks


def main():
    shutil.rmtree(ROOT, ignore_errors=True)
    write("absent", one_absent())
    for protocol in (0, 1, 3, 4, 5):
        write(f"absent_protocol_{protocol}", one_absent(), protocol=protocol)
    write("shared_name", shared_name())
    write("absent_json", one_absent(), protocol="json", name="nccl_trace_rank_{}.json")
    write("absent_two", one_absent(8, (1, 6)))
    write("absent_empty_dump", one_absent(), only_open=True)
    write("absent_minority_inside", one_absent(5, (1, 2, 3, 4)))
    write("device_stuck", device_stuck())
    write("device_stuck_behind_a_peer", device_stuck_behind_a_peer())
    write("left_behind", left_behind(False))
    write("left_behind_enqueued_ahead", left_behind(True))
    write("left_behind_in_broadcast", left_behind(False, op="broadcast"))
    write("left_behind_two", left_behind(False, behind=(1, 3), n=5))
    write("members_not_known", members_not_known(), config=False)
    write("stale", stale())
    write("rebuilt", rebuilt())
    write("skipped_in_a_pair", skipped_in_a_pair())
    write("healthy", one_absent(4, (0, 1, 2, 3)))

    old = one_absent()
    for rank in old:
        for entry in rank.entries:
            entry["state"] = "started" if not entry["retired"] else "completed"
            del entry["retired"]
    write("absent_v2_3", old, version="2.3")

    missing = one_absent()
    write("missing_dump", [r for r in missing if r.rank != 2])
    folder = write("truncated", one_absent())
    path = folder / "_dump_1"
    path.write_bytes(path.read_bytes()[:-120])
    folder = write("hostile", one_absent())
    (folder / "_dump_3").write_bytes(b"\x80\x02}q\x00(X\x07\x00\x00\x00entriescposix\nsystem\nX\x04\x00\x00\x00true\x85Ru.")
    folder = write("duplicate", one_absent())
    (folder / "_dump_2.pickle").write_bytes((folder / "_dump_2").read_bytes())
    folder = write("contradicting", one_absent())
    other = one_absent()[1].dump()
    other["pg_config"]["0"]["ranks"] = "[0, 1]"
    (folder / "_dump_1").write_bytes(pickle.dumps(other, protocol=2))

    odd = world(4)
    for rank in odd:
        rank.call("0").call("0", size=(9 if rank.rank == 1 else 8,), open=True)
    write("size_mismatch", odd)
    pair = world(2)
    pair[0].call("0").call("0", "all_reduce", open=True)
    pair[1].call("0").call("0", "broadcast", open=True)
    write("kind_mismatch_of_two", pair)
    uneven = world(4)
    for rank in uneven:
        rank.call("0", "all_to_all", size=(8 + rank.rank,))
        if rank.rank != 3:
            rank.call("0", "all_gather", size=(8 + rank.rank,), open=True)
    write("uneven_sizes", uneven)

    write("all_inside", one_absent(4, ()))
    write("all_in_barrier", one_absent(4, (), op="barrier"))
    ending = one_absent(4, (1,))
    ending[1].call("0")
    write("ending", ending)

    write("pipeline", pipeline(), only_open=True)
    write("pipeline_gloo", pipeline("gloo", listed=False), config=False)

    ring = []
    for r in range(2):
        groups = {"0": ("default_pg", [0, 1]), "1": ("A", [0, 1]), "2": ("B", [0, 1])}
        ring.append(Rank(r, groups).call("1").call("2").call("1" if r == 0 else "2", open=True))
    write("ring_of_two", ring)
    for case, ranks in messages().items():
        write(case, ranks)


if __name__ == "__main__":
    main()
