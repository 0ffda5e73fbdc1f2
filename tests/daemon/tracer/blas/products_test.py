"""Products of matrices under libfathom.so, by a simulated BLAS and cuBLAS: what is told of them, and that nothing changes.

    products_test.py LIBFATHOM VICTIM FOLDER_OF_JOBS
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "preload"))
from fake_agent import FakeAgent  # noqa: E402
from ring_file import DEVICE, RingFile  # noqa: E402

LIBRARY, VICTIM, JOBS = sys.argv[1:4]
CLASSES = ("fp64", "fp32", "tf32", "fp16", "fp8", "fp4")
ONE = 2 * 8 * 16 * 32  # of the product that each function of the jobs computes


def play(mode, job, folder=None, **more):
    """Its output, and its ring where it is traced."""
    library = pathlib.Path(JOBS) / f"libproducts_{job}.so"
    env = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")} | more
    if folder is None:
        return subprocess.run([VICTIM, mode, str(library)], env=env, input="\n", capture_output=True, text=True,
                              timeout=60), None
    with FakeAgent(folder) as agent:
        env |= {"LD_PRELOAD": LIBRARY, "FATHOM_SHM_DIR": str(folder)}
        with subprocess.Popen([VICTIM, mode, str(library)], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as victim:
            first = victim.stdout.readline()
            while first.startswith("ns"):
                first = victim.stdout.readline()
            rings = [RingFile(path) for path in agent.rings()]
            out, err = victim.communicate("\n", timeout=60)
    return subprocess.CompletedProcess([], victim.returncode, first + out, err), rings[0] if rings else None


class ProductsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def told(self, mode, job, **more):
        """FLOP by class, and the records; the job goes as it does alone."""
        if not (pathlib.Path(JOBS) / f"libproducts_{job}.so").exists():
            self.skipTest("the headers of cuBLAS are not here")
        alone, _ = play(mode, job)
        run, ring = play(mode, job, self.folder, **more)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, alone.stdout, ""))
        records = [r for r in ring.records if r.kind == "products"] if ring else []
        flop = defaultdict(int)
        for record in records:
            flop[CLASSES[record.dtype]] += record.bytes
        return flop, records, ring

    def test_each_function_of_the_cpu_is_counted_and_timed(self):
        flop, records, ring = self.told("all", "cpu")
        self.assertEqual(flop, {"fp32": ONE + 3 * ONE + 5 * 16, "fp64": ONE, "fp16": ONE})
        self.assertEqual(sum(r.sequence & 0xFFFFFFFF for r in records), 4)
        self.assertGreater(sum(r.sequence >> 32 for r in records), 0)
        for record in records:
            self.assertEqual(record.flags & DEVICE, 0)
            self.assertLessEqual(record.extra & 0xFFFFFFFF, record.extra >> 32)
        self.assertEqual(set(ring.drops.values()), {0})

    def test_they_are_told_before_the_op_that_follows(self):
        _, _, ring = self.told("all", "cpu")
        kinds = [r.kind for r in ring.records]
        self.assertLess(max(i for i, kind in enumerate(kinds) if kind == "products"), kinds.index("enter"))

    def test_each_function_of_cublas_is_counted_by_the_type_of_its_factors(self):
        flop, records, ring = self.told("all", "cublas")
        lt = 2 * ONE  # a batch of two
        self.assertEqual(flop, {"fp32": ONE + lt, "tf32": 5 * ONE + lt, "fp64": 4 * ONE, "fp16": 8 * ONE,
                                "fp8": 2 * ONE + lt})
        self.assertTrue(all(r.flags & DEVICE and r.sequence == 0 and r.extra == 0 for r in records))
        self.assertEqual(set(ring.drops.values()), {0})

    def test_what_cublaslt_cannot_be_asked_is_not_counted_and_the_rest_is(self):
        flop, _, ring = self.told("all", "cublas_old")
        self.assertEqual(flop, {"fp32": ONE, "tf32": 5 * ONE, "fp64": 4 * ONE, "fp16": 8 * ONE, "fp8": 2 * ONE})
        self.assertEqual(ring.drops["symbol_missing"], 2)

    def test_many_products_are_few_records(self):
        for job in ("cpu", "cublas"):
            with self.subTest(job):
                run, ring = play("loop", job, self.folder)
                self.assertEqual(run.returncode, 0, run.stderr)
                records = [r for r in ring.records if r.kind == "products"]
                self.assertEqual(sum(r.bytes for r in records), 101_000 * ONE)
                # Every 4096th product writes what was counted; a gap in time may do so, too.
                self.assertLess(len(records), 1000)
                for path in self.folder.glob("*.ring"):
                    path.unlink()

    def test_nothing_is_told_where_the_source_is_left_out(self):
        for job in ("cpu", "cublas"):
            flop, records, _ = self.told("all", job, FATHOM_TRACE="gloo,python")
            self.assertEqual((dict(flop), records), ({}, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
