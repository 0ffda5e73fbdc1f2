#!/usr/bin/env python3
"""The way back that docs/operations/recover.md describes, by a real torchrun: two nodes and a standby agent.

The agent of one node ends; the standby takes its place and the workers go on from the newest whole checkpoint. What
comes out is bit for bit that of a job that nobody disturbed. Prints the seconds of each stage."""
import re
import signal
import socket
import subprocess
import time
import unittest

import harness
from harness import PYTHON

STEPS = 120
JOB = harness.HERE / "jobs/elastic.py"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0, "no PyTorch")
class Standby(harness.ProcessCase):
    def agent(self, node, port, folder, host):
        """torchrun of one node; whoever is not `host` joins the rendezvous that host has."""
        log = open(self.folder / f"{node}.log", "w")
        self.addCleanup(log.close)
        command = [PYTHON, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--max-restarts", "3",
                   "--rdzv-id", "train", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}",
                   "--rdzv-conf", f"is_host={int(host)},join_timeout=120,keep_alive_interval=1,keep_alive_max_attempt=3",
                   "--local-addr", "127.0.0.1", JOB, folder, str(STEPS)]
        process = subprocess.Popen(command, stdout=log, stderr=log,
                                   env=harness.environment(NODE=node, OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo"))
        self.processes.append(process)
        return process

    def steps(self, node):
        return [int(n) for n in re.findall(rf"step (\d+) of {node}", (self.folder / f"{node}.log").read_text())]

    def result(self, folder):
        return (folder / "result").read_text()

    def folder_of(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def test_a_standby_takes_the_place_of_a_node(self):
        calm = self.folder_of("calm")
        port = free_port()
        nodes = [self.agent("a", port, calm, True), self.agent("b", port, calm, False)]
        self.assertEqual([node.wait(240) for node in nodes], [0, 0], (self.folder / "a.log").read_text()[-3000:])

        folder = self.folder_of("disturbed")
        port = free_port()
        first = self.agent("first", port, folder, True)
        sick = self.agent("sick", port, folder, False)
        harness.wait_for(lambda: len(self.steps("sick")) > 25, 240)
        spare = self.agent("spare", port, folder, False)
        harness.wait_for(lambda: "redundancy" in (self.folder / "spare.log").read_text() or len(self.steps("sick")) > 55, 120)
        before = self.steps("first")[-1]
        begin = time.monotonic()
        sick.send_signal(signal.SIGTERM)
        harness.wait_for(lambda: self.steps("spare"), 120)
        again = time.monotonic() - begin
        self.assertEqual([first.wait(240), spare.wait(240)], [0, 0], (self.folder / "first.log").read_text()[-3000:])
        resumed = self.steps("spare")[0]
        print(f"standby: {again:.1f} s from the end of the sick node's agent to the first step on the spare, "
              f"{before + 1 - resumed} steps done anew, from step {resumed}")
        self.assertEqual(resumed % 10, 0)
        self.assertLessEqual(resumed, before + 1)
        self.assertEqual(self.result(folder), self.result(calm))


if __name__ == "__main__":
    unittest.main()
