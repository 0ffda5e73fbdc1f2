#!/usr/bin/env python3
"""`fathom analyze --tables` and `--against` on recordings of real jobs.

    FATHOM_BINARY_DIR=build/release FATHOM_DATA_DIR=../shared/data tests/cli/tables_test.py
"""
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

FATHOM = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release")) / "fathom"
ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("FATHOM_DATA_DIR", ROOT / "../shared/data")) / "torch_gloo"
COLLECTIVES = ["group", "sequence", "kind", "bytes", "iteration", "last_rank", "late_s", "wait_s", "members",
               "transfer_s", "skew_s", "bandwidth_bytes_per_s", "bus_bandwidth_bytes_per_s", "bytes_imbalance"]
FILES = {"ranks", "idle", "overlap", "kernels", "launches", "copies", "critical_path", "iterations",
         "collectives", "bandwidth", "functions"}


def analyze(*arguments):
    done = subprocess.run([FATHOM, "analyze", "--exit-zero", "-o", "json", *arguments],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows(folder, name):
    with open(folder / f"{name}.csv", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@unittest.skipUnless(DATA.is_dir(), f"no recordings in {DATA}")
class TablesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_every_table_is_written(self):
        report = analyze(DATA / "slow_compute", "--tables", self.folder / "deep" / "tables")
        folder = self.folder / "deep" / "tables"
        self.assertEqual({path.stem for path in folder.iterdir()}, FILES)
        with open(folder / "collectives.csv", encoding="utf-8") as lines:
            self.assertEqual(lines.readline().strip().split(","), COLLECTIVES)
        ranks = rows(folder, "ranks")
        self.assertEqual(len(ranks), 4)
        for row, rank in zip(ranks, report["ranks"]):
            for name in ("compute_s", "non_compute_s", "idle_s", "wait_s", "late_s"):
                self.assertAlmostEqual(float(row[name]), rank[name], places=6)
        self.assertEqual(len(rows(folder, "iterations")), int(report["iterations"]["count"]))

    def test_the_slow_rank_comes_last(self):
        analyze(DATA / "slow_compute", "--tables", self.folder)
        late = [row for row in rows(self.folder, "collectives") if float(row["late_s"]) > 0.03]
        self.assertGreater(len(late), 3)
        self.assertEqual({row["last_rank"] for row in late}, {"2"})

    def test_the_bus_bandwidth_is_of_the_last_to_arrive(self):
        analyze(DATA / "slow_compute", "--tables", self.folder)
        seen = 0
        for row in rows(self.folder, "collectives"):
            self.assertEqual(row["members"], "4")
            self.assertGreaterEqual(float(row["skew_s"]), float(row["late_s"]) - 1e-9)
            self.assertEqual(float(row["bytes_imbalance"]), 1)
            if row["kind"] != "all_reduce" or float(row["transfer_s"]) <= 0:
                continue
            seen += 1
            bus = 1.5 * int(row["bytes"]) / float(row["transfer_s"])
            self.assertAlmostEqual(float(row["bus_bandwidth_bytes_per_s"]) / bus, 1, places=3)
        self.assertGreater(seen, 10)
        for row in rows(self.folder, "bandwidth"):
            self.assertLessEqual(float(row["slow_bus_bandwidth_bytes_per_s"]), float(row["bus_bandwidth_bytes_per_s"]))

    def test_compute_non_compute_and_idle_split_the_span(self):
        analyze(DATA / "healthy", "--tables", self.folder)
        spans = {row["rank"]: float(row["span_s"]) for row in rows(self.folder, "overlap")}
        for row in rows(self.folder, "ranks"):
            parts = sum(float(row[name]) for name in ("compute_s", "non_compute_s", "idle_s"))
            self.assertAlmostEqual(parts, spans[row["rank"]], places=6)

    def test_a_slower_recording_is_a_regression_of_the_job(self):
        report = analyze(DATA / "slow_python", "--against", DATA / "healthy_variable")
        self.assertNotIn("regression", [v["cause"] for v in report["verdicts"]
                                        if v["entity"]["type"] != "job"])
        again = analyze(DATA / "healthy", "--against", DATA / "healthy")
        self.assertEqual(again["verdicts"], [])

    def test_what_did_not_change_is_told_too(self):
        for name in ("healthy", "healthy_variable", "slow_compute"):
            comparison = analyze(DATA / name, "--against", DATA / name)["comparison"]
            self.assertEqual(comparison["result"], "same", name)
            self.assertEqual(comparison["before_s"], comparison["after_s"])
            self.assertEqual(len(comparison["kinds"]), 4)
            for change in comparison["kinds"] + comparison["parts"]:
                self.assertEqual(change["before_s"], change["after_s"])

    def test_the_screen_tells_the_figures_of_both(self):
        done = subprocess.run([FATHOM, "analyze", "--exit-zero", DATA / "healthy", "--against",
                               DATA / "slow_compute"], capture_output=True, text=True, timeout=60)
        self.assertIn("Against the other recording", done.stdout)
        for word in ("BEFORE", "AFTER", "CHANGE", "compute", "communication", "idle"):
            self.assertIn(word, done.stdout)
        report = analyze(DATA / "healthy", "--against", DATA / "slow_compute")
        median = f"{report['comparison']['after_s'] * 1e3:.1f} ms"
        self.assertIn(f"median {median}", done.stdout.splitlines()[0])

    def test_a_folder_that_cannot_be_made_is_an_error(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        done = subprocess.run([FATHOM, "analyze", DATA / "healthy", "--tables", blocked / "under"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(blocked), done.stderr)


if __name__ == "__main__":
    unittest.main()
