#!/usr/bin/env python3
"""Three collectors that keep every op (`--stream ops`), with a real nats-server, a real PostgreSQL and a real agent: the
owner of a job is killed in the middle, another one stays away, a disk is lost; any collector answers for all, each
collective is read once, told by all ranks, and what is missing is named. docs/operations/cluster.md."""
import json
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import harness
from collector_cluster import CollectorCluster, missing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from cluster_round import told_once  # noqa: E402
from parts import JOB, Processes, played_train  # noqa: E402

NAMES = ("c1", "c2", "c3")
STEP = 40  # iterations between two events


class ClusterOpsTest(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(CollectorCluster(harness.BUILD, 2))
        (self.cluster.folder / "job").mkdir()
        self.job = Processes(self.cluster.folder / "job")
        self.addCleanup(self.job.kill_all)
        self.ports = dict(zip(NAMES, zip(*[iter(harness.free_ports(2 * len(NAMES)))] * 2)))

    def add(self, name):
        grpc, http = self.ports[name]
        self.cluster.add(name, grpc=f"127.0.0.1:{grpc}", http=f"127.0.0.1:{http}", stream="ops",
                         **{"ops-store": self.cluster.folder / f"ops-{name}"})

    def start_job(self):
        doors = ",".join(f"127.0.0.1:{self.ports[name][0]}" for name in NAMES)
        # Within its budget the agent would leave out ops of a job whose iterations are as short.
        self.job.start("agent", harness.BUILD / "fathomd", "--collector", doors, "--node", "one", "--shm-dir",
                       self.job.folder / "shm", "--spool", self.job.folder / "spool", "--http", "", "--stack-tool", "",
                       "--budget-cpu", "0")
        self.job.start_job(played_train(10**6, self.job.stop))

    def newest(self):
        owner = self.cluster.owner()
        told = owner and self.cluster.get(owner, f"jobs/{JOB}/iterations?limit=1")
        return max(told["iterations"], default=-1) if told else -1

    def go_on(self):
        """Until the job is STEP iterations further, and their ops are on somebody's disk."""
        until = self.newest() + STEP
        self.cluster.wait_for(f"iteration {until}", lambda: self.newest() >= until, 180)
        before = self.kept()
        self.cluster.wait_for("ops", lambda: sum(self.kept().values()) > sum(before.values()), 60)

    def kept(self):
        return {name: self.cluster.metric(name, "fathom_ops_kept_total") for name in self.cluster.living()}

    def analyze(self, name, *options):
        return subprocess.run([harness.BUILD / "fathom", "analyze", f"job://{JOB}", "--collector-http",
                               self.cluster.where[name]["http"], "--exit-zero", *options], capture_output=True, text=True)

    def read(self, name):
        """What is missing, in words, and how many collectives there are, each checked."""
        tables = self.cluster.folder / f"tables-{time.monotonic_ns()}"
        done = self.analyze(name, "-o", "json", "--tables", tables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["job"]["ranks"], 4)
        return done.stderr, tables

    def lacks(self, name):
        return self.cluster.get(name, f"ops/{JOB}")["lacks"]

    def test_any_collector_answers_for_all_and_says_what_is_missing(self):
        for name in NAMES:
            self.add(name)
        self.start_job()
        self.cluster.wait_for("an owner", self.cluster.owner)
        self.go_on()
        doors = []
        for _ in range(2):  # whoever is killed is the door, and once the owner too
            door = max(self.kept(), key=self.kept().get)
            victim = self.cluster.owner() if not doors else door
            time.sleep(11)  # by then it has told the history what it keeps
            self.cluster.kill(victim)
            doors.append(victim)
            self.cluster.wait_for("another owner", self.cluster.owner)
            self.go_on()
            self.add(victim)
        newest = self.newest()
        self.go_on()
        for name in NAMES:
            said, tables = self.read(name)
            self.assertNotIn("is missing here", said)
            self.assertGreater(told_once(tables, newest), 0)

        asked = next(name for name in NAMES if name != doors[-1])
        self.cluster.kill(doors[-1])
        [lack] = [each for each in self.lacks(asked) if each["collector"] == doors[-1]][:1]
        self.assertEqual(lack["ranks"], "0-3")
        self.assertEqual(lack["why"], "it does not answer")
        self.assertIn(f"what collector {doors[-1]} keeps is missing here, it does not answer: ranks 0-3", self.analyze(asked).stdout
                      + self.analyze(asked, "-o", "json").stderr)
        shutil.rmtree(self.cluster.folder / f"ops-{doors[-1]}")
        self.add(doors[-1])
        self.assertEqual({each["why"] for each in self.lacks(asked)}, {"it is not there any more"})
        self.job.stop.touch()
        self.cluster.wait_for("the end of the job", lambda: self.job.running["job"].poll() is not None)
        self.assertEqual(self.job.running["job"].returncode, 0)

    def test_a_store_of_ops_wants_a_folder(self):
        with self.assertRaises(RuntimeError) as refused:
            self.cluster.add("c1", stream="ops")
        self.assertIn("ops_store", str(refused.exception))
        self.cluster.add("c2", stream="summaries")
        self.assertEqual(self.cluster.get("c2", "ops/train")["parts"][0]["keeps"], False)


if __name__ == "__main__":
    if missing():
        print(f"skipped: no {', '.join(missing())}; deploy/setup cluster installs it")
        sys.exit(harness.SKIPPED)
    unittest.main(verbosity=2)
