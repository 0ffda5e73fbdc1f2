#!/usr/bin/env python3
"""`fathom analyze --perfetto`, read back by Perfetto's own schema (PyPI `perfetto`, fetched by
deploy/scripts/fetch_perfetto_schema): tracks, threads, nesting, interning, flows, the limit."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["FATHOM_BINARY_DIR"])
DATA = pathlib.Path(os.environ["FATHOM_DATA_DIR"]) / "torch_gloo"
sys.path.insert(0, str(ROOT / ".perfetto"))
try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent
except ImportError as error:
    print(f"skipped: no schema of Perfetto's traces ({error}); deploy/setup test fetches it")
    sys.exit(77)

Slice = collections.namedtuple("Slice", "track begin end name category flows ends notes")


def assert_known(message):
    """Every field is one of the schema, at every depth."""
    assert len(UnknownFieldSet(message)) == 0, f"unknown fields in {message.DESCRIPTOR.name}"
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for each in value if field.is_repeated else [value]:
            assert_known(each)


class Reader:
    """Follows the packets as a trace processor does: sequences, interned names, open slices."""

    def __init__(self, data):
        trace = Trace()
        trace.ParseFromString(data)
        self.tracks, self.slices, self.instants = {}, [], []
        self.open, self.newest = collections.defaultdict(list), collections.defaultdict(int)
        self.interned = {}  # by sequence, once its state was cleared: by kind and id
        for packet in trace.packet:
            assert_known(packet)
            self.take(packet)
        assert not any(self.open.values()), "slices that never end"
        self.check_tracks()
        self.check_flows()

    def take(self, packet):
        sequence = packet.trusted_packet_sequence_id
        assert sequence != 0, "a packet of no sequence"
        if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            self.interned[sequence] = {}
        if packet.HasField("interned_data"):
            for field, entries in packet.interned_data.ListFields():
                for entry in entries:
                    key = (field.name, entry.iid)
                    assert entry.iid != 0 and key not in self.interned[sequence], f"{key} twice"
                    self.interned[sequence][key] = entry.name
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid != 0 and descriptor.uuid not in self.tracks, "a track twice"
            self.tracks[descriptor.uuid] = descriptor
        if packet.HasField("track_event"):
            needs = packet.sequence_flags & TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            assert needs and packet.timestamp > 0
            self.event(packet.track_event, packet.timestamp, self.interned[sequence])

    def event(self, event, time, names):
        track = event.track_uuid
        assert track in self.tracks, "an event before its track"
        assert time >= self.newest[track], "time runs back on a track"
        self.newest[track] = time
        if event.type == TrackEvent.TYPE_SLICE_END:
            begin = self.open[track].pop()
            self.slices.append(begin._replace(end=time))
            return
        notes = collections.defaultdict(list)
        for note in event.debug_annotations:
            notes[names["debug_annotation_names", note.name_iid]].append(note.string_value)
        found = Slice(track, time, time, names["event_names", event.name_iid],
                      names["event_categories", event.category_iids[0]], list(event.flow_ids),
                      list(event.terminating_flow_ids), notes)
        if event.type == TrackEvent.TYPE_INSTANT:
            self.instants.append(found)
        else:
            assert event.type == TrackEvent.TYPE_SLICE_BEGIN
            self.open[track].append(found)

    def check_tracks(self):
        pids, tids = set(), set()
        for track in self.tracks.values():
            assert track.parent_uuid == 0 or track.parent_uuid in self.tracks, "no such parent"
            if track.HasField("process"):
                assert track.process.pid not in pids, "a process twice"
                pids.add(track.process.pid)
        for track in self.tracks.values():
            if track.HasField("thread"):
                assert track.thread.pid in pids and track.thread.tid not in tids, "a thread twice"
                tids.add(track.thread.tid)

    def check_flows(self):
        goes, ends = collections.defaultdict(list), collections.defaultdict(list)
        for each in self.slices:
            assert len(each.flows) + len(each.ends) <= 1
            for flow in each.flows:
                goes[flow].append(each.begin)
            for flow in each.ends:
                ends[flow].append(each.begin)
        assert goes.keys() == ends.keys(), "a flow that goes nowhere or comes from nowhere"
        for flow, times in ends.items():
            assert len(times) == 1 and times[0] >= max(goes[flow]), "a flow goes on after its end"

    def process(self, track):
        at = self.tracks[track]
        while not at.HasField("process"):
            if at.HasField("thread"):
                return at.thread.pid
            at = self.tracks[at.parent_uuid]
        return at.process.pid

    def threads(self, process):
        return {track.thread.thread_name: uuid for uuid, track in self.tracks.items()
                if track.HasField("thread") and track.thread.pid == process}

    def of(self, category):
        return [each for each in self.slices if each.category == category]

    def linked(self):
        """The slices of every flow."""
        flows = collections.defaultdict(list)
        for each in self.slices:
            for flow in each.flows + each.ends:
                flows[flow].append(each)
        return flows


def read(recording, *options):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "job.perfetto-trace"
        done = subprocess.run([BUILD / "fathom", "analyze", recording, "--perfetto", out, "--exit-zero", *options],
                              check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
        return Reader(out.read_bytes()), done.stderr.decode()


def gpu_trace(rank, steps=8):
    """Three kernels a step on stream 7, a reduction on stream 20 that begins in the third, a copy beside the
    second on stream 9."""
    events, now = [], 5_000.0

    def add(category, name, begin, duration, thread, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if thread < 1000 else 4242,
                       "tid": thread, "ts": begin, "dur": duration, "args": args})

    for step in range(steps):
        add("user_annotation", f"ProfilerStep#{step}", now, 990, 4242)
        add("cpu_op", "aten::linear", now + 5, 40, 4242)
        add("cpu_op", "aten::addmm", now + 10, 30, 4242)
        for i in range(3):
            launch = 10 * step + i + 1
            add("cuda_runtime", "cudaLaunchKernel", now + 11 + i, 1, 4242, correlation=launch)
            add("kernel", f"gemm_{i}", now + 100 + 200 * i, 190, 7, stream=7, correlation=launch, device=0)
        add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", now + 310, 50, 9, stream=9,
            correlation=10 * step + 4, bytes=4096, device=0)
        group = {"Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 1024,
                 "dtype": "Float", "Group size": 2, "Process Group Name": "0",
                 "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]", "Seq": step + 1}
        add("cpu_op", "record_param_comms", now + 60, 10, 4242, **group, **{"External id": 1000 + step})
        add("cuda_runtime", "cudaLaunchKernelExC", now + 61, 2, 4242, correlation=10 * step + 5,
            **{"External id": 1000 + step})
        add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", now + 600, 300, 20, stream=20, device=0,
            correlation=10 * step + 5, **group, **{"External id": 1000 + step})
        now += 1000
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1_700_000_000_000_000_000,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events}


class RealRecordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not DATA.is_dir():
            raise unittest.SkipTest(f"no recordings at {DATA} (FATHOM_DATA_DIR)")
        cls.reader, _ = read(DATA / "slow_python")

    def test_a_process_for_every_rank(self):
        names = {track.process.pid: track.process.process_name.split(" on ")[0]
                 for track in self.reader.tracks.values() if track.HasField("process")}
        self.assertEqual(names, {rank + 1: f"rank {rank}" for rank in range(4)})

    def test_the_iterations_of_every_rank(self):
        marks = collections.Counter(self.reader.process(s.track) for s in self.reader.of("iteration"))
        self.assertEqual(set(marks), {1, 2, 3, 4})
        self.assertTrue(all(count >= 10 for count in marks.values()), marks)

    def test_a_flow_joins_the_ranks_of_a_collective(self):
        flows = self.reader.linked()
        self.assertGreater(len(flows), 40)
        for members in flows.values():
            ranks = [self.reader.process(each.track) for each in members]
            self.assertEqual(len(ranks), len(set(ranks)), "a rank is in a collective once")
            self.assertEqual(len({each.name for each in members}), 1)
        whole = sum(len(members) == 4 for members in flows.values())
        self.assertGreater(whole, 0.9 * len(flows))

    def test_a_flow_joins_a_send_and_its_receive(self):
        reader, _ = read(DATA / "pipeline")
        messages = [members for members in reader.linked().values()
                    if {each.name for each in members} == {"send", "recv"}]
        self.assertGreater(len(messages), 100)
        for one, other in messages:
            ends = {each.name: reader.process(each.track) - 1 for each in (one, other)}
            peers = {each.name: int(each.notes["peer"][0]) for each in (one, other)}
            self.assertEqual((peers["send"], peers["recv"]), (ends["recv"], ends["send"]))
            self.assertEqual(one.notes["bytes"], other.notes["bytes"])
            self.assertEqual(one.notes["iteration"], other.notes["iteration"])
        sent = sum(each.name == "send" for each in reader.of("communication"))
        self.assertGreater(len(messages), 0.95 * sent)

    def test_the_verdict_lies_over_the_time_it_is_about(self):
        verdicts = self.reader.of("verdict")
        self.assertTrue(any("ank 1" in each.name for each in verdicts), verdicts)
        self.assertTrue(all(each.end > each.begin and each.notes["grade"] for each in verdicts))

    def test_a_healthy_job_has_no_verdict(self):
        self.assertEqual(read(DATA / "healthy")[0].of("verdict"), [])

    def test_the_training_thread_shows_its_ops(self):
        for process in range(1, 5):
            main = [uuid for name, uuid in self.reader.threads(process).items()
                    if name.startswith("training thread")]
            self.assertEqual(len(main), 1)
            self.assertEqual(self.reader.tracks[main[0]].thread.tid, process, "the main thread")
            names = {each.name for each in self.reader.slices if each.track == main[0]}
            self.assertTrue(any(name.startswith("aten::") for name in names), names)


class JobOnGpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for rank in range(2):
            (self.folder / f"rank{rank}.json").write_text(json.dumps(gpu_trace(rank)))

    def test_every_stream_is_a_thread_with_its_kernels(self):
        reader, said = read(self.folder)
        self.assertNotIn("left out", said)
        for process in (1, 2):
            threads = reader.threads(process)
            self.assertEqual(set(threads), {"training thread 4242", "stream 7", "stream 9",
                                            "stream 20, communication"})
            ran = collections.defaultdict(list)
            for each in reader.slices:
                ran[each.track].append((each.name, each.category))
            self.assertEqual(collections.Counter(ran[threads["stream 7"]]),
                             {(f"gemm_{i}", "kernel"): 8 for i in range(3)})
            self.assertEqual(set(ran[threads["stream 9"]]), {("Memcpy HtoD (Pinned -> Device)", "copy")})
            self.assertEqual(set(ran[threads["stream 20, communication"]]),
                             {("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "communication")})
            self.assertIn(("aten::addmm", "op"), ran[threads["training thread 4242"]])

    def test_kernels_keep_their_times(self):
        reader, _ = read(self.folder)
        gemm = sorted((each.begin, each.end) for each in reader.slices
                      if each.name == "gemm_0" and reader.process(each.track) == 1)
        first = 1_700_000_000_000_000_000 + 5_100_000
        self.assertEqual(gemm[0], (first, first + 190_000))
        self.assertEqual(gemm[1], (first + 1_000_000, first + 1_190_000))

    def test_the_limit_cuts_every_rank_at_one_moment_and_says_so(self):
        whole, _ = read(self.folder)
        reader, said = read(self.folder, "--perfetto-slices", "100")
        self.assertLessEqual(len(reader.slices), 100)
        self.assertGreater(len(reader.slices), 50)
        self.assertIn("--perfetto-slices", said)
        marks = {reader.process(each.track): each for each in reader.instants}
        self.assertEqual(set(marks), {1, 2})
        told = 0
        for process, mark in marks.items():
            told += int(mark.name.split()[0])
            drawn = {each[1:5] for each in reader.slices if reader.process(each.track) == process}
            before = {each[1:5] for each in whole.slices
                      if reader.process(each.track) == process and each.begin < mark.begin}
            self.assertEqual(drawn, before)
        self.assertEqual(told + len(reader.slices), len(whole.slices))
        self.assertIn(f"{told} later ones", said)


if __name__ == "__main__":
    unittest.main()
