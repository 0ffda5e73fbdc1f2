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
DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
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

    def prolog(self, library):
        """What Slurm's prolog puts into a task's environment where the site names this library and no more."""
        with tempfile.TemporaryDirectory() as folder:
            settings = pathlib.Path(folder, "slurm.env")
            settings.write_text(f"FATHOM_TASKS=all\nFATHOM_LIBRARY='{library}'\nFATHOM_SHM_DIR={folder}\n")
            ran = subprocess.run([DEPLOY / "slurm/task_prolog"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                 env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": "7", "FATHOM_SLURM_SETTINGS": str(settings)})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return dict(line.removeprefix("export ").split("=", 1) for line in ran.stdout.splitlines())

    def test_the_task_prolog_takes_the_library_that_it_was_told(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder, "prefix")
            shutil.copytree(self.prefix, prefix, symlinks=True)
            library, = (path for path in prefix.rglob("libfathom.so") if "libfathom" not in path.parent.parts)
            places, site = library.parent / "libfathom", str(prefix / "share/fathom/site")
            set_by = self.prolog(library)
            self.assertEqual((set_by["LD_PRELOAD"], set_by["PYTHONPATH"]), (f"{places}/$LIB/libfathom.so", site))
            mended = library.with_name("libfathom-mended.so")
            shutil.copy(library, mended)
            self.assertEqual(self.prolog(mended)["LD_PRELOAD"], str(mended), "the places hold another one")
            for there in ("lib64", "lib/x86_64-linux-gnu"):
                other = prefix / there / "libfathom.so"
                other.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.prefix / library.relative_to(prefix), other)
                set_by = self.prolog(other)
                self.assertEqual((set_by["LD_PRELOAD"], set_by["PYTHONPATH"]), (str(other), site), "no places there")

    def test_taking_away_what_is_listed_leaves_nothing_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "a prefix"
            shutil.copytree(self.prefix, copy, symlinks=True)
            site = copy / "share/fathom/site"
            (site / "__pycache__").mkdir(exist_ok=True)
            for made in (site / "__pycache__/compiled.pyc", copy / "bin/of_another"):
                made.touch()
            manifest = pathlib.Path(folder) / "install_manifest.txt"
            manifest.write_text(self.manifest.replace(str(self.prefix), str(copy)))
            subprocess.run([DEPLOY / "uninstall", manifest], check=True)
            self.assertEqual(files_below(copy), {copy / "bin/of_another"})
            self.assertEqual(list(copy.rglob("*fathom*")), [])
            self.assertTrue((copy / "share/man").is_dir(), "of the system, not ours")

    def test_what_another_put_into_our_folders_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "prefix"
            shutil.copytree(self.prefix, copy, symlinks=True)
            kept = copy / "share/fathom/site/of_another"
            kept.touch()
            manifest = pathlib.Path(folder) / "install_manifest.txt"
            manifest.write_text(self.manifest.replace(str(self.prefix), str(copy)))
            subprocess.run([DEPLOY / "uninstall", manifest], check=True)
            self.assertEqual(files_below(copy), {kept})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
