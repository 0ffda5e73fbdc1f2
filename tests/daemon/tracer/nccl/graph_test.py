"""Communication in CUDA graphs: told at each launch of the graph, with the GPU's times from the launch on that follows
the first one whose events came."""
import pathlib
import struct
import sys
import threading
import time
import unittest
from collections import Counter, defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from nccl_test import ASYNC, NONE64, WITH_CUDA, ops, train  # noqa: E402

CAPTURED = 64
CONTROL, CUDA = 4096, 8  # of the ring: the word of sources that are switched off, and this one
CAPTURES_AT, ITERATIONS = 2, 8  # iterations 0 and 1 call NCCL themselves
IN_GRAPH = 2 * 2 + 1  # of a rank: all-reduces of two micro-batches, forward and backward; one of the data group
EAGER = 4             # outside of it: two reduce-scatters, an all-gather, an all-reduce of all ranks


def run(*options, **environment):
    return train("--tp", 2, "--dp", 2, "--graph", CAPTURES_AT, *options, ITERATIONS=ITERATIONS, **environment)


def is_captured(op):
    return "return" in op and op["return"].flags & CAPTURED != 0


def told(ring):
    """(captured, launched without an end that is told, with one) of the ops of a rank."""
    captured, plain, timed = [], [], []
    for op in ops(ring):
        if is_captured(op):
            captured.append(op)
        elif "gpu_end" in op:
            timed.append(op)
        else:
            plain.append(op)
    return captured, plain, timed


