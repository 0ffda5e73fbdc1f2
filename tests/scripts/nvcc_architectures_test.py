#!/usr/bin/env python3
"""deploy/cmake/FathomNvcc.cmake with an nvcc that knows other architectures than are asked for.

    nvcc_architectures_test.py SOURCE_DIR
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
# Answers as nvcc does: what it knows, and where its files are.
NVCC = """#!/bin/sh
case "$1" in
--list-gpu-code) printf 'sm_120\\nsm_121\\n' ;;
*) echo "#\\$ TOP={0}" >&2 ;;
esac
"""
SCRIPT = """include({0}/deploy/cmake/FathomNvcc.cmake)
message(STATUS "nvcc: ${{FATHOM_NVCC}}, flags: ${{fathom_nvcc_flags}}")
"""


class NvccArchitecturesTest(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        for name, text in {"bin/nvcc": NVCC.format(self.folder), "include/cuda_runtime.h": "",
                           "lib64/libcudart_static.a": ""}.items():
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(text)
        (self.folder / "bin/nvcc").chmod(0o755)

    def configure(self, architectures):
        script = self.folder / "try.cmake"
        script.write_text(SCRIPT.format(ROOT))
        done = subprocess.run(["cmake", f"-DFATHOM_NVCC={self.folder}/bin/nvcc", f"-DFATHOM_CUDA_ARCHITECTURES={architectures}",
                               "-P", script], capture_output=True, text=True)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_one_that_it_knows_is_enough(self):
        code, said = self.configure("90;120")
        self.assertEqual(code, 0, said)
        self.assertIn("-gencode;arch=compute_120,code=sm_120;-gencode;arch=compute_120,code=compute_120", said)
        self.assertNotIn("compute_90", said)

    def test_none_that_it_knows_is_told_with_what_to_do(self):
        code, said = self.configure("70;75")
        self.assertEqual(code, 0, said)
        self.assertIn("nvcc: FALSE, flags:", said)
        self.assertIn("knows none of the architectures that are asked for (70 75), but sm_120 sm_121", said)
        self.assertIn("-DFATHOM_CUDA_ARCHITECTURES", said)
        self.assertNotIn("compute_,", said)


unittest.main()
