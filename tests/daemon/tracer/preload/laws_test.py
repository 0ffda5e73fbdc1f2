"""A job runs with libfathom.so preloaded as it runs without: hosts and limits that break guests.

    laws_test.py LIBFATHOM PRELOAD_VICTIM LIBFAKE_GLOO

Each case runs a host bare and traced, and compares what it printed and how it ended.
"""
import glob
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

LIBFATHOM, VICTIM, FAKE_GLOO = (os.path.abspath(path) for path in sys.argv[1:4])
HOSTILE = os.path.join(os.path.dirname(VICTIM), "hostile_host")
# As `fathom run` names it: the loader of each process looks where its own kind of library lies.
BY_KIND = os.path.join(os.path.dirname(LIBFATHOM), "libfathom/$LIB/libfathom.so")

# A host without a C library, so that it can be made for loaders whose libraries are not installed.
TINY = """
static long call(long n, long a, const void* b, long c) {
  long r;
#ifdef __i386__
  __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
#else
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#endif
  return r;
}
void _start(void) {
  call(sizeof(long) == 4 ? 4 : 1, 1, "done\\n", 5);
  call(sizeof(long) == 4 ? 1 : 60, 7, 0, 0);
}
"""

# Ops on the stand-in for Gloo, on threads that come and go, from a host without a malloc of its own.
OPS = """
import ctypes, sys, threading
P, I, B = ctypes.c_void_p, ctypes.c_int, ctypes.c_bool
F = ctypes.CFUNCTYPE
class Table(ctypes.Structure):
    _fields_ = [("make_group", F(P, I, I)), ("drop_group", F(None, P)), ("allreduce", F(P, P, ctypes.c_int64)),
                ("broadcast", P), ("monitored_barrier", P), ("execute", F(None, P, B)), ("wait", F(B, P, B)),
                ("drop_work", F(None, P))]
gloo = Table.in_dll(ctypes.CDLL(sys.argv[1]), "fake_gloo")
def ops():
    group = gloo.make_group(0, 1)
    for _ in range(200):
        work = gloo.allreduce(group, 64)
        gloo.execute(work, False); gloo.wait(work, False); gloo.drop_work(work)
    gloo.drop_group(group)
threads = [threading.Thread(target=ops) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""

# The second line is for what the job has become, or made: with both at once the first reader takes them.
TWICE = """
import subprocess, sys
job = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for _ in range(2):
    print(job.stdout.readline(), end="")
    job.stdin.write("go\\n"); job.stdin.flush()
