"""The Python start-up hook without PyTorch: what it does at start-up, what it marks, whom it leaves alone.

    site_test.py LIBFATHOM SITE LIBFAKE_GLOO
"""
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import unittest

from site_case import C10D, HERE, LIBRARY, SITE, SiteCase

# What the hook wraps of PyTorch, as far as it looks at it.
PHASES = {
    "torch.autograd": "import time\ndef backward(): time.sleep(0.001)\n",
    "torch._tensor": "import time\nclass Tensor:\n    def item(self): time.sleep(0.001); return 3\n",
    "torch.cuda": "import time\ndef synchronize(): time.sleep(0.001)\n",
    "torch.nn.parallel.distributed": "import time\nclass DistributedDataParallel:\n    def forward(self, x): time.sleep(0.001); return x\n",
    "torch.distributed.fsdp.fully_sharded_data_parallel":
        "import time\nclass FullyShardedDataParallel:\n    def forward(self, x): time.sleep(0.001); return -x\n",
    "torch.serialization": "def save(what, where): pass\ndef load(where): pass\n",
    "torch.distributed.checkpoint.state_dict_saver": "def save(what): pass\ndef async_save(what): pass\n",
    "torch.distributed.checkpoint.state_dict_loader": "def load(what): pass\n",
    "torch._inductor.compile_fx": "def compile_fx(graph): pass\n",
    "torch.utils.cpp_extension": "def _jit_compile(name): pass\n",
    "torch.optim.optimizer": """
        import time
        before, after = [], []
        register_optimizer_step_pre_hook, register_optimizer_step_post_hook = before.append, after.append
        class Parameter:
            def numel(self): return 3
            def element_size(self): return 4
        class Optimizer:
            def __init__(self, parameters=1, inner=None):
                self.param_groups, self.inner = [{"params": [Parameter()] * parameters}], inner
            def step(self):
                for hook in before: hook(self, (), {})
                time.sleep(0.001)
                if self.inner: self.inner.step()
                for hook in after: hook(self, (), {})
        """,
}


