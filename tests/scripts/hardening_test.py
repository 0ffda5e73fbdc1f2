#!/usr/bin/env python3
"""What the programs are hardened by, read from their files; docs/security.md.

    hardening_test.py PROGRAM... [--tracer LIBRARY]

Of each program: position-independent, relocations read-only once it runs, no segment that may be written and run, no
stack that may be run, stack protector, checked containers, marks of CET (where branches may lead). Of the tracer, which
runs in processes of others and links nothing: the segments and the relocations.
"""
import pathlib
import platform
import re
import subprocess
import sys
import unittest


ENDBR64 = b"\xf3\x0f\x1e\xfa"
FEW = 200  # of start files, and of libraries that are linked in


def readelf(option, path):
    return subprocess.run(["readelf", option, path], check=True, capture_output=True, text=True).stdout


class HardeningTest(unittest.TestCase):
    PROGRAMS, TRACERS = [], []

    def demand(self, holds, path, what):
        self.assertTrue(holds, f"{path}: {what}")

    def test_no_segment_may_be_written_and_run(self):
        for path in self.PROGRAMS + self.TRACERS:
            segments = re.findall(r"^  (\w+) +(?:0x\w+ ){5}(...) ", readelf("-lW", path), re.M)
            self.demand("LOAD" in dict(segments), path, "no segments were read")
            self.assertEqual([s for s in segments if "W" in s[1] and "E" in s[1]], [], path)
            self.demand("GNU_STACK" in dict(segments), path, "nothing says that its stack may not be run")

    def test_relocations_are_read_only_once_it_runs(self):
        for path in self.PROGRAMS + self.TRACERS:
            self.demand("GNU_RELRO" in readelf("-lW", path), path, "no read-only relocations")
            self.assertRegex(readelf("-dW", path), r"FLAGS_1\).*\bNOW\b", path)

    def test_programs_lie_anywhere(self):
        for path in self.PROGRAMS:
            self.assertIn("DYN (Position-Independent Executable", readelf("-hW", path), path)

    def test_stacks_and_containers_are_checked(self):
        for path in self.PROGRAMS:
            symbols = readelf("-sW", path)
            for symbol in ("__stack_chk_fail", "__glibcxx_assert_fail"):
                self.demand(symbol in symbols, path, f"{symbol} is never called")

    @unittest.skipUnless(platform.machine() == "x86_64", "another processor has other marks")
    def test_functions_are_marked_as_places_to_go_to(self):
        for path in self.PROGRAMS:
            marks = pathlib.Path(path).read_bytes().count(ENDBR64)
            self.demand(marks > FEW, path, f"{marks} of its functions are marked")


if __name__ == "__main__":
    words = sys.argv[1:]
    cut = words.index("--tracer") if "--tracer" in words else len(words)
    HardeningTest.PROGRAMS, HardeningTest.TRACERS = words[:cut], words[cut + 1:]
    unittest.main(argv=sys.argv[:1])
