"""Each function of nccl.h under libfathom.so, on a library that is loaded with a scope of its own and does nothing
but keep what it was given: what the ring tells, and that the library and its caller see no difference."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "preload"))
from ring_file import BYTES_UNKNOWN, DEVICE, FAILED, NONE32, NONE64, RingFile  # noqa: E402

TESTS = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release")).resolve() / "tests"
LIBFATHOM = TESTS.parent / "libfathom.so"
FLOAT32, BFLOAT16, AVERAGE, GONE, LIVE = 8, 10, 5, 3, 2  # ncclAvg + 1; states of a group
SIZE = 4
CONTROL = ("FATHOM_", "NCCL_", "LD_", "CUDA_VISIBLE_")


def run(command, preload, **more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(CONTROL)}
    done = subprocess.run([*map(str, command)], env={**clean, "LD_PRELOAD": preload, **more}, capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def traced(command, **more):
    """How it ended, and its rings."""
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="fathom-calls-") as folder:
        done = run(command, str(LIBFATHOM), FATHOM_SHM_DIR=folder, **more)
        return done, [RingFile(path) for path in pathlib.Path(folder).glob("*.ring")]


def host(mode):
    return [TESTS / "hollow_host", TESTS / "libhollow_calls.so", mode]


COPIES = """
import ctypes, os, sys
one, other = (ctypes.CDLL(path) for path in sys.argv[1:])
print([one.make(), other.make(), other.op(), one.op(), other.op(), one.group(), other.group(), one.split(), other.split(),
       one.end(), other.end()], flush=True)
