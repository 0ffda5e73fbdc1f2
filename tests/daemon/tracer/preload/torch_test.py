"""Real PyTorch jobs under libfathom.so: their records are complete, and they notice nothing.

    torch_test.py LIBFATHOM SITE   (FATHOM_DATA_DIR: where torch_jobs lies; run by FATHOM_PYTHON)

Exit code 77, with the reason, where PyTorch or the jobs are missing.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

from fake_agent import FakeAgent
from ring_file import ASYNC, BYTES_UNKNOWN, FAILED, NONE32, SEQUENCE_GUESS, WAIT_ALL, RingFile

HERE = pathlib.Path(__file__).resolve().parent
JOBS = pathlib.Path(os.environ.get("FATHOM_DATA_DIR", HERE.parents[4] / "shared" / "data")) / "torch_jobs"
LIBRARY, SITE = sys.argv[1:3]
POINT_TO_POINT = ("send", "recv")


# A compiled model and a compiled optimizer, and how often their graphs were broken; to stderr whether
# the function and the optimizer's step are hooked.
COMPILED = """
import sys, torch, mine
from torch._dynamo.utils import counters
whole = torch.compile(lambda x: mine.twice(x) + 1, backend="eager", fullgraph=True)
weight = torch.ones(3, requires_grad=True)
whole(weight).sum().backward()
optimizer = torch.optim.SGD([weight], lr=0.1)
torch.compile(optimizer.step, backend="eager")()
print(weight, sorted(counters["graph_break"].items()))
watched = hasattr(sys, "monitoring") and [t for t in (3, 4) if sys.monitoring.get_local_events(t, mine.twice.__code__)]
steps = sys.modules["torch.optim.optimizer"]
hooks = [*steps._global_optimizer_pre_hooks.values(), *steps._global_optimizer_post_hooks.values()]
print("hooked", hasattr(mine.twice, "_fathom") or bool(watched), [h.__module__ for h in hooks], file=sys.stderr)
"""


def launch(script, *args, ranks, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
    env.update(OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", **environment)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks), str(script), *args]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)


def traced(folder, script, *args, ranks, python=True, **environment):
    with FakeAgent(folder) as agent:
        run = launch(script, *args, ranks=ranks, LD_PRELOAD=LIBRARY, FATHOM_SHM_DIR=str(folder),
                     **({"PYTHONPATH": SITE} if python else {}), **environment)
        rings = sorted((RingFile(path) for path in agent.rings()), key=lambda ring: ring.rank)
    return run, rings


def untimed(text):
    """Output without what differs from run to run: how long things took, and the order of lines."""
    return sorted(re.sub(r"[\d.]+ ms an iteration", "", line) for line in text.splitlines())


class TorchTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir="/dev/shm")))

    def run_job(self, name, *args, ranks):
        plain = launch(JOBS / name, *args, ranks=ranks)
        run, rings = traced(self.folder, JOBS / name, *args, ranks=ranks)
        self.assertEqual(run.returncode, plain.returncode, run.stderr)
        self.assertEqual(untimed(run.stdout), untimed(plain.stdout))
        self.assertEqual([ring.rank for ring in rings], list(range(ranks)))
        for ring in rings:
            self.check_ring(ring, ranks)
        self.check_sequences(rings)
        return rings

    def check_ring(self, ring, ranks):
        self.assertEqual((ring.torn, set(ring.drops.values())), (0, {0}), ring.drops)
        self.assertEqual((ring.world_size, ring.local_rank, ring.exiting), (ranks, ring.rank, 1))
        for group in ring.groups:
            self.assertEqual(group.members[group.rank], ring.rank)
            self.assertEqual((group.entered, group.started), (group.completed, group.completed))
        for op in self.ops(ring).values():
            self.check_op(op)

    @staticmethod
    def ops(ring):
        ops = defaultdict(list)
        for record in ring.records:
            if record.kind not in ("mark", "products"):  # these are of no op
                ops[record.op].append(record)
        return ops

    def check_op(self, op):
        """Entered, taken up, ended, in this order; nothing unknown where it can be known. Its call's return is told
        only where it says something."""
        kinds = {kind: [r for r in op if r.kind == kind] for kind in {r.kind for r in op}}
        enter = kinds["enter"][0]
        leave = kinds.get("return", [None])[0]
        self.assertEqual((len(kinds["enter"]), len(kinds.get("return", [0]))), (1, 1))
        self.assertEqual(enter.flags, 0, enter)
        if leave:
            self.assertEqual((enter.sequence, enter.bytes, enter.dtype), (leave.sequence, leave.bytes, leave.dtype))
            self.assertEqual(leave.flags & (BYTES_UNKNOWN | SEQUENCE_GUESS | FAILED), 0, leave)
            self.assertLessEqual(enter.time_ns, leave.time_ns)
        if leave is None or leave.flags & ASYNC:
            self.assertEqual(len(kinds["exec_start"]), len(kinds["exec_end"]))
            self.assertGreaterEqual(kinds["exec_start"][0].time_ns, enter.time_ns)
            self.assertGreaterEqual(kinds["exec_end"][0].time_ns, kinds["exec_start"][0].time_ns)
        self.assertEqual(len(kinds.get("wait_start", ())), len(kinds.get("wait_end", ())))
        for begin, end in zip(kinds.get("wait_start", ()), kinds.get("wait_end", ())):
            self.assertEqual(begin.thread, end.thread)
            self.assertLessEqual(kinds["exec_end"][-1].time_ns, end.time_ns)

    def check_sequences(self, rings):
        """One instance of a collective has one sequence, kind and size on all members; no gaps."""
        told = defaultdict(dict)
        for ring in rings:
            for r in ring.records:
                if r.kind == "enter" and r.collective not in POINT_TO_POINT:
                    group = ring.groups[r.group]
                    told[group.name, tuple(group.members), r.sequence][ring.rank] = (r.collective, r.bytes, r.dtype)
        by_group = defaultdict(list)
        for (name, members, sequence), ranks in told.items():
            self.assertEqual(sorted(ranks), list(members), (name, sequence))
            self.assertEqual(len(set(ranks.values())), 1, (name, sequence, ranks))
            by_group[name, members].append(sequence)
        for key, sequences in by_group.items():
            self.assertEqual(sorted(sequences), list(range(len(sequences))), key)

    def test_ddp(self):
        rings = self.run_job("ddp.py", "--iterations", "12", ranks=3)
        for ring in rings:
            self.assertEqual([(g.name, g.description, g.members) for g in ring.groups],
                             [("0", "default_pg", [0, 1, 2])])
            entries = [r for r in ring.records if r.kind == "enter" and r.collective == "all_reduce"]
            self.assertEqual([r.bytes for r in entries[-3:]], [1057280, 1055232, 4])
            waits = [r for r in ring.records if r.kind == "wait_start" and r.flags & WAIT_ALL]
            self.assertEqual(len(waits), 12, "DDP waits for its buckets once an iteration")
            loads = [r for r in ring.records if r.kind == "mark" and r.extra == 3]
            self.assertEqual(len(loads), 12)

    def test_tensor_data(self):
        rings = self.run_job("tensor_data.py", "--iterations", "10", "--tensor", "2", ranks=4)
        groups = [sorted((g.description, tuple(g.members)) for g in ring.groups) for ring in rings]
        self.assertEqual(groups[0], [("DATA", (0, 2)), ("TENSOR", (0, 1)), ("default_pg", (0, 1, 2, 3))])
        self.assertEqual(groups[3], [("DATA", (1, 3)), ("TENSOR", (2, 3)), ("default_pg", (0, 1, 2, 3))])

    def test_pipeline(self):
        rings = self.run_job("pipeline.py", "--iterations", "10", ranks=3)
        sends, receives = defaultdict(list), defaultdict(list)
        for ring in rings:
            for r in (r for r in ring.records if r.kind == "enter"):
                if r.collective == "send":
                    sends[ring.rank, r.peer].append(r.bytes)
                elif r.collective == "recv":
                    receives[r.peer, ring.rank].append(r.bytes)
        self.assertEqual(sorted(sends), [(0, 1), (1, 0), (1, 2), (2, 1)])
        self.assertEqual(sends, receives)
        self.assertEqual(set(sends[0, 1]), {2 * 48 * 128 * 4})

    def test_every_op(self):
        plain = launch(HERE / "torch_job.py", ranks=2)
        run, rings = traced(self.folder, HERE / "torch_job.py", ranks=2)
        self.assertEqual((run.returncode, untimed(run.stdout)), (plain.returncode, untimed(plain.stdout)), run.stderr)
        self.assertEqual(len(rings), 2, "data-loader workers must leave nothing")
        entries = [r for r in rings[0].records if r.kind == "enter" and r.group == 0]
        none = NONE32
        self.assertEqual([(r.collective, r.bytes, r.dtype, r.peer) for r in entries],
                         [("all_reduce", 32, 8, none), ("broadcast", 24, 9, 1), ("all_gather", 20, 3, none),
                          ("all_gather", 8, 10, none), ("reduce_scatter", 16, 8, none), ("reduce_scatter", 16, 8, none),
                          ("reduce", 24, 8, none), ("gather", 28, 8, 0), ("scatter", 36, 8, 1),
                          ("all_to_all", 16, 8, none), ("barrier", 0, 0, none), ("barrier", 0, 0, none),
                          ("send", 4000, 8, 1), ("recv", 4000, 8, 1), ("recv", 40, 8, none),
                          ("all_reduce", 20, 8, none), ("barrier", 0, 0, none)])
        returns = {r.op: r for r in rings[0].records if r.kind == "return"}
        self.assertEqual(returns[entries[-2].op].flags, FAILED | SEQUENCE_GUESS)
        for ring in rings:
            self.assertEqual((ring.torn, set(ring.drops.values())), (0, {0}), ring.drops)
            for group in ring.groups:
                self.assertEqual((group.entered, group.started), (group.completed, group.completed), group)
        self.assertEqual([r.sequence for r in rings[1].records if r.kind == "enter" and r.group == 0 and
                          r.collective not in POINT_TO_POINT],
                         [r.sequence for r in entries if r.collective not in POINT_TO_POINT])
        oldest = [r for r in rings[0].records if r.kind == "mark" and r.extra == 1 and r.bytes == 2]
        self.assertTrue(oldest, "gc.collect() leaves a mark")

    def test_without_the_python_hook(self):
        run, rings = traced(self.folder, JOBS / "ddp.py", "--iterations", "2", ranks=2, python=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        for ring in rings:
            self.assertEqual([(g.name, g.members, g.size, g.rank) for g in ring.groups], [("", None, 2, ring.rank)])
            self.assertFalse([r for r in ring.records if r.kind == "mark"])

    def test_detail_wrapper_groups_have_names_of_their_own(self):
        job = self.folder / "job.py"  # not ddp.py: DDP under DETAIL crashes in PyTorch 2.13 itself
        job.write_text("import torch, torch.distributed as d\nd.init_process_group('gloo')\n"
                       "d.all_reduce(torch.ones(3))\nd.barrier()\nd.destroy_process_group()\n")
        run, rings = traced(self.folder, job, ranks=2, TORCH_DISTRIBUTED_DEBUG="DETAIL")
        self.assertEqual((run.returncode, len(rings)), (0, 2), run.stderr)
        for ring in rings:
            names = [g.name for g in ring.groups]
            self.assertEqual(names, ["0", "0/1"])
            self.assertEqual({tuple(g.members) for g in ring.groups}, {(0, 1)})

    def test_the_compiler_sees_nothing_of_us(self):
        (self.folder / "mine.py").write_text("def twice(x): return 2 * x\n")
        both = []  # beside each other: most of it is the import of PyTorch's compiler
        for preload, site in (("", ""), (LIBRARY, SITE)):
            env = dict(os.environ, PYTHONPATH=f"{site}:{self.folder}", LD_PRELOAD=preload, FATHOM_SHM_DIR=str(self.folder),
                       FATHOM_FUNCTIONS="mine:twice", TORCH_LOGS="-all", OMP_NUM_THREADS="1")
            both.append(subprocess.Popen([sys.executable, "-c", COMPILED], env=env, text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        (bare, bare_stderr), (seen, traced_stderr) = (one.communicate(timeout=240) for one in both)
        self.assertEqual([one.returncode for one in both], [0, 0], traced_stderr)
        self.assertEqual(seen, bare)
        said = [[line for line in text.splitlines() if "Warning" in line] for text in (bare_stderr, traced_stderr)]
        self.assertEqual(said[0], said[1])
        self.assertIn("hooked False []", bare_stderr)
        self.assertIn("hooked True ['fathom_python.phases', 'fathom_python.phases']", traced_stderr)

    def test_users_own_sitecustomize_still_runs(self):
        own = self.folder / "own"
        own.mkdir()
        (own / "sitecustomize.py").write_text("print('own start-up')\n")
        env = dict(os.environ, PYTHONPATH=f"{SITE}:{own}", LD_PRELOAD=LIBRARY)
        run = subprocess.run([sys.executable, "-c", "import sitecustomize as s; print(s.__file__)"], env=env,
                             capture_output=True, text=True)
        self.assertEqual(run.stdout.splitlines(), ["own start-up", str(own / "sitecustomize.py")], run.stderr)


def missing():
    try:
        import torch.distributed
    except ImportError as error:
        return f"PyTorch cannot be imported by {sys.executable}: {error}"
    if not torch.distributed.is_gloo_available():
        return "this PyTorch has no Gloo"
    if not JOBS.is_dir():
        return f"no jobs at {JOBS}; set FATHOM_DATA_DIR"
    return None


if __name__ == "__main__":
    if (why := missing()) is not None:
        print("skipped:", why)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