@unittest.skipUnless(WITH_CUDA, "no CUDA headers: there are no graphs")
class Graphs(unittest.TestCase):
    def check_program(self, done):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"trained {ITERATIONS} iterations\n", ""))

    def check_numbers(self, rings):
        """A number of a communicator is the same op on all of its members, and none is missing."""
        calls = defaultdict(list)
        for ring in rings.values():
            names = [g.name for g in ring.groups]
            for op in ops(ring):
                call = op["enter"]
                if call.sequence != NONE64 and not is_captured(op):
                    calls[names[call.group], call.sequence].append((call.collective, call.bytes, call.dtype, call.reduction))
        sizes = {g.name: g.size for ring in rings.values() for g in ring.groups}
        for (name, number), told_by in calls.items():
            self.assertEqual((len(told_by), len(set(told_by))), (sizes[name], 1), (name, number))
        for name in sizes:
            numbers = sorted(number for group, number in calls if group == name)
            self.assertEqual(numbers, list(range(len(numbers))), name)

    def check_nothing_in_flight(self, rings):
        for ring in rings.values():
            self.assertEqual(ring.drops, dict.fromkeys(ring.drops, 0))
            for group in ring.groups:
                self.assertEqual((group.started, group.completed), (group.entered, group.entered))

    def test_each_launch_tells_the_ops_of_the_graph(self):
        rings, done = run()
        self.check_program(done)
        self.check_numbers(rings)
        self.check_nothing_in_flight(rings)
        launches = ITERATIONS - CAPTURES_AT
        for ring in rings.values():
            captured, plain, timed = told(ring)
            self.assertEqual(len(captured), IN_GRAPH)
            self.assertEqual(len(plain), IN_GRAPH, "nobody knew yet that the first launch brings events")
            self.assertEqual(len(timed), ITERATIONS * EAGER + (CAPTURES_AT + launches - 1) * IN_GRAPH)
            for op in captured + plain:
                self.assertEqual(op["enter"].flags & ASYNC, 0, "no end is promised")
            self.assertEqual({op["return"].sequence for op in captured}, {NONE64}, "what does not run has no number")

    def test_times_are_those_of_the_launch_they_stand_with(self):
        rings, _ = run()
        for ring in rings.values():
            last = 0
            for op in ops(ring):
                if "gpu_end" not in op:
                    continue
                start, end = op["gpu_start"].extra, op["gpu_end"].extra
                self.assertLess(start, end)
                self.assertLessEqual(last, end, "in the order of the stream, launch after launch")
                last = start
                self.assertEqual(op["gpu_end"].collective, op["enter"].collective)

    def test_messages(self):
        rings, done = train("--pp", 2, "--graph", CAPTURES_AT, ITERATIONS=ITERATIONS)
        self.check_program(done)
        self.check_nothing_in_flight(rings)
        for ring in rings.values():
            kinds = Counter(op["enter"].collective for op in told(ring)[2])
            of_messages = 2 * (ITERATIONS - 1)  # the launch that nobody knew of is without
            self.assertEqual((kinds["send"], kinds["recv"]), (of_messages, of_messages))

    def test_collectives_made_of_messages_have_no_times(self):
        rings, done = train("--dp", 2, "--ep", "--graph", CAPTURES_AT, ITERATIONS=ITERATIONS)
        self.check_program(done)
        self.check_numbers(rings)
        self.check_nothing_in_flight(rings)

    def test_without_the_plugin(self):
        rings, done = run(plugin=None)
        self.check_program(done)
        self.check_numbers(rings)
        self.check_nothing_in_flight(rings)
        for ring in rings.values():
            captured, plain, timed = told(ring)
            self.assertEqual((len(captured), len(timed)), (IN_GRAPH, 0), "the driver says what is captured")
            self.assertEqual(len(plain), ITERATIONS * (EAGER + IN_GRAPH))

    def test_versions_that_do_not_name_the_call(self):
        for version in ("3", "4"):
            rings, done = run(FAKE_NCCL_PROFILER_VERSION=version)
            self.check_program(done)
            self.check_numbers(rings)
            self.check_nothing_in_flight(rings)

    def test_without_cudas_calls_only_the_capture_is_told(self):
        rings, done = run(FATHOM_TRACE="gloo,python,nccl")
        self.check_program(done)
        self.check_nothing_in_flight(rings)
        for ring in rings.values():
            captured, plain, timed = told(ring)
            self.assertEqual(len(captured), IN_GRAPH, "the plugin says so")
            self.assertEqual((len(plain), len(timed)), (0, ITERATIONS * EAGER + CAPTURES_AT * IN_GRAPH))

    def test_graphs_are_told_once_while_cudas_calls_are_switched_off(self):
        done = threading.Event()

        def switch_off():
            while not done.is_set():
                for path in pathlib.Path("/dev/shm").glob("fathom-nccl-*/*.ring"):
                    try:
                        with open(path, "r+b") as ring:
                            ring.seek(CONTROL)
                            ring.write(struct.pack("<I", CUDA))
                    except OSError:
                        pass  # it went meanwhile
                time.sleep(0.002)

        switching = threading.Thread(target=switch_off)
        switching.start()
        try:
            rings, program = train("--tp", 2, "--dp", 2, "--graph", 20, ITERATIONS=30)
        finally:
            done.set()
            switching.join()
        self.assertEqual((program.returncode, program.stderr), (0, ""))
        self.check_numbers(rings)
        self.check_nothing_in_flight(rings)
        for ring in rings.values():
            captured, plain, timed = told(ring)
            self.assertEqual((len(captured), len(plain), len(timed)), (IN_GRAPH, IN_GRAPH, 30 * EAGER + 29 * IN_GRAPH))

    def test_a_graph_that_one_rank_makes_anew(self):
        rings, done = run("--fault", "slow_gpu", "--rank", 1, "--at", 5, "--ms", 4)
        self.check_program(done)
        self.check_numbers(rings)
        self.check_nothing_in_flight(rings)
        captured = {rank: len(told(ring)[0]) for rank, ring in rings.items()}
        self.assertEqual(captured, {0: IN_GRAPH, 1: 2 * IN_GRAPH, 2: IN_GRAPH, 3: IN_GRAPH})


if __name__ == "__main__":
    unittest.main()
