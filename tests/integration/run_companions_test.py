#!/usr/bin/env python3
"""`fathom run` and its agent and collector, when these fail, die, or have something to say.

Agent and collector are stand-ins told by their environment what to do (fakes/).
"""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

from harness import RunTest, children, environment, end, run, start, wait_for

GOLDEN = pathlib.Path(__file__).parents[1] / "cli/golden/verdicts.json"


class Failing(RunTest):
    def untraced(self, reason, stage=None, **env):
        """The command runs, untraced, and stderr says why in one line."""
        stage = stage or self.stage()
        done = run([stage.fathom, "run", "--", "sh", "-c", "echo ${LD_PRELOAD:-none}; exit 3"],
                   env=environment(**env))
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stdout, b"none\n")
        self.assertEqual(done.stderr.count(b"fathom: "), 1, done.stderr)
        self.assertIn(b"not tracing: ", done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertIn(b"; the command runs untraced", done.stderr)

    def test_a_part_is_missing(self):
        for part in ("libfathom.so", "fathomd", "fathom-collector"):
            self.untraced(part.encode(), stage=self.stage(without=(part,)))

    def test_a_companion_dies_at_once(self):
        self.untraced(b"in use; choose another --http", FAKE_COLLECTOR="die")
        self.untraced(b"fake agent: cannot go on", FAKE_AGENT="die")

    def test_a_companion_is_never_ready(self):
        self.untraced(b"fathom-collector was not ready in time", FAKE_COLLECTOR="silent")
        self.untraced(b"fathomd was not ready in time", FAKE_AGENT="silent")

    def test_a_companion_says_something_else(self):
        self.untraced(b"it said 'hello there'", FAKE_AGENT="garbage")

    def test_a_path_that_ld_preload_cannot_hold(self):
        stage = self.stage()
        spaced = stage.folder / "a b"
        spaced.mkdir()
        for item in list(stage.folder.iterdir()):
            if item != spaced:
                shutil.move(item, spaced / item.name)
        stage.folder = spaced
        self.addCleanup(setattr, stage, "folder", spaced.parent)
        self.untraced(b"no space or colon", stage=stage)


class Dying(RunTest):
    def killed(self, name, saying):
        process = start([self.stage().fathom, "run", "--", "sh", "-c", "echo up; read x < $FIFO; echo down; exit 4"],
                        env=environment(FIFO=self.fifo()), start_new_session=True)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"up\n")
        victims = wait_for(lambda: children(process.pid, name))
        os.kill(victims[0], signal.SIGKILL)
        told = process.stderr.readline()
        while saying not in told:
            told = process.stderr.readline()
            self.assertTrue(told, "stderr ended")
        with open(self.path, "w") as fifo:
            fifo.write("x\n")
        out, err = process.communicate(timeout=20)
        self.assertEqual((out, process.returncode), (b"down\n", 4))
        self.assertNotIn(saying, err)
        return err

    def fifo(self):
        folder = tempfile.mkdtemp(prefix="fathom-fifo-")
        self.addCleanup(shutil.rmtree, folder)
        self.path = folder + "/fifo"
        os.mkfifo(self.path)
        return self.path

    def test_kill_9_of_the_agent(self):
        self.killed("fathomd", b"fathomd ended (killed by signal 9 (Killed))")

    def test_kill_9_of_the_collector(self):
        err = self.killed("fathom-collector", b"fathom-collector ended (killed by signal 9 (Killed))")
        self.assertIn(b"no culprit found; no report came back", err)


class Telling(RunTest):
    def setUp(self):
        super().setUp()
        self.api = pathlib.Path(tempfile.mkdtemp(prefix="fathom-api-"))
        self.addCleanup(shutil.rmtree, self.api)
        self.verdict = json.loads(GOLDEN.read_text())["verdicts"][0]

    def serve(self, events, verdicts, ranks=4):
        report = {"schema": "fathom.v1.Report", "job": {"name": "sh", "ranks": ranks},
                  "iterations": {"count": "260", "median_s": 0.0412}, "verdicts": verdicts}
        (self.api / "events.json").write_text(json.dumps(events))
        (self.api / "report.json").write_text(json.dumps(report))
        return report

    def run_job(self, *options, script="sleep 0.5; exit 2"):
        return run([self.stage().fathom, "run", *options, "--", "sh", "-c", script],
                   env=environment(FAKE_API=str(self.api)))

    def test_verdicts_on_stderr_and_the_report_in_its_file(self):
        weaker = {**self.verdict, "grade": "hypothesis"}
        report = self.serve([["verdict", weaker], ["job", {}], ["verdict", self.verdict],
                             ["verdict", {**self.verdict, "cost": {"slowdown": 9}}]], [self.verdict])
        done = self.run_job("--report", str(self.api / "out.json"))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        text = done.stderr.decode()
        self.assertEqual(json.loads((self.api / "out.json").read_text()), report)
        self.assertRegex(text.splitlines()[0], r"^fathom: page http://127\.0\.0\.1:\d+/$")
        self.assertEqual(text.count("fathom: a lead: Rank 2 on node0 holds the job back"), 1)
        self.assertEqual(text.count("fathom: now established (was hypothesis)"), 1)
        self.assertEqual(text.count("fathom: verdict: Rank 2 on node0"), 1)
        self.assertIn("260 iterations, median 41.2 ms", text)
        self.assertNotIn("\x1b", text)

    def test_a_healthy_job(self):
        self.serve([], [])
        self.assertIn(b"fathom: no culprit found in 260 iterations, median 41.2 ms\n", self.run_job().stderr)

    def test_a_command_in_which_nothing_could_be_traced(self):
        self.serve([], [], ranks=0)
        self.assertIn(b"nothing was traced", self.run_job().stderr)

    def test_hold_keeps_the_page_until_a_signal(self):
        self.serve([], [])
        process = start([self.stage().fathom, "run", "--hold", "--", "sh", "-c", "exit 5"],
                        env=environment(FAKE_API=str(self.api)), start_new_session=True)
        self.addCleanup(end, process)
        while b"until Ctrl-C" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 5)

    def test_the_collector_is_told_where_to_serve(self):
        log = self.api / "log"
        self.serve([], [])
        run([self.stage().fathom, "run", "--job", "my job", "--trace", "gloo", "--", "true"],
            env=environment(FAKE_API=str(self.api), FAKE_LOG=str(log)))
        agent = (self.api / "log.agent").read_text().splitlines()
        self.assertIn("--parent-death-signal", agent[0])
        self.assertRegex(agent[0], r"--collector unix:/dev/shm/fathom-run-\S+/agents.sock ")
        self.assertFalse([line for line in agent if line.startswith("LD_PRELOAD=")])


if __name__ == "__main__":
    unittest.main()
