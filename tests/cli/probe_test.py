#!/usr/bin/env python3
"""`fathom probe` on this node: the real program, and stand-ins that are slow, faulty, hang or babble.

    FATHOM_BINARY_DIR=build/release tests/cli/probe_test.py
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", "build/release"))
MACHINE = {"machine": {"cpu_model": "A Chip", "instructions": "avx2", "cores": 4, "cores_allowed": 4,
                       "numa_nodes": 1, "memory_bytes": "34359738368"}}


def result(value, outcome="done", reason="", probe="gemm_fp32"):
    return {"result": {"probe": probe, "outcome": outcome, "reason": reason, "digest": "avx2:00", "seconds": 1,
                       "figures": [{"name": "gemm_fp32", "value": value, "unit": "flop/s"}]}}


class ProbeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.history = self.folder / "state/probes.jsonl"
        (self.folder / "shm").mkdir()

    def stand_in(self, script):
        path = self.folder / "stand_in"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)
        return path

    def printing(self, *lines, code=0):
        text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
        (self.folder / "lines").write_text(text + "\n")
        return self.stand_in(f"cat {self.folder}/lines; exit {code}")

    def command(self, *arguments):
        return [BUILD / "fathom", "probe", "--history", self.history, "--off-file", self.folder / "off", *arguments]

    def environment(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("FATHOM_")}
        return {**clean, "FATHOM_SHM_DIR": str(self.folder / "shm")}

    def probe(self, *arguments):
        return subprocess.run(self.command("--beside-training", *arguments), capture_output=True, text=True,
                              timeout=120, env=self.environment())


class Judged(ProbeCase):
    def run_with(self, value, **more):
        return self.probe("--program", self.printing(MACHINE, result(value, **more)), "-o", "json")

    def test_the_first_runs_are_unknown_and_a_slow_one_is_found(self):
        for _ in range(3):
            run = self.run_with(1e11)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(json.loads(run.stdout)["judgement"]["state"], "unknown")
        run = self.run_with(1.001e11)
        self.assertEqual(json.loads(run.stdout)["judgement"]["state"], "clean")
        run = self.run_with(0.9e11)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        judgement = json.loads(run.stdout)["judgement"]
        self.assertEqual((judgement["state"], judgement["slow"][0]["against"]), ("slow", "past"))
        self.assertAlmostEqual(judgement["slow"][0]["loss"], 0.1, 2)

    def test_what_was_slow_is_no_reference(self):
        for value in (1e11, 1e11, 1e11, 0.5e11, 0.5e11, 0.5e11, 0.5e11, 0.5e11):
            run = self.run_with(value)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(len(self.history.read_text().splitlines()), 8)

    def test_a_fault_needs_no_history(self):
        program = self.printing(MACHINE, result(1e11, "faulty", "cpu3: 1 of 9 results have other bits"), code=2)
        run = self.probe("--program", program)
        self.assertEqual(run.returncode, 2)
        self.assertIn(": faulty; gemm_fp32: cpu3: 1 of 9 results have other bits", run.stdout)
        self.assertEqual(self.probe("--program", program, "--exit-zero").returncode, 0)

    def test_another_machine_is_not_compared(self):
        for _ in range(4):
            self.run_with(1e11)
        other = {"machine": {**MACHINE["machine"], "cpu_model": "Another Chip"}}
        run = self.probe("--program", self.printing(other, result(1e10)), "-o", "json")
        self.assertEqual(json.loads(run.stdout)["judgement"]["state"], "unknown")

    def test_a_line_of_the_history_that_cannot_be_read_is_told_and_left_out(self):
        self.run_with(1e11)
        self.history.write_text("{nonsense\n" + self.history.read_text())
        run = self.run_with(1e11)
        self.assertEqual(run.returncode, 0)
        self.assertIn("1 lines of", run.stderr)

    def test_a_history_that_cannot_be_kept_changes_nothing_else(self):
        self.history = pathlib.Path("/proc/nowhere/probes.jsonl")
        run = self.run_with(1e11)
        self.assertEqual(run.returncode, 0)
        self.assertIn("cannot be written", run.stderr)


class Refused(ProbeCase):
    def fails(self, program, saying):
        run = self.probe("--program", program)
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertIn(saying, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1)

    def test_a_program_that_is_not_there_or_babbles(self):
        self.fails("/nowhere/fathom-probe", "/nowhere/fathom-probe: No such file")
        self.fails(self.printing("hello"), "line 1: ")
        self.fails(self.stand_in("echo it broke >&2; exit 1"), "it broke")
        self.fails(self.stand_in("exit 3"), "exit code 3")

    def test_it_is_never_run_beside_a_traced_process(self):
        process = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        (self.folder / f"shm/{process.pid}-1.ring").write_text("")
        run = subprocess.run(self.command("--program", self.printing(MACHINE, result(1))), capture_output=True,
                             text=True, env=self.environment())
        self.assertEqual(run.returncode, 1)
        self.assertIn("--beside-training", run.stderr)
        # Others of this machine may be traced too: then the first of them is named.
        self.assertRegex(run.stderr, rf"\b{process.pid}\b|[0-9]+ traced processes run here")
        self.assertEqual(self.probe("--program", self.printing(MACHINE, result(1))).returncode, 0)

    def test_a_file_switches_it_off(self):
        (self.folder / "off").write_text("")
        run = self.probe("--program", "/nowhere")
        self.assertEqual((run.returncode, run.stdout), (0, ""))
        self.assertIn("switched off by", run.stderr)

    def test_it_is_stopped_by_a_signal_with_all_that_it_started(self):
        pid_file = self.folder / "pid"
        program = self.stand_in(f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 1000")
        process = subprocess.Popen(self.command("--beside-training", "--program", program), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment())
        deadline = time.monotonic() + 60
        while not pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertFalse(os.path.exists(f"/proc/{pid_file.read_text().strip()}"))


class Real(ProbeCase):
    def test_it_measures_this_machine(self):
        run = self.probe("--probes", "exact,gemm_fp64,memory_pattern", "--seconds", "0.5", "--memory-mib", "16")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        for words in ("unknown; too few", "gemm_fp64", "done"):
            self.assertIn(words, run.stdout)
        kept = json.loads(self.history.read_text())
        self.assertEqual([r["probe"] for r in kept["results"]], ["exact", "gemm_fp64", "memory_pattern"])

    def test_a_name_that_is_no_probe_is_told(self):
        run = self.probe("--probes", "gem")
        self.assertEqual(run.returncode, 1)
        self.assertIn("there is no probe 'gem'", run.stderr)


if __name__ == "__main__":
    unittest.main()