class SiteTest(SiteCase):
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
            """, PYTHONPATH=f"{site}:{self.root}:{HERE}")
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
            print(inspect.signature(c._new_process_group_helper).parameters["group_desc"].default,
                  inspect.getfullargspec(c._new_process_group_helper).args[:2])
            """)
        self.assertEqual(said, ["True _frozen_importlib_external", "None ['group_size', 'group_rank']"])

    def test_a_module_that_is_only_looked_for_has_a_loader_with_all_its_methods(self):
        (self.root / "mine.py").write_text("def quick(): return 3\nif __name__ == '__main__': print(quick())\n")
        said = self.run_python("""
            import copy, importlib.util, runpy, sys
            loader = importlib.util.find_spec("mine").loader
            print(loader.get_source("mine").split()[0], loader.is_package("mine"), copy.copy(loader).name)
            runpy.run_module("mine", run_name="__main__", alter_sys=True)  # python -m mine
            """, FATHOM_FUNCTIONS="mine:quick")
        self.assertEqual(said, ["def False mine", "3"])

    def test_a_warning_for_the_caller_names_the_caller(self):
        warn = "warnings.warn('old', FutureWarning, stacklevel=2)"
        (self.root / "torch/serialization.py").write_text(f"import warnings\ndef load(where): {warn}\n")
        (self.root / "mine.py").write_text(f"import warnings\ndef quick(): {warn}\n{warn}\n")
        (self.root / "torch/utils/data/dataloader.py").write_text(
            f"import warnings\nclass _BaseDataLoaderIter:\n    def __next__(self): {warn}\n")
        (self.root / "host.py").write_text(textwrap.dedent("""
            import warnings
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                import mine
                import torch.serialization as serialization, torch.utils.data.dataloader as loader
                print(hasattr(serialization.load, "__wrapped__"))
                serialization.load(1)
                mine.quick()
                loader._BaseDataLoaderIter().__next__()
            print([(w.filename.rsplit("/")[-1], w.lineno) for w in told])
            """))
        said = self.run_python("import host", FATHOM_FUNCTIONS="mine:quick")
        self.assertEqual(said, ["True", "[('host.py', 5), ('host.py', 8), ('host.py', 9), ('host.py', 10)]"])

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

    def test_tells_how_much_a_batch_holds(self):
        (self.root / "torch/__init__.py").write_text(textwrap.dedent("""
            class Tensor:
                def __init__(self, elements): self.elements = elements
                def numel(self): return self.elements
            class Odd(Tensor):
                def numel(self): raise RuntimeError("never asked")
            """))
        (self.root / "torch/utils/data/dataloader.py").write_text(textwrap.dedent("""
            import torch
            class _BaseDataLoaderIter:
                def __init__(self, batches): self.batches = iter(batches)
                def __next__(self): return next(self.batches)
            """))
        said = self.run_python("""
            import collections, torch, torch.distributed.distributed_c10d as c, torch.utils.data.dataloader as d
            gc.disable()
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            T = torch.Tensor
            loop = []
            loop.append(loop)
            batches = [T(7), (T(3), T(40)), {"mask": [T(5)], "ids": T(6)}, [[[[[T(9)]]]]], torch.Odd(8), "text", loop,
                       [1] * 100 + [T(2)], None, collections.UserDict(ids=T(11)),
                       collections.namedtuple("Pair", "x y")(T(1), T(12))]
            it = d._BaseDataLoaderIter(batches)
            print(all(it.__next__() is batch for batch in batches))
            print([r.bytes for r in ring().records if r.extra == 4])
            """)
        self.assertEqual(said, ["True", "[7, 40, 6, 0, 0, 0, 0, 0, 0, 11, 12]"])

    def test_phases_of_a_step(self):
        for name, text in PHASES.items():
            path = self.root / (name.replace(".", "/") + ".py")
            if name in ("torch.autograd", "torch.cuda"):
                path = path.with_suffix("") / "__init__.py"
            for folder in reversed(list(path.relative_to(self.root).parents)):
                (self.root / folder).mkdir(exist_ok=True)
                if folder.name:
                    (self.root / folder / "__init__.py").touch()
            path.write_text(textwrap.dedent(text))
        said = self.run_python("""
            import torch.distributed.distributed_c10d as c
            c._new_process_group_helper(2, 0, [], "gloo", None, "0")
            gc.disable()
            import torch.autograd, torch.cuda, torch.serialization, torch.optim.optimizer as o
            import torch._inductor.compile_fx, torch.utils.cpp_extension, torch._tensor
            import torch.nn.parallel.distributed as ddp, torch.distributed.fsdp.fully_sharded_data_parallel as fsdp
            import torch.distributed.checkpoint.state_dict_saver as saver, torch.distributed.checkpoint.state_dict_loader as loader
            print(ddp.DistributedDataParallel().forward(2), fsdp.FullyShardedDataParallel().forward(2), torch._tensor.Tensor().item())
            torch.autograd.backward(); torch.cuda.synchronize()
            torch.serialization.save(1, 2); torch.serialization.load(1)
            saver.save(1); saver.async_save(1); loader.load(1)
            torch._inductor.compile_fx.compile_fx(1); torch.utils.cpp_extension._jit_compile("mine")
            o.Optimizer().step()
            names = ring().functions
            for r in ring().records:
                if r.extra == 5: print(names[r.bytes])
            """)
        self.assertEqual(said, ["2 -2 3", "forward", "forward", "Tensor.item", "backward", "torch.cuda.synchronize",
                                "checkpoint (torch.save)", "checkpoint (torch.load)",
                                "checkpoint (torch.distributed.checkpoint.save)",
                                "checkpoint (torch.distributed.checkpoint.async_save)",
                                "checkpoint (torch.distributed.checkpoint.load)", "compile (torch.compile)",
                                "compile (torch.utils.cpp_extension)", "optimizer.step"])

    def steps_of(self, before, **environment):
        """What the ring tells of steps, or that there is none."""
        (self.root / "torch/optim").mkdir()
        (self.root / "torch/optim/__init__.py").touch()
        (self.root / "torch/optim/optimizer.py").write_text(textwrap.dedent(PHASES["torch.optim.optimizer"]))
        return self.run_python(f"""
            import torch.distributed.distributed_c10d as c, torch.optim.optimizer as o
            {before}
            inner = o.Optimizer()
            outer = o.Optimizer(2, inner)
            outer.step(); inner.step(); outer.step()
            if glob.glob({str(self.rings)!r} + "/*.ring"):
                for r in ring().records:
                    if r.kind == "enter": print(r.collective, r.bytes, r.sequence, ring().groups[r.group].name)
            else: print("no ring")
            """, **environment)

    STEPS = ["step 24 0 optimizer", "step 12 1 optimizer", "step 24 2 optimizer"]

    def test_steps_of_a_process_on_its_own_turn_the_tracer_on(self):
        """That of an optimizer inside another one's counts once."""
        self.assertEqual(self.steps_of(""), self.STEPS)

    def test_steps_are_told_beside_a_communicator_of_one(self):
        self.assertEqual(self.steps_of('c._new_process_group_helper(1, 0, [], "gloo", None, "0")', RANK="0", WORLD_SIZE="1"),
                         self.STEPS)

    def test_steps_of_a_rank_among_others_are_not_told(self):
        self.assertEqual(self.steps_of('c._new_process_group_helper(2, 0, [], "gloo", None, "0")'), [])

    def test_steps_of_a_rank_whose_launcher_tells_of_others_turn_nothing_on(self):
        self.assertEqual(self.steps_of("", RANK="0", WORLD_SIZE="2"), ["no ring"])

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

    def test_workers_run_as_without_it_and_leave_nothing(self):
        """However a DataLoader may make them, of a job that has a ring and named functions."""
        (self.root / "mine.py").write_text("def twice(x): return 2 * x\n")
        (self.root / "job.py").write_text(textwrap.dedent(f"""
            import gc, glob, multiprocessing, sys
            import torch.distributed.distributed_c10d as c, torch.utils.data.dataloader as d
            import mine
            def work(x):
                gc.collect()
                return mine.twice(x) + sum(d._BaseDataLoaderIter().__next__() for _ in range(2))
            if __name__ == "__main__":
                c._new_process_group_helper(2, 0, [], "gloo", None, "0")
                gc.disable()
                with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool: print(pool.map(work, range(4)))
                print(len(glob.glob({str(self.rings)!r} + "/*.ring")), file=sys.stderr)
            """))
        for method in ("fork", "forkserver", "spawn"):
            with self.subTest(method):
                said = []
                for preload, site in (("", ""), (LIBRARY, SITE)):
                    env = {"PYTHONPATH": f"{site}:{self.root}", "LD_PRELOAD": preload, "FATHOM_SHM_DIR": str(self.rings),
                           "PATH": os.environ.get("PATH", ""), "FATHOM_FUNCTIONS": "mine:twice"}
                    run = subprocess.run([sys.executable, self.root / "job.py", method], env=env, capture_output=True, text=True)
                    said.append((run.returncode, run.stdout, run.stderr))
                self.assertEqual(said, [(0, "[2, 4, 6, 8]\n", "0\n"), (0, "[2, 4, 6, 8]\n", "1\n")])

    def test_the_users_own_sitecustomize_still_runs(self):
        (self.root / "sitecustomize.py").write_text("print('own start-up')\n")
        said = self.run_python("import sitecustomize as s; print(s.__file__)")
        self.assertEqual(said, ["own start-up", str(self.root / "sitecustomize.py")])

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