os._exit(0)
"""


class Calls(unittest.TestCase):
    maxDiff = None

    def ring_of(self, mode):
        """Of a run that ended as it does without the tracer, and said the same."""
        done, rings = traced(host(mode))
        self.assertEqual(done, run(host(mode), ""))
        self.assertEqual((done[0], done[2], len(rings)), (0, "", 1))
        self.assertEqual(rings[0].drops, dict.fromkeys(rings[0].drops, 0))
        return rings[0]

    def test_calls_after_one_that_was_left_by_a_jump(self):
        entered = [r.sequence for r in self.ring_of("jumps").records if r.kind == "enter"]
        self.assertEqual(entered, [0, 0, 1, 1], "each is told; whether NCCL took one that was left, nobody knows")

    def test_each_function_tells_its_arguments(self):
        entered = [r for r in self.ring_of("ops").records if r.kind == "enter"]
        self.assertEqual([(r.collective, r.bytes, r.dtype, r.reduction, r.peer) for r in entered], [
            ("all_reduce", 4 * 101, FLOAT32, AVERAGE, NONE32),
            ("reduce", 4 * 102, FLOAT32, AVERAGE, 3),
            ("reduce_scatter", SIZE * 4 * 103, FLOAT32, AVERAGE, NONE32),
            ("broadcast", 2 * 104, BFLOAT16, 0, 1),
            ("broadcast", 2 * 105, BFLOAT16, 0, 3),
            ("all_gather", 2 * 106, BFLOAT16, 0, NONE32),
            ("all_to_all", SIZE * 2 * 107, BFLOAT16, 0, NONE32),
            ("gather", 2 * 108, BFLOAT16, 0, 0),
            ("scatter", 2 * 109, BFLOAT16, 0, 1),
            ("send", 2 * 110, BFLOAT16, 0, 3),
            ("recv", 2 * 111, BFLOAT16, 0, 1),
            ("all_reduce", 4 * 112, FLOAT32, AVERAGE, NONE32),
            ("reduce", 4 * 113, FLOAT32, AVERAGE, 3),
            ("reduce_scatter", SIZE * 4 * 114, FLOAT32, AVERAGE, NONE32),
            ("broadcast", 2 * 115, BFLOAT16, 0, 1),
            ("all_gather", 2 * 116, BFLOAT16, 0, NONE32),
            ("all_to_all", SIZE * 2 * 117, BFLOAT16, 0, NONE32),
            ("gather", 2 * 118, BFLOAT16, 0, 0),
            ("scatter", 2 * 119, BFLOAT16, 0, 1)])
        self.assertEqual({(r.group, r.flags & (DEVICE | FAILED)) for r in entered}, {(0, DEVICE)})
        self.assertEqual(len({r.extra for r in entered} - {0}), 1, "all on one stream")
        collectives = [r.sequence for r in entered if r.collective not in ("send", "recv")]
        self.assertEqual(collectives, list(range(17)))
        self.assertEqual({r.sequence for r in entered if r.collective in ("send", "recv")}, {NONE64})

    def test_the_library_is_given_what_the_caller_gave(self):
        said = run(host("ops"), "")[1].splitlines()
        self.assertEqual(len(said), 19)
        self.assertEqual(said[1], "Reduce sent got 102 7 4 3 stream = 0")
        self.ring_of("ops")  # which compares

    def test_each_element_type(self):
        entered = [r for r in self.ring_of("types").records if r.kind == "enter"]
        self.assertEqual([(r.dtype, r.bytes) for r in entered],
                         [(1, 10), (2, 10), (3, 40), (4, 40), (5, 80), (6, 80), (7, 20), (8, 40), (9, 80), (10, 20), (11, 10),
                          (12, 10), (0, 0)])
        self.assertEqual([r.flags & BYTES_UNKNOWN for r in entered], [0] * 12 + [BYTES_UNKNOWN])

    def test_a_call_that_fails_is_told_and_takes_no_number(self):
        ring = self.ring_of("failures")
        self.assertEqual([(r.kind, r.collective, r.flags & FAILED) for r in ring.records],
                         [("enter", "all_reduce", 0), ("return", "all_reduce", FAILED), ("enter", "send", 0),
                          ("return", "send", FAILED), ("enter", "all_reduce", 0)])
        self.assertEqual([r.sequence for r in ring.records if r.collective == "all_reduce"], [0, 0, 0])
        self.assertEqual(len(ring.groups), 1, "a communicator that was not made is none")
        self.assertEqual((ring.groups[0].entered, ring.groups[0].completed), (2, 2), "and nothing stays in flight")

    def test_each_way_to_make_a_communicator_and_to_end_one(self):
        ring = self.ring_of("communicators")
        plain, same, old, scalable, first, second, split, shrunk, grown = ring.groups
        self.assertEqual([(g.size, g.rank) for g in ring.groups],
                         [(4, 2), (4, 3), (4, 2), (4, 1), (2, 0), (2, 1), (2, 0), (3, 1), (6, 5)])
        self.assertEqual([g.description for g in ring.groups],
                         ["", "of a config", "", "of a config", "", "", "of a split", "shrunk", "grown"])
        self.assertEqual(plain.name, same.name, "of one unique id")
        identified = {g.name for g in (plain, old, scalable, split, shrunk)}
        self.assertEqual(len(identified), 5)
        for name in identified:
            self.assertRegex(name, "^nccl-[0-9a-f]{16}$")
        self.assertEqual([g.name for g in (first, second, grown)], [""] * 3, "nothing that all members know")
        self.assertEqual([g.state for g in ring.groups], [LIVE, LIVE, LIVE, GONE, GONE, GONE, LIVE, LIVE, GONE])
        self.assertEqual([r.group for r in ring.records if r.kind == "enter"], [0, 1, 2, 3, 6, 7, 8])

    def test_the_way_of_a_call_neither_allocates_nor_calls_the_kernel(self):
        (code, said, _), rings = traced(host("quiet"))
        self.assertEqual((code, said), (0, "no allocation\n"), "-31: a system call; 4: an allocation")
        self.assertGreaterEqual(rings[0].head, 2 * 20_002)


class LinkedStatically(unittest.TestCase):
    """No call of such an NCCL can be hooked: its plugin interface alone tells."""

    def test_two_copies_keep_their_callers(self):
        """Each function is first called by the other library than the one before it."""
        command = [sys.executable, "-c", COPIES, TESTS / "libnccl_copy_user_1.so", TESTS / "libnccl_copy_user_2.so"]
        done, rings = traced(command)
        self.assertEqual(done, run(command, ""))
        self.assertEqual((done[:2], len(rings)), ((0, "[0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0]\n"), 1))
        self.assertEqual([(r.kind, r.sequence) for r in rings[0].records if r.kind == "enter"],
                         [("enter", 0), ("enter", 0), ("enter", 1)])
        self.assertEqual([group.device for group in rings[0].groups], [1, 2, 1, 2], "each copy was asked of its own")

    def test_the_plugin_tells_the_op(self):
        if not (TESTS / "libnccl_bench_bare.so").exists():
            self.skipTest("benches are not built here")
        (code, _, told), rings = traced([TESTS / "hollow_host", TESTS / "libnccl_bench_bare.so", "inside"])
        self.assertEqual((code, told, len(rings)), (0, "", 1))
        group, = rings[0].groups
        self.assertEqual((group.size, group.rank, group.name, group.entered), (8, 0, "nccl-1", 1))
        op, = (r for r in rings[0].records if r.kind == "enter")
        self.assertEqual((op.collective, op.bytes, op.dtype, op.sequence), ("all_reduce", 4000, FLOAT32, 0))
        transfer, = rings[0].transfers
        self.assertEqual((transfer.op, transfer.sends, transfer.done), (op.op, True, 3))


if __name__ == "__main__":
    unittest.main()
