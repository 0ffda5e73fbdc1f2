#!/usr/bin/env python3
"""What `cmake --install` writes works where it lies, and docs/operations/uninstall.md takes all of it away.

    install_test.py BINARY_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARIES = pathlib.Path(sys.argv[1])
MANIFEST = BINARIES / "install_manifest.txt"  # of an installation that a person made, perhaps
PROGRAMS = ("fathom", "fathomd", "fathom-collector", "fathom-cordon")


def files_below(folder):
    return {path for path in folder.rglob("*") if not path.is_dir()}


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="fathom-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        kept = MANIFEST.read_bytes() if MANIFEST.exists() else None
        subprocess.run(["cmake", "--install", BINARIES, "--prefix", cls.prefix], check=True, capture_output=True)
        cls.manifest = MANIFEST.read_text()
        MANIFEST.unlink() if kept is None else MANIFEST.write_bytes(kept)

    def run_installed(self, *argv):
        # Nothing of the build may help.
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "LD_"))}
        return subprocess.run([self.prefix / "bin" / argv[0], *argv[1:]], env=clean, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60)

    def test_each_program_says_which_it_is(self):
        for program in PROGRAMS:
            done = self.run_installed(program, "--version")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("0.", done.stdout)

    def test_a_job_is_traced_by_the_installed_library(self):
        done = self.run_installed("fathom", "run", "--", sys.executable, "-c",
                                  "import os; print(os.environ['PYTHONPATH']); print(open('/proc/self/maps').read())")
        self.assertEqual(done.returncode, 0, done.stderr)
        mapped = {line.split()[-1] for line in done.stdout.splitlines() if line.endswith("libfathom.so")}
        self.assertEqual(len(mapped), 1, done.stderr)
        site = done.stdout.splitlines()[0].split(":")[0]
        for path in (mapped.pop(), site):
            self.assertTrue(pathlib.Path(path).resolve().is_relative_to(self.prefix.resolve()), path)
            self.assertTrue(os.path.exists(path), path)

    def test_taking_away_what_is_listed_leaves_nothing(self):
        self.assertTrue(files_below(self.prefix))
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "prefix"
            shutil.copytree(self.prefix, copy, symlinks=True)
            listed = self.manifest.replace(str(self.prefix), str(copy))
            subprocess.run(["xargs", "rm", "-f"], input=listed, text=True, check=True)
            self.assertEqual(files_below(copy), set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
