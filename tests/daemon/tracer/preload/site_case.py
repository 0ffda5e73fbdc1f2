"""A Python process with the start-up hook and without PyTorch: a package of the same names, on the stand-in for Gloo.

Used by site_test.py and functions_test.py, whose arguments are LIBFATHOM SITE LIBFAKE_GLOO.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

LIBRARY, SITE, FAKE = sys.argv[1:4]
HERE = pathlib.Path(__file__).parent

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


class SiteCase(unittest.TestCase):
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
        env = {"PYTHONPATH": f"{SITE}:{self.root}:{HERE}", "LD_PRELOAD": LIBRARY,
               "FATHOM_SHM_DIR": str(self.rings), "PATH": os.environ.get("PATH", ""), **environment}
        lead = "import glob, gc\nfrom ring_file import RingFile\n" \
               f"ring = lambda: RingFile(glob.glob({str(self.rings)!r} + '/*.ring')[0])\n"
        run = subprocess.run([sys.executable, *flags, "-c", lead + textwrap.dedent(code)], env=env,
                             capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()
