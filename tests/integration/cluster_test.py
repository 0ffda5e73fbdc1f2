#!/usr/bin/env python3
"""Three collectors with a real nats-server and a real PostgreSQL: the owner of a job is killed in the middle of a
fault, the next is stopped, and the verdict goes on under its id; any collector answers for all jobs. The job is
played by the simulator's agents. docs/operations/cluster.md."""
import json
import re
import subprocess
import sys
import unittest
import urllib.request

import harness
from collector_cluster import CollectorCluster, missing

JOB = "played"
NAMES = ("c1", "c2", "c3")


class ClusterTest(unittest.TestCase):
    def setUp(self):
        self.cluster = self.enterContext(CollectorCluster(harness.BUILD, 2))
        self.player = None
        self.addCleanup(self.end_player)

    def end_player(self):
        if self.player is not None:
            self.player.kill()
            self.player.wait()

    def start_all(self):
        for name in NAMES:
            self.cluster.add(name)
        self.cluster.wait_for("members", lambda: all(
            self.cluster.metric(name, "fathom_cluster_members") == len(NAMES) for name in NAMES))

    def play(self, door, pace_s=0.3):
        """Agents of a job with a slow GPU, all at one door; it does not end before the test."""
        where = self.cluster.where[door]
        scenario = self.cluster.folder / "slow.yaml"
        scenario.write_text("about: One GPU of 32 computes 1.3 times as long.\nplan: {tensor: 4, data: 8}\n"
                            "model: {layers: 4, micro_batches: 2}\niterations: 200\nfaults:\n"
                            "  - {kind: slow_gpu, rank: 13, factor: 1.3}\n")
        with open(self.cluster.folder / "player.log", "wb") as log:
            self.player = subprocess.Popen(
                [harness.BUILD / "fathom", "simulate", scenario, "--collector", where["grpc"], "--collector-http",
                 where["http"], "--job", JOB, "--pace", str(pace_s)], stdout=log, stderr=log, env=harness.environment())

    def verdict(self, name):
        return next((v for v in self.cluster.verdicts(name, JOB) if not v.get("until")), None)

    def goes_on(self, name, number, before):
        """Waits until the verdict's cost has grown; what is told of it then."""
        def grown():
            now = self.cluster.get(name, f"verdicts/{number}")
            return now and now["cost"] != before["cost"] and now
        return self.cluster.wait_for(f"{number} that goes on", grown)

    def any_collector_has_the_plan_and_takes_the_record(self, node):
        record = {"id": "r1", "job": JOB, "state": "under way", "begun_unix_ns": 1}
        tell = urllib.request.Request(f"http://{self.cluster.where['c2']['http']}/api/v1/jobs/{JOB}/recovery",
                                      json.dumps(record).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(tell, timeout=10) as answer:
            self.assertEqual(json.load(answer), {"kept": "r1"})
        for name in NAMES:
            told = self.cluster.get(name, f"jobs/{JOB}/recovery")
            self.assertEqual((told["plan"]["isolate"], [each["id"] for each in told["recoveries"]]), (node, ["r1"]))

    def test_the_verdict_goes_on_when_its_owner_dies(self):
        self.start_all()
        self.play("c3")
        owner = self.cluster.wait_for("an owner", self.cluster.owner)
        self.assertNotEqual(owner, "c3")  # of collectors with as many jobs the first by name
        first = self.cluster.wait_for("a verdict", lambda: self.verdict("c3"), 120)
        number = first["id"]
        for name in NAMES:
            self.assertEqual(self.cluster.wait_for("its verdict", lambda: self.verdict(name))["id"], number)
            self.assertEqual(self.cluster.job(name, JOB)["name"], JOB)
            self.assertEqual(self.cluster.fetch(name, f"api/v1/jobs/{JOB}/iterations")[0], 200)
            self.assertIn(f'"{number}"', self.cluster.fetch(name, f"api/v1/jobs/{JOB}/report")[1])
        self.assertTrue(self.cluster.get("c3", "nodes")["nodes"])
        self.any_collector_has_the_plan_and_takes_the_record(first["entity"]["node"])

        self.cluster.kill(owner)
        second = self.goes_on("c3", number, first)
        heir = self.cluster.wait_for("an heir", self.cluster.owner)
        self.assertEqual(second["entity"], first["entity"])
        self.assertEqual([v["id"] for v in self.cluster.verdicts("c3", JOB) if not v.get("until")], [number])
        self.assertGreater(self.cluster.metric(heir, "fathom_bus_replayed_records_total"), 0)

        if heir != "c3":  # whoever plays the agents does not look for another door
            self.cluster.terminate(heir)
            third = self.goes_on("c3", number, second)
            self.assertEqual(third["entity"], first["entity"])
            self.assertEqual(self.cluster.wait_for("the last owner", self.cluster.owner), "c3")
        self.assertEqual(self.cluster.sql(f"SELECT active FROM fathom.verdicts WHERE id = '{number}'"), "1")
        self.assertEqual(sum(self.cluster.metric(name, "fathom_bus_lost_records_total")
                             for name in self.cluster.living()), 0)
        page = (harness.ROOT / "docs/operations/cluster.md").read_text()
        told = set(re.findall(r"^(fathom_(?:bus|cluster|lease)\w+)", self.cluster.fetch("c3", "metrics")[1], re.M))
        self.assertEqual(told, set(re.findall(r"^\| `(fathom_\w+)`", page, re.M)))

    def test_nats_and_postgres_that_go_away_are_told_and_waited_for(self):
        self.cluster.add("c1")
        self.play("c1")
        first = self.cluster.wait_for("a verdict", lambda: self.verdict("c1"), 120)
        nats = self.cluster.processes["nats"]
        nats.kill()
        nats.wait()
        self.cluster.processes.pop("nats")
        self.cluster.wait_for("degraded", lambda: "no connection" in self.cluster.fetch("c1", "readyz")[1])
        self.assertEqual(self.cluster.metric("c1", "fathom_bus_up"), 0)
        self.cluster.start_nats()
        self.cluster.wait_for("the bus", lambda: self.cluster.metric("c1", "fathom_bus_up") == 1)
        self.goes_on("c1", first["id"], first)

        self.cluster.sql("ALTER SYSTEM SET default_transaction_read_only TO on")
        self.cluster.sql("SELECT pg_reload_conf()")
        self.cluster.wait_for("degraded", lambda: "read-only" in self.cluster.fetch("c1", "readyz")[1], 90)
        self.assertEqual(self.verdict("c1")["id"], first["id"])

    def test_while_postgres_is_away_every_collector_has_the_verdicts_and_says_what_it_lacks(self):
        self.start_all()
        self.play("c3")
        first = self.cluster.wait_for("a verdict", lambda: self.verdict("c3"), 120)
        number, node = first["id"], first["entity"]["node"]
        for name in NAMES:
            self.cluster.wait_for("its verdict", lambda: self.verdict(name))
            self.assertNotIn("lacks", self.cluster.get(name, "verdicts"))
        self.cluster.kill("postgres")
        self.cluster.processes.pop("postgres")
        for name in NAMES:
            told = self.cluster.wait_for("a list that says what it lacks", lambda: (
                lambda answer: answer and "lacks" in answer and answer)(self.cluster.get(name, "verdicts?active=1")))
            self.assertEqual([each["id"] for each in told["verdicts"]], [number], name)
            self.assertEqual(self.cluster.get(name, f"verdicts/{number}")["id"], number)
            of_node = self.cluster.get(name, f"nodes/{node}")
            self.assertEqual([each["id"] for each in of_node["verdicts"]], [number], name)
            self.assertIn("cannot read the store", of_node["lacks"])
            for path in ("losses", "runs"):
                self.assertEqual(self.cluster.fetch(name, f"api/v1/{path}")[0], 503, path)
            listed = subprocess.run([harness.BUILD / "fathom", "get", "verdicts", "--collector-http",
                                     self.cluster.where[name]["http"]], capture_output=True, text=True)
            self.assertEqual(listed.returncode, 2, listed.stderr)
            self.assertIn("the history is not all here", listed.stdout)
        self.cluster.start_postgres()
        for name in NAMES:
            self.cluster.wait_for("all of it", lambda: "lacks" not in (
                self.cluster.get(name, "verdicts") or {"lacks": ""}))
            self.assertEqual(self.verdict(name)["id"], number)

    def test_settings_that_cannot_work_are_refused(self):
        def refused(**settings):
            with self.assertRaises(RuntimeError) as caught:
                self.cluster.add(f"bad{len(self.cluster.processes)}", **settings)
            return str(caught.exception)

        self.assertIn("postgresql://", refused(store=":memory:"))
        self.assertIn("in clear", refused(**{"cluster-bus": "nats://10.0.0.1:4222"}))
        self.assertIn("is not nats://", refused(**{"cluster-bus": "http://127.0.0.1:1"}))
        self.assertIn("127.0.0.1:1", refused(**{"cluster-bus": "nats://127.0.0.1:1"}))
        self.assertIn("cluster_lease_s", refused(**{"cluster-lease-s": 0.1}))
        self.assertIn("ops_store", refused(stream="ops"))
        self.cluster.add("c1")
        self.assertIn("cluster_name", refused(**{"cluster-name": "c1"}))


if __name__ == "__main__":
    if missing():
        print(f"skipped: no {', '.join(missing())}; deploy/setup cluster installs it")
        sys.exit(harness.SKIPPED)
    unittest.main(verbosity=2)
