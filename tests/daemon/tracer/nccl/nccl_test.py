"""libfathom.so under a training program on a stand-in for NCCL: what the ring of each rank tells."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter, defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "preload"))
from fake_agent import FakeAgent  # noqa: E402
from ring_file import ASYNC, DEVICE, NONE32, NONE64, RingFile  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release")).resolve()
WITH_CUDA = (BUILD / "tests/fake_cuda/libcuda.so.1").exists()
ITERATIONS = 5
LAUNCH_BLOCKED = 5  # SyncKind::kLaunch
LAUNCHES = 2 * 2 * 4  # of an iteration: forward and backward of two micro-batches, a large kernel and three small ones


def train(*options, plugin="STATIC_PLUGIN", ITERATIONS=ITERATIONS, **environment):
    """Rings by rank, and the program's output."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="fathom-nccl-") as folder:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "NCCL_", "FAKE_", "CUDA_VISIBLE_"))}
        if plugin:
            clean["NCCL_PROFILER_PLUGIN"] = plugin
        with FakeAgent(folder) as agent:
            done = subprocess.run(
                [BUILD / "tests/fake_train", "--spawn", "--iterations", str(ITERATIONS), *map(str, options)],
                env={**clean, "LD_PRELOAD": str(BUILD / "libfathom.so"), "FATHOM_SHM_DIR": folder, **environment},
                capture_output=True, text=True, timeout=120)
            rings = {ring.rank: ring for ring in map(RingFile, agent.rings())}
        return rings, done


def ops(ring):
    """[{enter, gpu_start, gpu_end}] in call order."""
    by_op = defaultdict(dict)
    for record in ring.records:
        if record.kind not in ("device_calls", "sync_start", "sync_end"):
            by_op[record.op].setdefault(record.kind, record)
    return [by_op[op] for op in sorted(by_op)]


def members_by_identity(case, rings):
    """Ranks of each communicator, in its order; each must be one whole."""
    places = defaultdict(dict)
    for rank, ring in rings.items():
        for group in ring.groups:
            places[group.name, group.size][group.rank] = rank
    for (name, size), members in places.items():
        case.assertRegex(name, "^nccl-[0-9a-f]{16}$")
        case.assertEqual(sorted(members), list(range(size)), name)
    return sorted(tuple(m[i] for i in range(len(m))) for m in places.values())


