"""The Python start-up hook without PyTorch: a package of the same names, on the stand-in for Gloo.

    site_test.py LIBFATHOM SITE LIBFAKE_GLOO
"""
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

LIBRARY, SITE, FAKE = sys.argv[1:4]

# torch.distributed as far as the hook looks at it.
C10D = f"""
import ctypes
class Table(ctypes.Structure):
    _fields_ = [("make_group", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_int))]
make_group = Table.in_dll(ctypes.CDLL({FAKE!r}), "fake_gloo").make_group
def _new_process_group_helper(group_size, group_rank, global_ranks_in_group, backend, store, group_name,
                              backend_options=None, timeout=None, pg_tag=None, device_id=None, group_desc=None):
    if group_size < 0:
        raise ValueError("no such size")
    return make_group(group_rank, group_size)
"""
LOADER = """
class _BaseDataLoaderIter:
    def __init__(self): self.left = 2
    def __next__(self):
        if not self.left: raise StopIteration
        self.left -= 1
        return self.left
"""

# What the hook wraps of PyTorch, as far as it looks at it.
PHASES = {
    "torch.autograd": "import time\ndef backward(): time.sleep(0.001)\n",
    "torch.cuda": "import time\ndef synchronize(): time.sleep(0.001)\n",
    "torch.serialization": "def save(what, where): pass\ndef load(where): pass\n",
    "torch._inductor.compile_fx": "def compile_fx(graph): pass\n",
    "torch.optim.optimizer": """
        import time
        before, after = [], []
        register_optimizer_step_pre_hook, register_optimizer_step_post_hook = before.append, after.append
        class Optimizer:
            def step(self):
                for hook in before: hook(self, (), {})
                time.sleep(0.001)
                for hook in after: hook(self, (), {})
        """,
}


class SiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.rings = self.root / "rings"
        self.rings.mkdir()
        for package in ("torch", "torch/distributed", "torch/utils", "torch/utils/data"):
            (self.root / package).mkdir()
            (self.root / package / "__init__.py").write_text("")
        (self.root / "torch/distributed/distributed_c10d.py").write_text(C10D)
        (self.root / "torch/utils/data/dataloader.py").write_text(LOADER)

    def run_python(self, code, *, flags=(), **environment):
        """Runs `code`; it can read the ring at RING, where there is one."""
        env = {"PYTHONPATH": f"{SITE}:{self.root}:{pathlib.Path(__file__).parent}", "LD_PRELOAD": LIBRARY,
               "FATHOM_SHM_DIR": str(self.rings), "PATH": os.environ.get("PATH", ""), **environment}
        lead = "import glob, gc\nfrom ring_file import RingFile\n" \
               f"ring = lambda: RingFile(glob.glob({str(self.rings)!r} + '/*.ring')[0])\n"
        run = subprocess.run([sys.executable, *flags, "-c", lead + textwrap.dedent(code)], env=env,
                             capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def test_tells_name_members_and_description(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(4, 1, [], "gloo", None, "0", group_desc="default_pg")
            c._new_process_group_helper(2, 0, [1, 3], "gloo", None, group_name="2", group_desc=None)
            c._new_process_group_helper(3, 2, [5, 0, 1], "gloo", None, "é" * 50)
            c.make_group(0, 2)
            for g in ring().groups: print(g.name, g.description, g.members, g.size, g.rank)
            """)
        self.assertEqual(said[:2], ["0 default_pg [0, 1, 2, 3] 4 1", "2  [1, 3] 2 0"])
        self.assertIn("[5, 0, 1] 3 2", said[2])
        self.assertEqual(said[3], "  None 2 0", "nothing is announced outside the helper")

    def test_answers_for_its_stack_only_where_that_is_wanted(self):
        code = """import os, threading, torch.distributed.distributed_c10d as c
for name in "01": c._new_process_group_helper(2, 0, [], "gloo", None, name)
print(len(os.listdir("/proc/self/task")), threading.active_count(), glob.glob(os.environ["FATHOM_SHM_DIR"] + "/*.stacks") == [])"""
        self.assertEqual(self.run_python(code), ["1 1 True"])
        self.assertEqual(self.run_python(code, FATHOM_INSIDE_STACKS="1"), ["2 1 False"])
        self.assertEqual(list(self.rings.glob("*.stacks")), [])  # it went with the process

    def test_start_up_loads_nothing_but_itself(self):
        """Every Python process of a job pays for it."""
        code = [sys.executable, "-c", "import sys; print(*sorted(sys.modules))"]
        env = {"PATH": os.environ.get("PATH", "")}
        bare, traced = (set(subprocess.run(code, env={**env, **more}, capture_output=True, text=True).stdout.split())
                        for more in ({}, {"PYTHONPATH": SITE, "LD_PRELOAD": LIBRARY, "FATHOM_SHM_DIR": str(self.rings)}))
        self.assertEqual(traced - bare - {"sitecustomize"}, set())

    def test_start_up_names_the_modules_that_something_is_done_after(self):
        said = self.run_python("""
            import re, pathlib
            from fathom_python import watch
            text = pathlib.Path(watch.__file__).parents[1].joinpath("sitecustomize.py").read_text()
            named = set(re.findall(r'"(torch[.][\\w.]+)"', text))
            print(named == watch.MODULES, len(named))
            """)
        self.assertEqual(said, ["True 14"])

    def test_is_found_when_sys_path_has_changed_since(self):
        said = self.run_python(f"""
            import sys
            sys.path[:] = [p for p in sys.path if p != {SITE!r}]
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(4, 1, [], "gloo", None, "0", group_desc="default_pg")
            print(ring().groups[0].description)
            """)
        self.assertEqual(said, ["default_pg"])

    def test_a_folder_that_is_gone_by_now_breaks_no_import(self):
        """An upgrade, an uninstall or an unmount while the job runs."""
        site = self.root / "site"
        shutil.copytree(SITE, site)
        said = self.run_python(f"""
            import shutil
            shutil.rmtree({str(site / "fathom_python")!r})
            import torch.utils.data.dataloader as loader, torch.distributed.distributed_c10d as c
            print(list(loader._BaseDataLoaderIter().__dict__), c._new_process_group_helper.__name__)
            """, PYTHONPATH=f"{site}:{self.root}:{pathlib.Path(__file__).parent}")
        self.assertEqual(said, ["['left'] _new_process_group_helper"])

    def test_errors_of_the_real_helper_pass(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            try: c._new_process_group_helper(-1, 0, [], "gloo", None, "0")
            except ValueError as e: print(e)
            try: c._new_process_group_helper("nonsense")
            except TypeError as e: print("missing" in str(e))
            c.make_group(0, 2)
            print(repr(ring().groups[0].name))
            """)
        self.assertEqual(said, ["no such size", "True", "''"])

    def test_the_wrapped_modules_look_untouched(self):
        said = self.run_python("""
            import importlib.util, inspect, torch.distributed.distributed_c10d as c
            print(c.__spec__.loader is c.__loader__, type(c.__loader__).__module__)
            print(inspect.signature(c._new_process_group_helper).parameters["group_desc"].default)
            """)
        self.assertEqual(said, ["True _frozen_importlib_external", "None"])

    def test_marks_garbage_collection_of_the_oldest_generation(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable(); gc.collect(0); gc.collect()
            for r in ring().records: print(r.kind, r.extra, r.bytes if r.extra == 1 else '', r.op)
            """)
        self.assertEqual(said, ["mark 1 2 1", "mark 2  1"])

    def test_marks_slow_collections_of_young_generations(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            heap = [[i] for i in range(2_000_000)]
            gc.collect(0)
            begin, end = ring().records
            print(begin.extra, begin.bytes, end.extra, begin.op == end.op, end.time_ns - begin.time_ns >= 1_000_000)
            """)
        self.assertEqual(said, ["1 0 2 True True"])

    def test_marks_the_wait_for_data(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c, torch.utils.data.dataloader as d
            it = d._BaseDataLoaderIter()
            next_batch = it.__next__
            print(next_batch())  # before there is a ring
            gc.disable()
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            print(next_batch())
            try: next_batch()
            except StopIteration: print("stop")
            for r in ring().records: print(r.kind, r.extra, r.op)
            """)
        self.assertEqual(said, ["1", "0", "stop", "mark 3 1", "mark 4 1", "mark 3 2", "mark 4 2"])

    def test_times_the_functions_that_the_user_names(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import time
            def slow(): time.sleep(0.002)
            def quick(): pass
            def fails(): time.sleep(0.002); raise ValueError("mine")
            class Job:
                def step(self): time.sleep(0.002); return 5
                @staticmethod
                def fixed(): return quick()
            """))
        said = self.run_python("""
            import mine
            from mine import slow
            import torch.distributed.distributed_c10d as c
            def of_the_script(): import time; time.sleep(0.002)
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            slow(); mine.quick(); print(mine.Job().step()); mine.Job.fixed(); of_the_script()
            try: mine.fails()
            except ValueError as e: print(e)
            names, records = ring().functions, ring().records
            begins = [r for r in records if r.extra == 5]
            ends = [r for r in records if r.extra == 6]
            print(sorted({names[r.bytes] for r in begins} - {"mine:fails"}))
            print([r.op for r in begins] == [r.op for r in ends], all(
                2_000_000 <= e.time_ns - b.time_ns < 1_000_000_000 for b, e in zip(begins, ends)))
            """, FATHOM_FUNCTIONS="mine:slow, mine:quick,mine:Job.step,mine:fails,mine:absent,mine:Job.fixed,"
                                  "__main__:of_the_script,nonsense,no.such:module")
        self.assertEqual(said, ["5", "mine", "['__main__:of_the_script', 'mine:Job.step', 'mine:slow']", "True True"])

    def test_short_calls_are_added_up(self):
        (self.root / "mine.py").write_text("import time\ndef short(): time.sleep(0.00001)\n")
        said = self.run_python("""
            import mine, time
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            began = time.monotonic_ns()
            for _ in range(200): mine.short()
            took = time.monotonic_ns() - began
            records = ring().records
            told = sum(e.time_ns - b.time_ns for b, e in zip(records[::2], records[1::2]))
            print(len(records) < 400, took * 0.5 < told <= took)
            """, FATHOM_FUNCTIONS="mine:short")
        self.assertEqual(said, ["True True"])

    def test_a_function_that_calls_itself(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import time
            def deep(n):
                time.sleep(0.002)
                if n: deep(n - 1)
            """))
        said = self.run_python("""
            import mine, sys
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            mine.deep(4)
            records = ring().records
            took = (records[1].time_ns - records[0].time_ns) / 1e6
            # What watches the code object cannot pair calls, and tells the innermost.
            print(len(records), took >= (2 if hasattr(sys, "monitoring") else 10), took < 1000)
            """, FATHOM_FUNCTIONS="mine:deep")
        self.assertEqual(said, ["2 True True"])

    def test_inherited_methods_stay_what_they_are(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import time
            class Base:
                @classmethod
                def make(cls): time.sleep(0.002); return cls.__name__
                @staticmethod
                def fixed(x): time.sleep(0.002); return x
                def plain(self): time.sleep(0.002); return type(self).__name__
            class Child(Base): pass
            class Beside(Base):
                def plain(self): return "beside"
            class Both(Child, Beside): pass
            """))
        said = self.run_python("""
            import mine
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            print(mine.Child.make(), mine.Child().make(), mine.Base.make(), mine.Child.fixed(3), mine.Child().fixed(4))
            print(mine.Child().plain(), mine.Both().plain())
            print(sorted({ring().functions[r.bytes] for r in ring().records if r.extra == 5}))
            """, FATHOM_FUNCTIONS="mine:Child.make,mine:Child.fixed,mine:Child.plain")
        self.assertEqual(said, ["Child Child Base 3 4", "Child beside",
                                "['mine:Child.fixed', 'mine:Child.make', 'mine:Child.plain']"])

    def test_what_has_more_to_it_than_calls_stays_as_it_is(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import functools
            @functools.lru_cache(None)
            def kept(x): return x
            class Two:
                def __call__(self, x): return 2 * x
            class Holder:
                length, two = len, Two()
            """))
        said = self.run_python("""
            import mine
            mine.kept(1); mine.kept.cache_clear()
            print(mine.Holder().length("abc"), mine.Holder().two(1))
            """, FATHOM_FUNCTIONS="mine:kept,mine:Holder.length,mine:Holder.two")
        self.assertEqual(said, ["3 2"])

    def test_generators_and_coroutines_are_passed_over(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import time
            def batches():
                for i in range(2): time.sleep(0.002); yield i
            async def fetch(): time.sleep(0.002); return 5
            async def stream(): time.sleep(0.002); yield 6
            def slow(): time.sleep(0.002)
            """))
        said = self.run_python("""
            import asyncio, inspect, time, mine
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            for batch in mine.batches(): time.sleep(0.002)
            async def both(): return await mine.fetch(), [x async for x in mine.stream()]
            print(asyncio.run(both()))
            mine.slow()
            print(inspect.isgeneratorfunction(mine.batches), inspect.iscoroutinefunction(mine.fetch),
                  inspect.isasyncgenfunction(mine.stream))
            print([ring().functions[r.bytes] for r in ring().records if r.extra == 5])
            """, FATHOM_FUNCTIONS="mine:batches,mine:fetch,mine:stream,mine:slow")
        self.assertEqual(said, ["(5, [6])", "True True True", "['mine:slow']"])

    def test_how_deep_a_traced_function_can_call_itself(self):
        (self.root / "mine.py").write_text("def deep(n): return n and deep(n - 1)\n")
        said = self.run_python("""
            import mine, sys
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            sys.setrecursionlimit(1000)
            def reached():
                for n in range(100, 1100, 10):
                    try: mine.deep(n)
                    except RecursionError: return n
            frames = 1 if hasattr(sys, "monitoring") else 2 if sys.version_info >= (3, 11) else 3  # docs/tracer/python.md
            print(990 // frames - 30 <= reached() <= 1000 // frames + 10)
            """, FATHOM_FUNCTIONS="mine:deep")
        self.assertEqual(said, ["True"])

    def test_in_a_python_without_cpythons_functions_nothing_is_wrapped(self):
        (self.root / "mine.py").write_text("import time\ndef slow(): time.sleep(0.002)\n")
        said = self.run_python("""
            from fathom_python import library
            library.builtins = lambda lib, function, *wanted: (None,) * len(wanted)
            import mine
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            mine.slow()
            print(hasattr(mine.slow, "__wrapped__"), len(ring().records))
            """, FATHOM_FUNCTIONS="mine:slow")
        self.assertEqual(said, ["False 0"])

    def test_arguments_results_and_exceptions_pass(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            class Mine:
                def give(self, *args, **kwargs): return self, args, kwargs
                def throw(self): raise ValueError("mine")
            """))
        said = self.run_python("""
            import mine, traceback
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            one = mine.Mine()
            print(one.give(1, b=2) == (one, (1,), {"b": 2}), one.give() == (one, (), {}))
            for _ in range(3):
                try: one.throw()
                except ValueError as error: names = [f.name for f in traceback.extract_tb(error.__traceback__)]
            print(names[-1])
            try: one.give.__func__()
            except TypeError as error: print("self" in str(error))
            """, FATHOM_FUNCTIONS="mine:Mine.give,mine:Mine.throw")
        self.assertEqual(said, ["True True", "throw", "True"])

    def test_a_wrapper_asks_the_compiler_as_soon_as_there_is_one(self):
        (self.root / "torch/compiler").mkdir(parents=True)
        (self.root / "torch/compiler/__init__.py").write_text("asked = []\n"
                                                              "def is_dynamo_compiling(): asked.append(1); return True\n")
        (self.root / "mine.py").write_text("def quick(): return 3\n")
        said = self.run_python("""
            import sys
            from fathom_python import functions, library
            import mine
            functions.patch(library.load(), mine, "quick", "mine:quick")
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            before = mine.quick()
            import torch.compiler
            print(before, mine.quick(), torch.compiler.asked)
            """)
        self.assertEqual(said, ["3 3 [1]"])

    def test_no_builtin_is_made_of_nonsense(self):
        said = self.run_python("""
            from fathom_python import library
            import ctypes
            lib = library.load()
            print(library.builtins(lib, 0, 9), library.builtins(lib, 99, 0, 1), lib.fathom_python_watch(len, 99))
            call, begin, end, start, back = library.builtins(lib, 0, *range(5))
            print(end(), begin(1, 2), begin(), end(), end(), start(), start(1, 2), back(1, 2, 3), call())
            print(call(divmod, (7, 2), {}), call(dict, (), {"a": 1}))
            try: call(divmod, (7, 0), {})
            except ZeroDivisionError: print("passed on")
            """)
        self.assertEqual(said, ["(None,) (None, None) 0", " ".join(["None"] * 9), "(3, 1) {'a': 1}", "passed on"])

    def test_phases_of_a_step(self):
        for name, text in PHASES.items():
            path = self.root / (name.replace(".", "/") + ".py")
            if name in ("torch.autograd", "torch.cuda"):
                path = path.with_suffix("") / "__init__.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(textwrap.dedent(text))
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            import torch.autograd, torch.cuda, torch.serialization, torch.optim.optimizer as o
            import torch._inductor.compile_fx
            torch.autograd.backward(); torch.cuda.synchronize(); torch.serialization.save(1, 2)
            torch._inductor.compile_fx.compile_fx(1)
            o.Optimizer().step()
            names = ring().functions
            for r in ring().records:
                if r.extra == 5: print(names[r.bytes])
            """)
        self.assertEqual(said, ["backward", "torch.cuda.synchronize", "checkpoint (torch.save)",
                                "compile (torch.compile)", "optimizer.step"])

    def test_making_a_communicator_is_marked_while_it_lasts(self):
        made = """
            def init_process_group(backend): return _new_process_group_helper(2, 0, [], backend, None, "0")
            def new_group(ranks, use_local_synchronization=False): raise ValueError("no such ranks")
            """
        (self.root / "torch/distributed/distributed_c10d.py").write_text(C10D + textwrap.dedent(made))
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            gc.disable()
            c.init_process_group("gloo")  # turns the tracer on
            for local in (False, True):
                try: c.new_group([0], local)
                except ValueError as error: print(error)
            try: c.new_group()
            except TypeError: print("passed on")
            names = ring().functions
            for r in ring().records:
                if r.extra in (5, 6): print("begin" if r.extra == 5 else "end", names[r.bytes])
            """)
        both = [f"communicator ({name})" for name in ("init_process_group", "new_group")]
        self.assertEqual(said, ["no such ranks", "no such ranks", "passed on", *(f"{edge} {name}" for name in both for edge in ("begin", "end"))])

    def test_does_nothing_when_disabled_isolated_or_not_preloaded(self):
        code = """
            import torch.distributed.distributed_c10d as c
            print(hasattr(c._new_process_group_helper, "__wrapped__"))
            """
        self.assertEqual(self.run_python(code), ["True"])
        self.assertEqual(self.run_python(code, FATHOM_DISABLE="1"), ["False"])
        self.assertEqual(self.run_python(code, LD_PRELOAD=""), ["False"])
        self.assertEqual(self.run_python(code, flags=("-S",)), ["False"])

    def test_a_fork_leaves_nothing(self):
        said = self.run_python("""
            import os, torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            pid = os.fork()
            if pid == 0:
                gc.collect()
                os._exit(0)
            os.waitpid(pid, 0)
            print(len(ring().records), ring().drops["after_fork"])
            """)
        self.assertEqual(said, ["0 0"])

    def test_sources_can_be_left_out(self):
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.collect()
            print(len(ring().records), len(ring().groups))
            """, FATHOM_TRACE="gloo")
        self.assertEqual(said, ["0 1"])

    def test_is_python_3_9(self):
        for path in pathlib.Path(SITE).rglob("*.py"):
            ast.parse(path.read_text(), str(path), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
