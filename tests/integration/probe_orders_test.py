#!/usr/bin/env python3
"""Probes that the collector orders: four real agents whose fathom-probe is a stand-in, and one real one.

The slow one is found among its peers, history is kept by node and over a restart, the kill switch and a stop are obeyed."""
import json
import pathlib
import signal
import subprocess
import unittest
import urllib.request

import daemon_case
import harness
from harness import BUILD

MACHINE = {"machine": {"cpu_model": "A Chip", "instructions": "avx2", "cores": 8, "cores_allowed": 8, "numa_nodes": 1,
                       "memory_bytes": "34359738368"}}


def result(value):
    return {"result": {"probe": "gemm", "outcome": "done", "seconds": 1,
                       "figures": [{"name": "flops", "value": value, "unit": "flop/s", "slices": 9}]}}


class ProbeOrders(daemon_case.DaemonCase):
    def collector(self):
        store = str(self.folder / "store.db")
        return self.start("fathom-collector", "--store", store)

    def agent(self, collector, node, script):
        tool = self.folder / f"probe-{node}"
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        (self.folder / f"shm-{node}").mkdir(exist_ok=True)
        return self.start("fathomd", "--collector", collector.where["grpc"], "--node", node, "--probe-tool", str(tool),
                          "--shm-dir", str(self.folder / f"shm-{node}"), "--probe-off-file", str(self.folder / "off"))

    def printing(self, value):
        (self.folder / f"lines-{value}").write_text("".join(json.dumps(each) + "\n" for each in (MACHINE, result(value))))
        return f"cat {self.folder}/lines-{value}"

    def get(self, collector, path):
        with urllib.request.urlopen(f"http://{collector.where['http']}{path}", timeout=20) as reply:
            return json.load(reply)

    def connected(self, collector, count):
        harness.wait_for(lambda: sum(n["connected"] for n in self.get(collector, "/api/v1/nodes")["nodes"]) == count, 30)

    def probe(self, collector, *arguments):
        return subprocess.run([BUILD / "fathom", "probe", "--collector-http", collector.where["http"], *arguments],
                              capture_output=True, text=True, timeout=120, env=harness.environment())

    def test_a_slow_node_is_found_among_its_peers_and_kept(self):
        collector = self.collector()
        for node, value in (("n0", 80), ("n1", 100), ("n2", 101), ("n3", 99)):
            self.agent(collector, node, self.printing(value))
        self.connected(collector, 4)
        run = self.probe(collector, "--nodes", "n0,n1,n2,n3,gone")
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn("n0: slow; flops of gemm: 80 flop/s against 100 flop/s of its 3 peers", run.stdout)
        self.assertIn("n1: clean", run.stdout)
        self.assertIn("gone: not probed, its agent is out of reach", run.stdout)
        collector.terminate()
        collector.wait()
        again = self.collector()
        kept = self.get(again, "/api/v1/nodes/n0/probes")["probes"]
        self.assertEqual([each["judgement"]["state"] for each in kept], ["slow"])
        self.assertEqual(self.get(again, "/api/v1/nodes/n9/probes")["probes"], [])

    def test_a_stop_reaches_the_program(self):
        collector = self.collector()
        mark = self.folder / "began"
        self.agent(collector, "n0", f"echo $$ > {mark}; exec sleep 300")
        self.connected(collector, 1)
        command = subprocess.Popen([BUILD / "fathom", "probe", "--collector-http", collector.where["http"], "--nodes", "n0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=harness.environment())
        harness.wait_for(lambda: mark.exists() and mark.read_text().strip(), 30)
        command.send_signal(signal.SIGINT)
        self.assertEqual(command.wait(60), 130, command.stderr.read())
        pid = int(mark.read_text())
        harness.wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), 30)
        orders = self.get(collector, "/api/v1/probes")["probes"]
        harness.wait_for(lambda: self.get(collector, "/api/v1/probes")["probes"][0]["state"] == "done", 30)
        order = self.get(collector, f"/api/v1/probes/{orders[0]['id']}")
        self.assertEqual(order["runs"][0]["refused"], "stopped by an operator")

    def test_the_kill_switch(self):
        collector = self.collector()
        self.agent(collector, "n0", self.printing(100))
        self.connected(collector, 1)
        (self.folder / "off").touch()
        run = self.probe(collector, "--nodes", "n0")
        self.assertEqual(run.returncode, 1)
        self.assertIn("n0: not probed, switched off by", run.stdout)

    def test_what_cannot_be_is_refused(self):
        collector = self.collector()
        for arguments, words in ((["--job", "train"], "no verdict of train names a node"),
                                 (["--nodes", "n0", "--probes", "a b"], "a list like exact,disk")):
            run = self.probe(collector, *arguments)
            self.assertEqual(run.returncode, 1)
            self.assertIn(words, run.stderr)

    def test_the_real_program_on_a_real_node(self):
        collector = self.collector()
        (self.folder / "shm-real").mkdir()
        self.start("fathomd", "--collector", collector.where["grpc"], "--node", "real", "--shm-dir",
                   str(self.folder / "shm-real"), "--probe-off-file", str(self.folder / "off"))
        self.connected(collector, 1)
        run = self.probe(collector, "--nodes", "real", "--probes", "exact,spin", "--seconds", "2", "-o", "json")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        results = json.loads(run.stdout)["runs"][0]["results"]
        self.assertEqual({each["probe"] for each in results}, {"exact", "spin"})
        self.assertEqual({each["outcome"] for each in results}, {"done"})


if __name__ == "__main__":
    unittest.main()