class Children(unittest.TestCase):
    """Communicators whose address NCCL tells only after the call that makes them."""

    WHOLE = sorted([(0, 1, 2, 3), (0, 1), (2, 3), (0, 2), (1, 3), (0,), (1,), (2,), (3,)])

    def check(self, *options, **environment):
        rings, done = train("--tp", 2, "--dp", 2, *options, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        members = members_by_identity(self, rings)
        for ring in rings.values():
            self.assertEqual([g.state for g in ring.groups], [3] * 4, "destroyed")
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))
        self.assertEqual(members, self.WHOLE)

    def test_splits_in_a_group(self):
        self.check("--grouped")

    def test_splits_that_do_not_block(self):
        self.check(FAKE_NCCL_NONBLOCKING="1")

    def test_splits_in_a_group_that_does_not_block(self):
        self.check("--grouped", FAKE_NCCL_NONBLOCKING="1")

    def test_what_was_in_flight_ends_with_the_call_that_ends_the_communicator(self):
        rings, done = train("--dp", 3, "--shrink")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for rank, ring in rings.items():
            newest = max(record.time_ns for record in ring.records)
            world, *others = ring.groups
            self.assertTrue(all(g.state == 3 and g.stopped_ns >= newest for g in others))
            self.assertEqual((world.state, world.stopped_ns >= newest), (2, rank != 2), "cut short by those that stay")

    def test_a_revoked_communicator_ends_and_its_child_keeps_its_identity(self):
        for environment in ({}, {"FAKE_NCCL_NONBLOCKING": "1"}):
            rings, done = train("--dp", 3, "--revoke", **environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn((0, 1), members_by_identity(self, rings))
            for ring in rings.values():
                self.assertTrue(all(g.state == 3 and g.stopped_ns > 0 for g in ring.groups))


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rings, cls.done = train("--tp", 2, "--pp", 2, "--dp", 2, "--ep")

    def test_the_program_is_not_disturbed(self):
        self.assertEqual((self.done.returncode, self.done.stdout, self.done.stderr),
                         (0, f"trained {ITERATIONS} iterations\n", ""))
        self.assertEqual(sorted(self.rings), list(range(8)))

    def test_a_communicator_has_one_identity_on_all_its_members(self):
        members = members_by_identity(self, self.rings)
        world = [tuple(range(8))]
        tensor = [(r, r + 1) for r in (0, 2, 4, 6)]
        pipeline = [(r, r + 2) for r in (0, 1, 4, 5)]
        data = [(r, r + 4) for r in range(4)]
        self.assertEqual(members, sorted(world + tensor + pipeline + data))

    def test_a_collective_has_the_same_number_everywhere(self):
        calls = defaultdict(set)
        for ring in self.rings.values():
            names = [g.name for g in ring.groups]
            for op in ops(ring):
                call = op["enter"]
                if call.sequence != NONE64:
                    calls[names[call.group], call.sequence].add((call.collective, call.bytes, call.dtype, call.reduction))
        self.assertTrue(calls)
        self.assertEqual([c for c in calls.values() if len(c) != 1], [])

    def test_every_argument_is_told(self):
        calls = Counter((o["enter"].collective, o["enter"].bytes, o["enter"].reduction) for o in ops(self.rings[0]))
        self.assertEqual(calls, {("all_reduce", 65536, 1): 4 * ITERATIONS, ("all_to_all", 2 * 16384, 0): 4 * ITERATIONS,
                                 ("send", 65536, 0): 2 * ITERATIONS, ("recv", 65536, 0): 2 * ITERATIONS,
                                 ("reduce_scatter", 2 * 131072, 1): ITERATIONS,
                                 ("reduce_scatter", 2 * 524288, 1): ITERATIONS,
                                 ("all_gather", 262144, 0): ITERATIONS, ("all_reduce", 4, 3): ITERATIONS})
        for op in ops(self.rings[0]):
            call = op["enter"]
            self.assertTrue(call.flags & DEVICE and call.extra != 0, "its stream")
            self.assertEqual(call.peer, 1 if call.collective in ("send", "recv") else NONE32)

    def test_the_gpus_times_are_in_the_order_of_the_stream(self):
        for ring in self.rings.values():
            last = 0
            for op in ops(ring):
                self.assertEqual(set(op) - {"return"}, {"enter", "gpu_start", "gpu_end"}, op)
                start, end = op["gpu_start"].extra, op["gpu_end"].extra
                if op["enter"].collective != "all_to_all":  # which is several messages
                    self.assertEqual(op["gpu_end"].bytes, start)
                self.assertLess(start, end)
                self.assertLessEqual(last, end)
                last = start
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))

    @unittest.skipUnless(WITH_CUDA, "no CUDA headers: kernels do not go through CUDA's calls")
    def test_launches_and_waits_stand_before_the_ops_that_they_led_to(self):
        for ring in self.rings.values():
            calls = [r for r in ring.records if r.kind == "device_calls"]
            self.assertEqual(sum(r.peer for r in calls), LAUNCHES * ITERATIONS)
            # A launch that lost its core for long is told as one that blocked: not counted here.
            waits = Counter(r.kind for r in ring.records if r.kind.startswith("sync_") and r.extra != LAUNCH_BLOCKED)
            self.assertEqual(waits, {"sync_start": ITERATIONS, "sync_end": ITERATIONS})
            for record, after in zip(ring.records, ring.records[1:]):
                if record.kind == "device_calls" and after.kind == "enter":
                    self.assertEqual(record.time_ns, after.time_ns, "one reading of the clock for both")

    def test_nothing_is_left_in_flight(self):
        for ring in self.rings.values():
            for group in ring.groups:
                self.assertEqual((group.started, group.completed), (group.entered, group.entered))
                self.assertEqual(group.state, 3, "destroyed")


class SixtyFour(unittest.TestCase):
    """As many real processes as the stand-in takes."""

    def test_each_is_told_whole(self):
        rings, done = train("--tp", 2, "--pp", 4, "--dp", 8, "--ep", "--iterations", 2)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "trained 2 iterations\n", ""))
        self.assertEqual(sorted(rings), list(range(64)))
        members = members_by_identity(self, rings)
        self.assertEqual([len(m) for m in sorted(members, key=len)], [2] * 32 + [4] * 16 + [8] * 8 + [64])
        for ring in rings.values():
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))
            self.assertTrue(all(set(op) >= {"enter", "gpu_start", "gpu_end"} for op in ops(ring)))


class PluginVersions(unittest.TestCase):
    """NCCL's side of each version, with what a version does not tell."""

    def run_version(self, version):
        rings, done = train("--pp", 2, "--dp", 2, FAKE_NCCL_PROFILER_VERSION=str(version))
        self.assertEqual(done.returncode, 0, done.stderr)
        for ring in rings.values():
            self.assertEqual(ring.drops["plugin_unmatched"], 0)
            for op in ops(ring):
                self.assertIn("gpu_end", op)
                self.assertEqual(op["gpu_end"].collective, op["enter"].collective)
                self.assertEqual(op["gpu_end"].extra != 0, version > 3, "3 has no clock")

    def test_3(self):
        self.run_version(3)

    def test_4(self):
        self.run_version(4)

    def test_5(self):
        self.run_version(5)


