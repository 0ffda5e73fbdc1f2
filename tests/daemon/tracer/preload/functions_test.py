"""Functions that a user names, timed by the Python start-up hook: without PyTorch.

    functions_test.py LIBFATHOM SITE LIBFAKE_GLOO
"""
import sys
import textwrap
import unittest

from site_case import SiteCase


class FunctionsTest(SiteCase):
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
            def calls_of_a_round(before):
                began = time.monotonic_ns()
                for _ in range(200): mine.short()
                took = time.monotonic_ns() - began
                records = ring().records[before:]
                told = sum(e.time_ns - b.time_ns for b, e in zip(records[::2], records[1::2]))
                return before + len(records), told <= took, len(records) < 400 and took * 0.5 < told
            # A machine with other work may take its processor away between two calls, or make each of them
            # long enough for records of its own: any quiet round will do. What is told never is too much.
            before, fits, quiet = calls_of_a_round(0)
            for _ in range(50):
                if quiet or not fits: break
                before, fits, quiet = calls_of_a_round(before)
            print(fits, quiet)
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

    def test_what_is_held_elsewhere_can_still_be_pickled(self):
        (self.root / "mine.py").write_text(textwrap.dedent("""
            import functools
            def in_a_table(): return 1
            TABLE = {"f": in_a_table}
            def partly(x): return x
            two = functools.partial(partly, 2)
            def by_name(): return 3
            class Job:
                def step(self): return 4
                held = step
                @staticmethod
                def fixed(): return 5
                @classmethod
                def made(cls): return 6
            """))
        said = self.run_python("""
            import mine, pickle, sys
            same = lambda what: pickle.loads(pickle.dumps(what))
            print(same(mine.TABLE["f"])(), same(mine.two)(), same(mine.by_name)(), same(mine.Job.held)(None),
                  same(mine.Job.fixed)(), same(mine.Job.made)())
            print([hasattr(f, "__wrapped__") != hasattr(sys, "monitoring") for f in
                   (mine.by_name, mine.Job.__dict__["fixed"].__func__, mine.Job.__dict__["made"].__func__)])
            """, FATHOM_FUNCTIONS="mine:in_a_table,mine:partly,mine:by_name,mine:Job.step,mine:Job.fixed,mine:Job.made")
        self.assertEqual(said, ["1 2 3 4 5 6", "[True, True, True]"])

    def test_a_method_in_c_stays_one(self):
        """torch.Tensor.item, as PyTorch has it; array.array has a method like it."""
        (self.root / "torch/_tensor.py").write_text(textwrap.dedent("""
            import array
            class Base(array.array): pass
            class Tensor(Base): item = array.array.tobytes
            """))
        code = """
            import array, pickle, torch._tensor as t
            bare = array.array.tobytes
            print(type(t.Tensor.item) is type(bare), repr(t.Tensor.item) == repr(bare), t.Tensor.item.__name__)
            one = t.Tensor("b", [1, 2])
            print(one.item(), t.Tensor.item(one), pickle.loads(pickle.dumps(t.Tensor.item)) is bare)
            for wrong in (lambda: one.item(1), lambda: t.Tensor.item(3), lambda: t.Tensor.item()):
                try: wrong()
                except TypeError as error: print(error)
            """
        said = self.run_python(code + "\n            print(t.Tensor.item is bare)")
        self.assertEqual(said.pop(), "False")
        self.assertEqual(said, self.run_python(code, FATHOM_DISABLE="1"))
        self.assertEqual(said[:2], ["True True tobytes", "b'\\x01\\x02' b'\\x01\\x02' True"])

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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
