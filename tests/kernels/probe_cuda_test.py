#!/usr/bin/env python3
"""fathom-probe-cuda without a GPU: its machine code by architecture, and what it says where there is none.

    FATHOM_BINARY_DIR=build/release tests/kernels/probe_cuda_test.py
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release"))
PROGRAM = BUILD / "fathom-probe-cuda"
EM_CUDA = 190
KERNELS = ("TensorMultiply", "Fp32Multiply", "Load", "SumHashes", "Flip", "Follow", "Compare", "Fill", "Read",
           "Write", "Copy", "Nothing", "FillWords")


def cubins(data):
    """(architecture, {section: size}) of each ELF file of a GPU that is in the program."""
    for match in re.finditer(b"\x7fELF\x02\x01", data):
        at = match.start()
        if struct.unpack_from("<H", data, at + 18)[0] != EM_CUDA:
            continue
        flags = struct.unpack_from("<I", data, at + 48)[0]
        architecture = (flags >> 8 if data[at + 8] >= 8 else flags) & 0xFF
        table, = struct.unpack_from("<Q", data, at + 40)
        size, count, names = struct.unpack_from("<HHH", data, at + 58)
        headers = [struct.unpack_from("<IIQQQQ", data, at + table + i * size) for i in range(count)]
        texts = at + headers[names][4]
        sections = {}
        for name, _, _, _, _, length in headers:
            end = data.index(b"\0", texts + name)
            sections[data[texts + name:end].decode()] = length
        yield architecture, sections


class MachineCode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.code = {}
        for architecture, sections in cubins(PROGRAM.read_bytes()):
            of = cls.code.setdefault(architecture, {})
            of.update({name: size for name, size in sections.items() if name.startswith(".text.")})

    def sizes(self, architecture, kernel):
        mangled = re.compile(rf"{len(kernel)}{kernel}[EI]")
        return [size for name, size in self.code[architecture].items() if mangled.search(name)]

    def test_every_architecture_has_every_kernel(self):
        self.assertLessEqual({80, 90}, set(self.code))
        for architecture in self.code:
            for kernel in KERNELS:
                sizes = self.sizes(architecture, kernel)
                self.assertTrue(sizes, f"sm_{architecture} has no {kernel}")
                self.assertTrue(all(size > 0 for size in sizes), f"sm_{architecture} {kernel}: {sizes}")

    def test_tensor_kernels_are_whole_where_there_are_such_cores(self):
        for architecture in self.code:
            sizes = sorted(self.sizes(architecture, "TensorMultiply"))
            self.assertEqual(len(sizes), 3)
            if architecture < 80:
                self.assertLess(sizes[2], 4096, f"sm_{architecture}: {sizes}")
            else:
                self.assertGreater(sizes[0], 4096, f"sm_{architecture}: {sizes}")
            # FP8 has no multiplication before sm_89, so the kernel, which is never run there, is shorter.
            if architecture == 80:
                self.assertLess(sizes[0], 0.8 * sizes[1])

    def test_what_is_newer_is_translated_by_the_driver(self):
        self.assertIn(b".target sm_", PROGRAM.read_bytes())


class Program(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "there is a GPU")
    def test_without_a_gpu_it_says_so(self):
        run = self.run_it()
        self.assertEqual(run.returncode, 77, run.stderr)
        self.assertTrue(json.loads(run.stdout)["no_gpu"]["why"])
        self.assertEqual(self.run_it("--exit-zero").returncode, 0)

    def test_the_list_names_each_probe_once(self):
        names = [line.split()[0] for line in self.run_it("--list").stdout.splitlines()]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({"gpu_clock", "gpu_gemm_bf16", "gpu_host", "gpu_peers", "gpu_memory_pattern"}, set(names))

    def test_what_it_does_not_know_is_refused(self):
        for arguments in (["--probes", "gpu_nothing"], ["--seconds", "soon"], ["--colour"]):
            run = self.run_it(*arguments)
            self.assertEqual(run.returncode, 1)
            self.assertIn("fathom-probe-cuda", run.stderr)

    def test_it_needs_no_library_of_cuda(self):
        needed = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
        self.assertNotIn("cuda", needed.replace(str(PROGRAM), ""))


if __name__ == "__main__":
    unittest.main()
