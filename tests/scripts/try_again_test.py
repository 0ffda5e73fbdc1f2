#!/usr/bin/env python3
"""deploy/scripts/try_again and count_tests: which failed tests get a second try, and how they are counted."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "deploy/scripts"
# The first run of `once` fails, each later one passes.
PROGRAMS = {"pass": "true", "fail": "false", "once": "mkdir ran-{name}-$(ls | grep -c ran-{name}) && test -d ran-{name}-1",
            "skip": "echo skipped: no torch; exit 77"}


class TryAgainTest(unittest.TestCase):
    def tried(self, **tests):
        """Runs `name="label program"`; returns whether there was a second try, what was told, and the exit code."""
        with tempfile.TemporaryDirectory() as build:
            lines = []
            for name, (label, program) in ((n, t.split()) for n, t in tests.items()):
                lines.append(f'add_test({name} sh -c "{PROGRAMS[program].format(name=name)}")\n'
                             f'set_tests_properties({name} PROPERTIES LABELS {label} SKIP_RETURN_CODE 77)\n')
            (pathlib.Path(build) / "CTestTestfile.cmake").write_text("".join(lines))
            quiet = {"stdout": subprocess.DEVNULL, "cwd": build}
            subprocess.run(["ctest", "--output-junit", "junit.xml"], **quiet, stderr=subprocess.DEVNULL)
            again = subprocess.run([SCRIPTS / "try_again", build], **quiet).returncode == 0
            self.assertEqual(again, os.path.exists(f"{build}/junit_again.xml"))
            files = [f"{build}/junit.xml"] + [f"{build}/junit_again.xml"] * again
            done = subprocess.run([SCRIPTS / "count_tests", *files], capture_output=True, text=True)
            return again, done.stdout.splitlines(), done.returncode

    def test_all_that_passes_is_run_once(self):
        self.assertEqual(self.tried(a="unit pass", b="torch pass"), (False, ["2 passed, 0 failed, 0 skipped"], 0))

    def test_a_job_that_passes_in_its_second_try_is_listed(self):
        told = ["passed in its second try: b", "2 passed, 0 failed, 0 skipped"]
        self.assertEqual(self.tried(a="unit pass", b="torch once"), (True, told, 0))

    def test_a_job_that_fails_twice_has_failed(self):
        told = ["passed in its second try: a", "failed: b", "1 passed, 1 failed, 0 skipped"]
        self.assertEqual(self.tried(a="integration once", b="torch fail"), (True, told, 1))

    def test_a_test_without_a_job_gets_no_second_try(self):
        for label in ("integration", "torch"):
            told = ["failed: a", "failed: b", "0 passed, 2 failed, 0 skipped"]
            self.assertEqual(self.tried(a="unit once", b=f"{label} once"), (False, told, 1))

    def test_many_that_fail_are_no_accident(self):
        again, told, code = self.tried(**{name: "torch once" for name in "abcd"})
        self.assertEqual((again, told[-1], code), (False, "0 passed, 4 failed, 0 skipped", 1))

    def test_what_is_skipped_says_why(self):
        told = ["skipped: b (no torch)", "1 passed, 0 failed, 1 skipped"]
        self.assertEqual(self.tried(a="unit pass", b="torch skip"), (False, told, 0))

    def test_a_run_of_none_has_failed(self):
        self.assertEqual(self.tried(a="torch skip")[2], 1)


if __name__ == "__main__":
    unittest.main()