class Transfers(unittest.TestCase):
    """What the proxy threads move, as the ring tells it while a link is stuck."""
    STEPS, PASSED, LINK = 6, 2, (1, 2)

    def stuck(self, version):
        with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="fathom-nccl-") as folder, FakeAgent(folder) as agent:
            clean = {k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "NCCL_", "FAKE_", "CUDA_VISIBLE_"))}
            job = subprocess.Popen(
                [BUILD / "tests/fake_train", "--spawn", "--dp", "4"],
                env={**clean, "LD_PRELOAD": str(BUILD / "libfathom.so"), "FATHOM_SHM_DIR": folder, "FAKE_NCCL_NET": "1",
                     "NCCL_PROFILER_PLUGIN": "STATIC_PLUGIN", "FAKE_NCCL_PROFILER_VERSION": str(version),
                     "FAKE_NCCL_STUCK_LINK": "%d:%d:20" % self.LINK})
            try:
                return self.once_still(agent)
            finally:
                job.kill()
                job.wait()

    def once_still(self, agent):
        before, until = None, time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.5)
            rings = {ring.rank: ring for ring in map(RingFile, agent.rings())}
            now = {rank: ring.transfers for rank, ring in rings.items()}
            if now == before and len(now) == 4 and all(now.values()):
                return rings
            before = now
        self.fail("it did not come to a stop")

    def check(self, version):
        rings = self.stuck(version)
        sends, receives = {}, {}
        for rank, ring in rings.items():
            begun, ended = ({r.op for r in ring.records if r.kind == kind} for kind in ("gpu_start", "gpu_end"))
            number = {r.op: r.sequence for r in ring.records if r.kind == "enter"}
            self.assertEqual({t.op for t in ring.transfers}, begun - ended, "of what is in flight, of no other")
            self.assertEqual(len(ring.transfers), 4 * len(begun - ended), "two channels, there and back")
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))
            for t in ring.transfers:
                self.assertEqual(t.steps, self.STEPS)
                ends = (rank, t.peer) if t.sends else (t.peer, rank)
                (sends if t.sends else receives)[*ends, t.channel, number[t.op]] = t
        self.assertEqual(set(sends), set(receives), "both ends of each edge, by the same channel")
        for edge, send in sends.items():
            receive = receives[edge]
            self.assertGreaterEqual(send.posted, send.moved)
            if edge[:2] == self.LINK:
                self.assertEqual((receive.moved, send.done), (self.PASSED, self.PASSED))
                self.assertGreater(send.moved, receive.moved, "the network has taken more than arrived")
                self.assertGreater(receive.posted, receive.moved, "and there is room for it")
            else:
                self.assertEqual((send.moved, send.done, receive.gpu, receive.done), (receive.moved,) * 4,
                                 "all others only wait")

    def test_3(self):
        self.check(3)

    def test_4(self):
        self.check(4)

    def test_6(self):
        self.check(6)

    def test_what_is_over_leaves_no_slot(self):
        rings, done = train("--dp", 2, FAKE_NCCL_NET="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        for ring in rings.values():
            self.assertEqual((ring.transfers, ring.drops), ([], dict.fromkeys(ring.drops, 0)))

    def test_what_belongs_to_another_process_is_left_alone(self):
        rings, done = train("--dp", 2, FAKE_NCCL_NET="1", FAKE_NCCL_LENT="1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for ring in rings.values():
            self.assertNotIn(b"\1", ring.raw[ring.region_bytes:], "no slot was ever used")

    def test_they_can_be_switched_off(self):
        rings, done = train("--dp", 2, FAKE_NCCL_NET="1", FATHOM_NCCL_TRANSFERS="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        for ring in rings.values():
            self.assertTrue(any(r.kind == "gpu_end" for r in ring.records))
            self.assertNotIn(b"\1", ring.raw[ring.region_bytes:], "no slot was ever used")


class NoPlugin(unittest.TestCase):
    def check(self, rings):
        for ring in rings.values():
            for op in ops(ring):
                self.assertEqual(set(op) - {"return"}, {"enter"})
                self.assertEqual(op["enter"].flags & ASYNC, 0, "no end is promised that nobody tells")
            for group in ring.groups:
                self.assertEqual(group.completed, group.entered)

    def test_without(self):
        rings, done = train("--tp", 2, plugin=None)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(rings), 4)
        self.check(rings)

    def test_one_of_the_users_own(self):
        self.check(train("--dp", 2, plugin="none")[0])

    def test_switched_off(self):
        rings, done = train("--dp", 2, FATHOM_TRACE="gloo,python")
        self.assertEqual((done.returncode, [len(r.records) for r in rings.values()]), (0, [0, 0]))

    def test_disabled(self):
        self.assertEqual(train("--dp", 2, FATHOM_DISABLE="1")[0], {})


if __name__ == "__main__":
    unittest.main()
