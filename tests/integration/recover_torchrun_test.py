#!/usr/bin/env python3
"""A sick node leaves a real elastic torchrun job, a standby takes its place, and the job goes on from its checkpoint,
though `fathom recover run` is killed in the middle: its output is that of a job which nobody disturbed, bit by bit.
"""
import json
import subprocess
import unittest

import elastic_cluster
import harness
from elastic_cluster import NODES, SICK, STANDBY


class RecoverTorchrunTest(unittest.TestCase):
    def test_the_standby_takes_the_place_and_the_output_is_the_same(self):
        with elastic_cluster.ElasticCluster(harness.BUILD, harness.PYTHON, first_slow=60) as cluster:
            cluster.start_job()
            verdict = cluster.wait_for("an established verdict", cluster.established, 240)
            self.assertEqual(verdict["entity"]["node"], SICK)
            self.assert_it_asks_and_refuses(cluster)
            self.kill_it_once_the_sick_node_is_out(cluster)
            run = cluster.recover("run", "--yes", "--restart-seconds", 60)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr + cluster.tail())
            self.assert_it_runs_on_the_standby(cluster)
            self.assert_the_record_is_whole(cluster)
            self.assert_the_collector_has_the_record(cluster)
            self.assert_it_is_not_done_twice(cluster)
            result = cluster.finish()
            first, last = cluster.lines(STANDBY, "loaded")[-1], int(result.splitlines()[0])
            self.assertGreater(last, first)
            self.assertEqual(result, cluster.undisturbed(first, last))

    def assert_it_asks_and_refuses(self, cluster):
        asked = cluster.recover("run", "--checkpoints", cluster.checkpoints)
        self.assertEqual((asked.returncode, cluster.placed()[NODES.index(SICK)]), (1, SICK))
        self.assertIn("nobody said yes", asked.stderr)
        unknown = cluster.recover("run", "--yes")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("no whole checkpoint is known", unknown.stderr)
        torn = cluster.checkpoints / "step-999999.pt"
        torn.write_bytes(b"")
        refused = cluster.recover("run", "--yes", "--checkpoints", cluster.checkpoints)
        torn.unlink()
        self.assertEqual(refused.returncode, 1)
        self.assertIn("not whole", refused.stderr)

    def kill_it_once_the_sick_node_is_out(self, cluster):
        """What has been done by then must not be done again by the run that goes on."""
        first = subprocess.Popen([str(word) for word in cluster.recovery("run", "--yes", "--checkpoints", cluster.checkpoints)],
                                 env=cluster.asking(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            cluster.wait_for("the sick node's end", lambda: ("done", "isolate") in self.steps(cluster), 240)
        finally:
            first.kill()
            first.wait()

    def steps(self, cluster):
        journal = cluster.folder / "journal" / f"{elastic_cluster.JOB}.jsonl"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [(r["mark"], r.get("step")) for r in map(json.loads, lines)]

    def assert_it_runs_on_the_standby(self, cluster):
        placed = cluster.placed()
        self.assertEqual(sorted(placed.values()), sorted({*NODES, STANDBY} - {SICK}))
        before = max(cluster.lines(STANDBY, "step"))
        cluster.wait_for("more steps on the standby", lambda: max(cluster.lines(STANDBY, "step")) > before)
        self.assertGreater(cluster.lines(STANDBY, "loaded")[-1], 0)

    def assert_the_record_is_whole(self, cluster):
        record = json.loads(cluster.recover("show", "-o", "json").stdout)["recoveries"][0]
        self.assertEqual((record["state"], record["plan"]["isolate"], record["plan"]["spare"]), ("recovered", SICK, STANDBY))
        self.assertEqual([s["state"] for s in record["steps"]], ["done"] * 3)
        intents = [step for mark, step in self.steps(cluster) if mark == "intent"]
        self.assertEqual(intents, ["standby", "isolate", "restart"])
        for stage in ("detection_s", "decision_s", "isolation_s", "restart_s", "lost_work_s"):
            self.assertGreaterEqual(record["stages"][stage], 0)
        self.assertGreater(record["lost_gpu_hours"], 0)
        self.assertGreater(record["won_gpu_hours_per_hour"], 0)

    def assert_the_collector_has_the_record(self, cluster):
        """Though the run that began it was killed: the one that went on told it again."""
        answer = cluster.get(f"jobs/{elastic_cluster.JOB}/recovery")
        [record] = answer["recoveries"]
        self.assertEqual((record["state"], record["isolate"], record["spare"]), ("recovered", SICK, STANDBY))
        shown = json.loads(cluster.recover("show", "-o", "json").stdout)["recoveries"][0]
        self.assertEqual(record["stages"], shown["stages"])
        self.assertEqual(record["lost_gpu_hours"], shown["lost_gpu_hours"])
        losses = cluster.get("losses")
        self.assertIn("recovery", [row["cause"] for row in losses["rows"]])
        self.assertEqual(losses["recoveries"]["recovered"], 1)
        self.assertAlmostEqual(sum(s["gpu_hours"] for s in losses["recoveries"]["stages"]), record["lost_gpu_hours"], delta=0.2 * record["lost_gpu_hours"])

    def assert_it_is_not_done_twice(self, cluster):
        again = cluster.recover("run", "--yes", "--checkpoints", cluster.checkpoints)
        self.assertEqual(again.returncode, 1, again.stdout)
        undo = cluster.recover("undo", "--yes")
        self.assertEqual(undo.returncode, 1)
        self.assertIn("another restart", undo.stderr)


if __name__ == "__main__":
    harness.require_torch()
    unittest.main()
