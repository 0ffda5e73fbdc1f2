#!/usr/bin/env python3
"""`fathom analyze --perfetto`, read back by Perfetto's published field numbers: tracks, nesting, flows."""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FATHOM_BINARY_DIR"])
DATA = pathlib.Path(os.environ["FATHOM_DATA_DIR"]) / "torch_gloo"
BEGIN, END, INSTANT = 1, 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


class Message:
    """A protobuf message without its schema: values by field number."""

    def __init__(self, data):
        self.fields, at = collections.defaultdict(list), 0
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == 0:
                value, at = varint(data, at)
            elif key & 7 == 1:
                value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
            else:
                assert key & 7 == 2, f"wire type {key & 7}"
                size, at = varint(data, at)
                assert at + size <= len(data), "cut"
                value, at = data[at:at + size], at + size
            self.fields[key >> 3].append(value)

    def number(self, field):
        return self.fields[field][0] if field in self.fields else 0

    def text(self, field):
        return self.fields[field][0].decode() if field in self.fields else ""

    def messages(self, field):
        return [Message(value) for value in self.fields.get(field, [])]


def read(recording):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "job.perfetto-trace"
        subprocess.run([BUILD / "fathom", "analyze", DATA / recording, "--perfetto", out, "--exit-zero"],
                       check=True, stdout=subprocess.DEVNULL, timeout=60)
        return Message(out.read_bytes())


class Reader:
    """Follows the packets as a trace processor does: interned names, stacks of open slices."""

    def __init__(self, trace):
        self.tracks, self.slices, self.instants = {}, [], []
        names, categories, keys = {}, {}, {}
        open_slices = collections.defaultdict(list)
        newest = collections.defaultdict(int)
        for packet in trace.messages(1):
            for interned in packet.messages(12):
                for known, field in ((categories, 1), (names, 2), (keys, 3)):
                    known.update({entry.number(1): entry.text(2) for entry in interned.messages(field)})
            for descriptor in packet.messages(60):
                process = descriptor.messages(3)
                self.tracks[descriptor.number(1)] = (
                    descriptor.number(5), (process[0].number(1), process[0].text(6)) if process else None)
            for event in packet.messages(11):
                track, time, kind = event.number(11), packet.number(8), event.number(9)
                assert track in self.tracks, "an event before its track"
                assert time >= newest[track], "time runs back on a track"
                newest[track] = time
                if kind == END:
                    self.slices.append((track, time, *open_slices[track].pop()))
                    continue
                notes = {keys[note.number(1)]: note.text(6) for note in event.messages(4)}
                found = (time, names[event.number(10)], categories[event.number(3)], event.fields.get(47, []), notes)
                if kind == INSTANT:
                    self.instants.append(found)
                else:
                    open_slices[track].append(found)
        assert not any(open_slices.values()), "slices that never end"

    def process(self, track):
        while self.tracks[track][1] is None:
            track = self.tracks[track][0]
        return self.tracks[track][1][0]


class PerfettoTrace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reader = Reader(read("slow_python"))

    def test_a_process_for_every_rank(self):
        processes = dict(process for _, process in self.reader.tracks.values() if process)
        self.assertEqual({pid: name.split(" on ")[0] for pid, name in processes.items()},
                         {rank + 1: f"rank {rank}" for rank in range(4)})

    def test_the_iterations_of_every_rank(self):
        marks = collections.Counter(self.reader.process(s[0]) for s in self.reader.slices if s[4] == "iteration")
        self.assertEqual(set(marks), {1, 2, 3, 4})
        self.assertTrue(all(count >= 10 for count in marks.values()), marks)

    def test_a_flow_joins_the_ranks_of_a_collective(self):
        ranks, kinds = collections.defaultdict(list), collections.defaultdict(set)
        for track, _, _, name, category, flows, _ in self.reader.slices:
            for flow in flows:
                self.assertEqual(category, "communication")
                ranks[flow].append(self.reader.process(track))
                kinds[flow].add(name)
        self.assertGreater(len(ranks), 40)
        for flow, members in ranks.items():
            self.assertEqual(len(members), len(set(members)), "a rank is in a collective once")
            self.assertEqual(len(kinds[flow]), 1)
        whole = sum(len(members) == 4 for members in ranks.values())
        self.assertGreater(whole, 0.9 * len(ranks))

    def test_the_verdict_names_the_culprit(self):
        names = [name for _, name, category, _, _ in self.reader.instants if category == "verdict"]
        self.assertTrue(any("ank 1" in name for name in names), names)

    def test_a_healthy_job_has_no_verdict(self):
        self.assertEqual(Reader(read("healthy")).instants, [])


if __name__ == "__main__":
    if not DATA.is_dir():
        print(f"skipped: no recordings at {DATA} (FATHOM_DATA_DIR)")
        sys.exit(77)
    unittest.main()