print(job.stdout.read(), job.wait())
"""

# Ends it as soon as it stands still in its op.
KILL = """
import subprocess, sys, time
job = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(job.stdout.readline(), end="")
job.stdin.write("go\\n"); job.stdin.flush()
time.sleep(0.2)
job.kill()
print(job.stdout.read(), job.wait())
"""


def run(command, preload, folder, **more):
    environment = {"FATHOM_SHM_DIR": folder, "PATH": os.environ["PATH"], **more.pop("environment", {})}
    if preload:
        environment["LD_PRELOAD"] = preload
    done = subprocess.run(command, env=environment, input="go\n", capture_output=True, text=True, timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


class Laws(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fathom-laws-")
        os.chmod(self.folder, 0o777)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def same(self, command, beside="", code=0, preload=BY_KIND, **more):
        """Runs bare and traced; with `beside` preloaded in both, before and after the tracer."""
        bare = run(command, beside, self.folder, **more)
        self.assertEqual(bare[0], code, bare)
        for order in {f"{beside}:{preload}", f"{preload}:{beside}"}:
            self.assertEqual(run(command, order.strip(":"), self.folder, **more), bare)

    def victim(self, *arguments):
        return [VICTIM, FAKE_GLOO, *arguments]

    def allocator(self, name):
        found = glob.glob(f"/usr/lib/*/{name}") + glob.glob(f"/usr/lib/{name}")
        if not found:
            self.skipTest(f"{name} is not installed")
        # The victim brings a malloc of its own; Python takes the one that is preloaded.
        self.same([sys.executable, "-c", OPS, FAKE_GLOO], found[0])

    def hostile(self, *what, whens=("first", "later"), **more):
        """Before the first op, and after some."""
        for when in whens:
            with self.subTest((when, *what)):
                self.same([HOSTILE, FAKE_GLOO, when, *what], **more)

    def test_what_a_job_does_with_processes_and_libraries_comes_out_the_same(self):
        for code, mode in ((0, "bare"), (0, "ops"), (0, "kinds"), (0, "failures"), (0, "errno"), (0, "failing_group"),
                           (0, "fork"), (0, "raw_fork"), (0, "fork_inside_op"), (0, "vfork"), (0, "spawn"), (0, "unload"),
                           (9, "underscore_exit"), (0, "full")):
            with self.subTest(mode):
                self.same(self.victim(mode), code=code)

    def test_exec_and_a_child_that_makes_a_group_come_out_the_same(self):
        for mode in ("exec", "fork_and_make_group"):
            with self.subTest(mode):
                self.same([sys.executable, "-c", TWICE, *self.victim(mode)])

    def test_killed_inside_an_op(self):
        self.same([sys.executable, "-c", KILL, *self.victim("stop")])

    def test_more_than_its_ring_holds(self):
        self.same(self.victim("ops", "20000"), environment={"FATHOM_RING_KIB": "64"})

    def test_beside_another_interposer(self):
        self.same(self.victim("ops"), os.path.join(os.path.dirname(VICTIM), "libfathom_twin.so"))

    def test_beside_a_library_that_shares_a_gpu_out(self):
        """It has its functions called through a dlsym of its own."""
        driver = os.path.join(os.path.dirname(VICTIM), "fake_cuda/libcuda.so.1")
        sharer = os.path.join(os.path.dirname(VICTIM), "libsharer.so")
        if not os.path.exists(driver) or os.uname().machine != "x86_64":
            self.skipTest("no stand-in for libcuda was built, or dlsym has other versions here")
        self.assertIn("shared", run([HOSTILE, driver, "-", "ask"], sharer, self.folder)[1])
        self.same([HOSTILE, driver, "-", "ask"], sharer)

    def test_a_file_system_that_may_only_be_read(self):
        folder = os.path.join(self.folder, "rings")
        os.mkdir(folder)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", folder], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"may not mount one: {mounted.stderr.strip()}")
        try:
            self.same(self.victim("ops"), environment={"FATHOM_SHM_DIR": folder})
            self.assertEqual(os.listdir(folder), [])
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_beside_jemalloc(self):
        self.allocator("libjemalloc.so.2")

    def test_beside_tcmalloc(self):
        self.allocator("libtcmalloc_minimal.so.4")

    def test_ten_thousand_threads(self):
        threads = 10_000
        with open("/proc/sys/kernel/threads-max") as most:
            threads = min(threads, int(most.read()) // 4)
        self.same(self.victim("storm", str(threads)))

    def test_a_thread_is_cancelled_inside_an_op(self):
        self.same(self.victim("cancel"))

    def test_what_a_host_does_with_its_files_limits_and_threads_comes_out_the_same(self):
        for what in ("close_all", "no_files", "locked", "tiny_stacks", "forks", "groups"):
            self.hostile(what)

    def test_signals_that_arrive_while_space_is_reserved(self):
        """It is not what the host does that counts here, but that it is traced all the same."""
        self.assertEqual(run([HOSTILE, FAKE_GLOO, "first", "interrupted"], BY_KIND, self.folder), (0, "did\ndone\n", ""))

    def test_a_host_that_goes_elsewhere(self):
        if os.geteuid() != 0:
            self.skipTest("only root can")
        for what in ("chroot", "other_user", "namespaces"):
            self.hostile(what)

    def test_a_thread_that_is_to_be_cancelled_turns_the_tracer_on(self):
        """Others would wait for it for ever."""
        self.hostile("cancel")

    def test_a_host_that_may_not_read_the_counter(self):
        self.hostile("no_counter", whens=["first"])

    def test_a_driver_that_is_let_go_and_taken_up_again(self):
        driver = os.path.join(os.path.dirname(VICTIM), "fake_cuda/libcuda.so.1")
        if not os.path.exists(driver):
            self.skipTest("no stand-in for libcuda was built")
        for way in ([], ["by_table"]):
            self.same([HOSTILE, driver, "-", "unload", *way])

    def test_abort_and_exit_while_a_thread_is_inside_an_op(self):
        self.same(self.victim("abort"), code=-signal.SIGABRT)
        self.same(self.victim("exit_inside_op"), code=6)

    def test_no_address_space_for_a_ring(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))
        self.same(self.victim("ops", "100"), environment={"FATHOM_RING_KIB": "65536"}, preexec_fn=limit)
        self.assertEqual(os.listdir(self.folder), [], "a ring that cannot be mapped is taken away")

    def test_a_static_host_is_left_alone(self):
        host = "/sbin/ldconfig"
        kind = subprocess.run(["readelf", "-lW", host], capture_output=True, text=True)
        if kind.returncode != 0 or "INTERP" in kind.stdout:
            self.skipTest(f"{host} is not statically linked")
        self.same([host, "--version"])

    def test_a_setuid_host_stays_out(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a host that is setuid to somebody else")
        host = os.path.join(self.folder, "host")
        shutil.copy("/bin/cat", host)
        os.chmod(host, 0o4755 | stat.S_ISUID)
        self.same([host, "/proc/self/comm"], user=65534)
        maps = run([host, "/proc/self/maps"], BY_KIND, self.folder, user=65534)
        self.assertNotIn("libfathom", maps[1])

    def tiny_host(self, loader, *flags):
        """A program for that loader: prints a line, ends with 7."""
        if not os.path.exists(loader):
            self.skipTest(f"no {loader} here")
        host = os.path.join(self.folder, "host")
        made = subprocess.run(["gcc", *flags, "-x", "c", "-", "-o", host, "-ffreestanding", "-nostdlib", "-fPIE", "-pie",
                               f"-Wl,--dynamic-linker={loader}"], input=TINY, capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(f"gcc cannot make a host for {loader}: {made.stderr[:200]}")
        try:
            self.assertEqual(run([host], "", self.folder), (7, "done\n", ""))
        except OSError as error:
            self.skipTest(f"this kernel does not run it: {error}")
        self.assertNotEqual(run([host], LIBFATHOM, self.folder), (7, "done\n", ""), "this host minds no library")
        return host

    def test_a_child_of_32_bits_gets_no_warning(self):
        host = self.tiny_host("/lib/ld-linux.so.2", "-m32")
        child = ["sh", "-c", f"{host}; echo $?; grep -c libfathom /proc/self/maps >&2"]
        code, out, told = run(child, BY_KIND, self.folder)
        self.assertEqual((code, out), (0, "done\n7\n"))
        self.assertRegex(told, r"^[1-9]\d*\n$", "the loader said something, or the 64-bit parent has no tracer")

    def test_a_musl_host_is_left_alone(self):
        host = self.tiny_host(f"/lib/ld-musl-{os.uname().machine}.so.1")
        self.assertEqual(run([host], BY_KIND, self.folder), (7, "done\n", ""))

    def test_every_place_for_a_loader_holds_a_library_of_its_kind(self):
        folder = os.path.dirname(os.path.dirname(BY_KIND))
        found = {}
        for path in glob.glob(f"{folder}/**/libfathom.so", recursive=True):
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read(5)[4]
        wide = {"libfathom.so", "lib64/libfathom.so", f"lib/{os.uname().machine}-linux-gnu/libfathom.so"}
        narrow = {"lib/libfathom.so", "lib32/libfathom.so", "lib/i386-linux-gnu/libfathom.so"}
        self.assertEqual({path for path, bits in found.items() if bits == 2}, wide)
        self.assertIn({path for path, bits in found.items() if bits == 1}, [narrow, set()])
        self.assertTrue(all(os.path.samefile(os.path.join(folder, path), LIBFATHOM) for path in wide))

    def test_a_shell_that_takes_LIB_for_its_own(self):
        self.same(["sh", "-c", "echo done"], preload=BY_KIND.replace("$LIB", ""))

    def test_a_sanitized_host(self):
        source, host = (os.path.join(self.folder, name) for name in ("host.cc", "host"))
        with open(source, "w") as file:
            file.write("#include <dlfcn.h>\n#include <cstdio>\n"
                       "int main() { std::printf(\"%d\\n\", dlsym(RTLD_DEFAULT, \"malloc\") != nullptr); }\n")
        made = subprocess.run(["g++", "-fsanitize=address", "-static-libasan", source, "-o", host, "-ldl"],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("no g++ with a static AddressSanitizer here")
        self.same([host])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
