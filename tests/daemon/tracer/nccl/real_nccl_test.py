#!/usr/bin/env python3
"""libfathom.so beside the real libnccl of PyPI's wheels, as far as that goes without a GPU.

Takes every libnccl.so.2 below .nccl/ of the source tree, where deploy/scripts/fetch_nccl_libraries puts them, and skips
(77) where there is none. What is asked of each library: it loads and answers as without us; calls of a program
that is linked with it reach our wrappers and go on to it, and fail as without us where there is no GPU; it finds our
profiler plugin in the program, takes the newest version that both know, and begins and ends it. NCCL makes its plugin
with a communicator, for which it wants a GPU: so its function for that is called directly, with a communicator of
zeros. It has to be a symbol of the library for that, as in these wheels.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
CACHE = ROOT / ".nccl"
BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", ROOT / "build/release")).resolve()
LIBFATHOM = BUILD / "libfathom.so"
OURS = range(3, 7)  # versions of the plugin's interface that libfathom.so exports
INIT, END = "_Z22ncclProfilerPluginInitP8ncclComm", "_Z26ncclProfilerPluginFinalizeP8ncclComm"
HOST = """
#include <stdio.h>
typedef struct { char bytes[128]; } Id;
int ncclGetVersion(int*); int ncclGetUniqueId(Id*); int ncclCommInitRank(void**, int, Id, int);
int ncclAllReduce(const void*, void*, unsigned long, int, int, void*, void*); int ncclGroupStart(void); int ncclGroupEnd(void);
int main(void) {
  int version = 0; Id id; void* comm = 0;
  printf("%d ", ncclGetVersion(&version)); printf("%d ", version); printf("%d ", ncclGetUniqueId(&id));
  printf("%d ", ncclCommInitRank(&comm, 1, id, 0)); printf("%d ", ncclGroupStart());
  printf("%d ", ncclAllReduce(0, 0, 4, 7, 0, 0, 0)); printf("%d\\n", ncclGroupEnd());
  return 0;
}
"""


def load(library):
    """In a process of its own: what the library says of our plugin, on stdout."""
    symbols = {}
    for line in subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout.splitlines():
        *address, _, name = line.split()
        symbols[name] = int(address[0], 16) if address else None
    nccl = ctypes.CDLL(library, mode=os.RTLD_LOCAL | os.RTLD_NOW)
    base = ctypes.cast(nccl.ncclGetVersion, ctypes.c_void_p).value - symbols["ncclGetVersion"]
    comm = ctypes.create_string_buffer(4 << 20)
    for name in (INIT, END):
        function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(base + symbols[name])
        print("result", function(ctypes.addressof(comm)), flush=True)
        print("rings", len(list(pathlib.Path(os.environ["FATHOM_SHM_DIR"]).glob("*.ring"))), flush=True)


class RealNccl(unittest.TestCase):
    library = None  # set by each subclass

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fathom-real-nccl-", dir="/dev/shm")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder])

    def run_host(self, command, traced, **more):
        environment = {"PATH": os.environ["PATH"], "FATHOM_SHM_DIR": self.folder, **more,
                       "LD_LIBRARY_PATH": str(self.library.parent)}
        if traced:
            environment["LD_PRELOAD"] = str(LIBFATHOM)
        done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done

    def test_calls_of_a_program_reach_our_wrappers_and_go_on(self):
        host = pathlib.Path(self.folder) / "host"
        host.with_suffix(".c").write_text(HOST)
        subprocess.run(["cc", "-o", host, host.with_suffix(".c"), self.library], check=True)
        bare, traced = (self.run_host([host], on).stdout for on in (False, True))
        self.assertRegex(bare, r"^0 \d{5} 0 [1-9]", "without a GPU there is no communicator")
        self.assertEqual(traced, bare)
        bound = self.run_host([host], True, LD_DEBUG="bindings").stderr
        for name in ("ncclCommInitRank", "ncclAllReduce", "ncclGroupStart", "ncclGroupEnd"):
            self.assertRegex(bound, rf"host \[0\] to \S*libfathom.so \[0\]: normal symbol `{name}'")
            self.assertRegex(bound, rf"libfathom.so \[0\] to \S*libnccl.so.2 \[0\]: normal symbol `{name}'")
        self.assertRegex(bound, r"host \[0\] to \S*libnccl.so.2 \[0\]: normal symbol `ncclGetVersion'")

    def test_the_plugin_is_found_in_the_program_and_taken(self):
        if INIT not in subprocess.run(["nm", self.library], capture_output=True, text=True).stdout:
            self.skipTest("the library does not name the function that makes its plugin")
        knows = {int(v) for v in re.findall(rb"\0ncclProfiler_v(\d+)\0", self.library.read_bytes())}
        version = max(knows & set(OURS))
        command = [sys.executable, __file__, "--load", self.library]
        said = self.run_host(command, True, NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="ALL",
                             NCCL_PROFILER_PLUGIN="STATIC_PLUGIN").stdout
        self.assertIn(f"Loaded fathom (v{version})", said)
        self.assertEqual(re.findall(r"^result (\d+)", said, re.MULTILINE), ["0", "0"], said)
        self.assertIn("\nrings 1\n", said, "our part of it was called")
        print(f"{self.library.parent.name}: knows {sorted(knows)}, takes v{version}", file=sys.stderr)

    def test_without_us_it_goes_on_without_a_plugin(self):
        said = self.run_host([sys.executable, __file__, "--load", self.library], False, NCCL_DEBUG="INFO",
                             NCCL_PROFILER_PLUGIN="STATIC_PLUGIN").stdout
        self.assertNotIn("fathom", said.replace(str(ROOT), ""))
        self.assertEqual(re.findall(r"^result (\d+)", said, re.MULTILINE), ["0", "0"], said)


def load_tests(loader, tests, pattern):
    del tests, pattern
    suite = unittest.TestSuite()
    for library in sorted(CACHE.glob("*/libnccl.so.2")):
        case = type(f"Nccl_{library.parent.name}", (RealNccl,), {"library": library})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        sys.exit(load(sys.argv[2]))
    if not list(CACHE.glob("*/libnccl.so.2")):
        print("no libnccl below .nccl; deploy/scripts/fetch_nccl_libraries gets those of PyPI")
        sys.exit(77)
    unittest.main()
