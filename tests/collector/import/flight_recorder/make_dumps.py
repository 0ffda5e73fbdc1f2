#!/usr/bin/env python3
"""Writes the small Flight Recorder dumps of dumps/, one folder a case.

Run in this folder after a change; the dumps are committed. Each case is a job of a few ranks whose
truth is known by construction; import_cases_test.cc says what must come out.
"""
import json
import pathlib
import pickle
import shutil

from recorded_rank import Rank, as_json, world

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "dumps"


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


def one_absent(n=4, absent=(2,), calls=5, **extra):
    ranks = world(n)
    for rank in ranks:
        for _ in range(calls):
            rank.call("0", **extra)
        if rank.rank not in absent:
            rank.call("0", open=True, **extra)
    return ranks


def heartbeat(beats=(9, 8, 9, 8), size=(1,), stuck=True, history=True):
    """Beside the training a thread beats. Rank 2 does not come to the sixth op; its heartbeat goes on, and the
    dumps, taken one after the other, show ranks inside a beat that others have not come to."""
    groups = {"0": ("default_pg", [0, 1, 2, 3]), "1": ("HEARTBEAT", [0, 1, 2, 3])}
    ranks = [Rank(r, groups) for r in range(4)]
    for rank in ranks:
        for _ in range(5):
            rank.call("0", size=(1 << 20,))
        if stuck and rank.rank != 2:
            rank.call("0", size=(1 << 20,), open=True)
        for i in range(beats[rank.rank]):
            rank.call("1", size=size, open=i == max(beats) - 1, thread=True)
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


def pipeline_of_batches(last, rounds=4, old=False):
    """0 → 1 → 2 → 3 in batches of one message, then the sum of all; `last` are the ends of each rank."""
    ranks = world(4)
    for rank in ranks:
        r = rank.rank
        for _ in range(rounds):
            if r > 0:
                rank.batch("0", [f"recv {r}<-{r - 1}"], old=old)
            if r < 3:
                rank.batch("0", [f"send {r}->{r + 1}"], old=old)
            rank.call("0", state="completed")
        last(rank)
    return ranks


def batches(rounds=4):
    def one_stopped(rank):  # rank 1 takes nothing any more; 2 and 3 wait for what it does not send
        r = rank.rank
        if r == 0:
            rank.batch("0", ["send 0->1"], open=True)
        if r > 1:
            rank.batch("0", [f"recv {r}<-{r - 1}"], open=True)

    def half_a_batch(rank):  # rank 0 sends nothing; of the batch of 1 the message to 2 arrived
        r = rank.rank
        if r == 1:
            rank.batch("0", ["send 1->2", "recv 1<-0"], open=True)
        if r == 2:
            rank.batch("0", ["recv 2<-1"])
        if r > 1:
            rank.call("0", open=True)

    def on_its_way(rank):
        r = rank.rank
        if r == 0:
            rank.batch("0", ["send 0->1"], open=True)
        if r == 1:
            rank.batch("0", ["recv 1<-0"], open=True)
        if r > 1:
            rank.call("0", open=True)

    def in_the_sum(rank):
        if rank.rank != 2:
            rank.call("0", open=True)

    return {"batched_healthy": pipeline_of_batches(lambda rank: None),
            "batched_healthy_old": pipeline_of_batches(lambda rank: None, old=True),
            "batched_stage_absent": pipeline_of_batches(one_stopped),
            "batched_half": pipeline_of_batches(half_a_batch),
            "batched_on_its_way": pipeline_of_batches(on_its_way),
            "batched_absent_in_sum": pipeline_of_batches(in_the_sum, rounds)}


def coalesced(absent=(2,)):
    """Uneven all-gathers: PyTorch makes each of several broadcasts in one launch."""
    ranks = world(4)
    for rank in ranks:
        parts = ["_broadcast_oop"] * 4
        for _ in range(4):
            rank.batch("0", parts, p2p=False)
        if rank.rank not in absent:
            rank.batch("0", parts, p2p=False, open=True)
    return ranks


