"""Reads a ring file of the tracer, from nothing but docs/formats/ring.md: the tests' own reader."""
import struct
from collections import namedtuple

MAGIC = 0x31474E524D485446
NONE32, NONE64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
KINDS = ("none", "enter", "return", "exec_start", "exec_end", "wait_start", "wait_end", "wire", "mark",
         "gpu_start", "gpu_end", *(f"free_{kind}" for kind in range(11, 16)), "device_calls", "sync_start", "sync_end",
         "products")
COLLECTIVES = ("unknown", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
               "gather", "scatter", "barrier", "send", "recv", "step")
DROPS = ("reentrant", "group_table_full", "member_arena_full", "symbol_missing", "bad_setting", "after_fork",
         "sequence_mismatch", "internal", "plugin_unmatched", "transfer_table_full",
         "graph_table_full")
ASYNC, BYTES_UNKNOWN, SEQUENCE_GUESS, FAILED, WAIT_ALL, DEVICE, CAPTURED = 1, 2, 4, 8, 16, 32, 64

Record = namedtuple("Record", "ticket time_ns thread kind collective dtype flags group reduction peer op sequence bytes "
                    "extra")
Transfer = namedtuple("Transfer", "op group channel sends peer steps posted gpu moved done")
Group = namedtuple("Group", "state ordinal size rank form members address name description entered started completed stopped_ns "
                   "device bus_id")


def _text(raw):
    return raw.split(b"\0", 1)[0].decode()


class RingFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.raw = file.read()
        (magic, self.major, self.minor, _, self.region_bytes, record_bytes, self.record_count, control, groups, slots,
         group_bytes, arena, _, records, self.pid, self.generation, self.start_ticks, self.created_mono_ns,
         self.created_wall_ns, self.rank, self.world_size, self.local_rank, self.restart_count, self.sources,
         self.identity_source) = struct.unpack_from("<QHHIQIIQQIIQQQIIQqqIIIIII", self.raw, 0)
        transfers, places, place_bytes = struct.unpack_from("<QII", self.raw, 288)
        assert magic == MAGIC and transfers == self.region_bytes, path
        assert self.region_bytes + places * place_bytes == len(self.raw), path
        assert (record_bytes, slots, group_bytes, place_bytes) == (64, 256, 256, 64)
        self.job, self.run_id = _text(self.raw[136:200]), _text(self.raw[200:264])
        self.ready = struct.unpack_from("<I", self.raw, 280)[0]
        self.head, = struct.unpack_from("<Q", self.raw, control + 64)
        self.heartbeat_ns, self.group_count, self.arena_used, self.exiting = struct.unpack_from(
            "<QIII", self.raw, control + 192)
        self.drops = dict(zip(DROPS, struct.unpack_from("<10Q", self.raw, control + 256)))
        functions, = struct.unpack_from("<I", self.raw, control + 512)
        self.functions = [_text(self.raw[at:at + 96]) for at in range(control + 1024, control + 1024 + 96 * functions, 96)]
        self.groups = [self._group(groups + 256 * i, arena) for i in range(self.group_count)]
        self.records, self.torn = self._records(records)
        self.transfers = [t for t in map(self._transfer, range(transfers, len(self.raw), 64)) if t is not None]

    def _group(self, at, arena):
        state, ordinal, size, rank, form, count, first, stride, offset, _, address = struct.unpack_from(
            "<10IQ", self.raw, at)
        members = {0: None, 1: [first + i * stride for i in range(count)],
                   2: list(struct.unpack_from(f"<{count}I", self.raw, arena + offset)) if form == 2 else None}[form]
        entered, started, completed, stopped_ns, device = struct.unpack_from("<4QI", self.raw, at + 176)
        return Group(state, ordinal, size, rank, form, members, address, _text(self.raw[at + 48:at + 112]),
                     _text(self.raw[at + 112:at + 176]), entered, started, completed, stopped_ns,
                     device - 1 if device else None, _text(self.raw[at + 212:at + 232]))

    def _transfer(self, at):
        turn, peer, op, group, channel, sends, *counts = struct.unpack_from("<IIQHBB5I", self.raw, at)
        return Transfer(op, group, channel, sends == 1, peer, *counts) if turn % 2 == 1 else None

    def _records(self, base):
        found, torn = [], 0
        for ticket in range(max(0, self.head - self.record_count), self.head):
            at = base + 64 * (ticket % self.record_count)
            commit, time_ns, tid, kind, coll, dtype, flags, group, red, peer, op, seq, size, extra = struct.unpack_from(
                "<QqIBBBBHHIQQQQ", self.raw, at)
            if commit != ticket + 1:
                torn += 1
                continue
            found.append(Record(ticket, time_ns, tid, KINDS[kind], COLLECTIVES[coll], dtype, flags, group, red & 255, peer,
                                op, seq, size, extra))
        return found, torn
