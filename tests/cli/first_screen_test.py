#!/usr/bin/env python3
"""The first screen of `fathom analyze` on every recording: one screen, in plain words.

    FATHOM_BINARY_DIR=build/release FATHOM_DATA_DIR=../shared/data tests/cli/first_screen_test.py
"""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

FATHOM = pathlib.Path(os.environ["FATHOM_BINARY_DIR"]) / "fathom"
DATA = pathlib.Path(os.environ["FATHOM_DATA_DIR"])
LINES = 40
COLUMNS = 100
# Signals by their internal names, rules as sources, plurals of one.
JARGON = re.compile(r"process_health|gpu_times|which hides|^class |\[[a-z_]+\]$|\b1 (ranks|iterations|files|steps|replicas)\b", re.M)


def recordings():
    folders = [path for kind in ("torch_gloo", "flight_recorder") for path in (DATA / kind).iterdir() if path.is_dir()]
    return sorted(folders) + sorted((DATA / "ndtimeline").glob("*.parquet"))


@functools.lru_cache(maxsize=None)
def analyze(*arguments):
    done = subprocess.run([FATHOM, "analyze", "--exit-zero", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


class FirstScreen(unittest.TestCase):
    def test_every_recording_fits_one_screen(self):
        for path in recordings():
            with self.subTest(path.name):
                lines = analyze(path).splitlines()
                self.assertLessEqual(len(lines), LINES, "\n".join(lines))
                self.assertLessEqual(max(map(len, lines)), COLUMNS)

    def test_it_speaks_plainly(self):
        for path in recordings():
            with self.subTest(path.name):
                found = JARGON.search(analyze(path))
                self.assertIsNone(found, found and found.group())

    def test_the_verdict_comes_first_with_what_to_do(self):
        for path in recordings():
            report = json.loads(analyze(path, "-o", "json"))
            screen = " ".join(analyze(path).split())
            with self.subTest(path.name):
                for verdict in report["verdicts"][:1]:
                    sentence = " ".join(verdict["sentence"].split())
                    self.assertIn(sentence, screen)
                    self.assertLess(screen.index(sentence), 200)
                    self.assertIn(" ".join(verdict["action"]["text"].split()), screen)
                    self.assertIn(verdict["action"]["command"], screen)
                if not report["verdicts"]:
                    self.assertRegex(screen, "Nothing wrong|could not be told|cannot be told")

    def test_verbose_leaves_nothing_out(self):
        for name in ("slow_compute", "hang_python", "healthy"):
            report = json.loads(analyze(DATA / "torch_gloo" / name, "-o", "json"))
            page = " ".join(analyze(DATA / "torch_gloo" / name, "--verbose").split())
            for verdict in report["verdicts"]:
                for evidence in verdict["evidence"] + verdict["counter_evidence"]:
                    self.assertIn(" ".join(evidence["statement"].rstrip(".").split()), page)
                for change in verdict["would_change"]:
                    self.assertIn(" ".join(change.split()), page)
            self.assertIn("truth.json", page)

    def test_what_straggles_is_told_in_seconds(self):
        path = DATA / "ndtimeline" / "trace-ST.parquet"
        report = json.loads(analyze(path, "-o", "json"))
        screen = " ".join(analyze(path).split())
        stage = max(report["what_if"]["only"]["stage"], key=lambda one: one["saved_s"])
        self.assertEqual(stage["index"], 3)
        lost = report["what_if"]["replayed_s"] - report["what_if"]["ideal_s"]
        self.assertAlmostEqual(stage["saved_s"] / lost, report["what_if"]["last_stage_share"], places=9)
        self.assertIn(f"stage 3 {stage['saved_s'] * 1e3:.0f} ms", screen)
        self.assertIn("122 %", screen)
        self.assertIn("above 100 %", screen)


if __name__ == "__main__":
    if not (DATA / "torch_gloo").is_dir():
        print(f"skipped: no recordings in {DATA} (FATHOM_DATA_DIR)")
        sys.exit(77)
    unittest.main()