def crossed(n=4, odd=(2,), rounds=6, always=False, started=False):
    """Two groups of the same ranks. In the last round the odd ones enter them in the other order, which
    their devices keep."""
    ranks = []
    for r in range(n):
        rank = Rank(r, {"0": ("default_pg", list(range(n))), "1": ("TENSOR", list(range(n))),
                        "2": ("DATA", list(range(n)))})
        last = ("2", "1") if r in odd else ("1", "2")
        for _ in range(rounds):
            for group in last if always else ("1", "2"):
                rank.call(group, state="completed", started=started)
        for group in last:
            rank.call(group, open=True)
        ranks.append(rank)
    return ranks


def sizes(op, odd=(2,)):
    ranks = world(4)
    for rank in ranks:
        for _ in range(3):
            rank.call("0", op, size=(1024,), state="completed")
        rank.call("0", op, size=(2048 if rank.rank in odd else 1024,), open=True)
    return ranks


def mismatch_in_a_pair():
    """Rank 1 calls another kind than 0 and 2 in the group of three; 3, 4 and 5 wait for these in the sum."""
    ranks = []
    for r in range(6):
        groups = {"0": ("default_pg", list(range(6))), "1" if r < 3 else "2": ("TENSOR", [0, 1, 2] if r < 3 else [3, 4, 5])}
        rank = Rank(r, groups)
        rank.call("1" if r < 3 else "2").call("0")
        if r < 3:
            rank.call("1", "all_gather" if r == 1 else "all_reduce", open=True)
            rank.entries[-1]["frames"] = [
                {"name": "all_reduce", "filename": "torch/distributed/distributed_c10d.py", "line": 3245},
                {"name": "reduce_loss", "filename": "train.py", "line": 175 if r == 1 else 179}]
        else:
            rank.call("2").call("0", open=True)
        ranks.append(rank)
    return ranks


def at_other_times(ranks, which, seconds):
    for rank in ranks:
        if rank.rank in which:
            for entry in rank.entries:
                entry["time_created_ns"] += seconds * 10**9
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
    write("heartbeat", heartbeat())
    write("heartbeat_open_only", heartbeat(), only_open=True)
    write("heartbeat_alone_stuck", heartbeat((9, 9, 9, 8), stuck=False))
    write("heartbeat_with_data", heartbeat(size=(1 << 20,)))
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
    for case, ranks in batches().items():
        write(case, ranks)
    write("crossed", crossed())
    write("crossed_pair", crossed(2, (1,)))
    write("crossed_unknown", crossed(2, (1,), rounds=0))
    write("crossed_always", crossed(always=True))
    write("crossed_not", crossed(odd=()))
    write("size_of_reduce_scatter", sizes("_reduce_scatter_base"))
    write("size_of_all_gather", sizes("_all_gather_base"))
    write("size_of_all_to_all", sizes("all_to_all"))
    write("size_of_list", sizes("all_gather"))
    write("size_same", sizes("_all_gather_base", ()))
    write("mismatch_in_a_pair", mismatch_in_a_pair())
    for name in "AB":
        write("two_names", one_absent(absent=(1,) if name == "A" else (3,)), name="job" + name + "_rank_{}")
    write("two_worlds", one_absent())
    write("two_worlds", [r for r in one_absent(8, (6,), calls=20) if r.rank >= 4])
    write("left_from_before", at_other_times(one_absent(absent=()), (0, 1, 3), 3600))
    write("half_from_before", at_other_times(one_absent(absent=()), (2, 3), 3600))
    # Clocks that are 20 s apart, and a rank that stopped long before the dumps were taken.
    write("clocks_apart", at_other_times(one_absent(), (0, 1), 20))
    write("half_missing", one_absent(8, (3,))[4:])
    write("one_of_many", one_absent(8, (3,))[:1])
    write("empty", world(1))
    write("all_empty", world(4))
    folder = write("all_cut", one_absent())
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:250])
    write("batched_open_only", batches(rounds=16)["batched_absent_in_sum"], only_open=True)
    write("coalesced_absent", coalesced())
    write("coalesced_healthy", coalesced((0, 1, 2, 3)))
    write("coalesced_all_inside", coalesced(()))
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
    doubt = pipeline()
    doubt[3].groups["2"] = ("TENSOR", [3])
    write("contradicting_group", doubt)

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
