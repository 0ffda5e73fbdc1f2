#!/usr/bin/env python3
"""Whose agents are believed on one machine: the kernel says who is at the other end of a unix socket. Tried as
another user (nobody), by every way in; for each refusal root does the same, so that it is the user that is refused.
"""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import unittest
import urllib.request

import cordon_case
import daemon_case
import harness
from cordon_webhook_test import Service

NOBODY, OTHER = 65534, 65533
JOB = "sim-slow_gpu_ddp"
CULPRIT_FOUND = 2


def as_user(user, *words):
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *map(str, words)]


def play(collector, user, pace):
    """One sick job that the agents of `user` tell of."""
    return subprocess.Popen(
        as_user(user, harness.BUILD / "fathom", "simulate", "slow_gpu_ddp", "--collector", collector.where["grpc"],
                "--collector-http", collector.where["http"], "--pace", pace),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment(HOME="/nonexistent"))


class IdentityCase(daemon_case.DaemonCase):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root can try as somebody else")
        super().setUp()
        self.folder.chmod(0o755)

    def start(self, program, *arguments, user=0, **environment):
        def become():
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)

        return super().start(program, *arguments, preexec_fn=become if user else None, **environment)

    def get(self, collector, path):
        with urllib.request.urlopen(f"http://{collector.where['http']}{path}", timeout=10) as answer:
            return answer.read().decode()

    def jobs(self, collector):
        return [job["name"] for job in json.loads(self.get(collector, "/api/v1/jobs"))["jobs"]]

    def socket_of(self, collector):
        return pathlib.Path(re.search(r"socket=(\S+)", collector.ready).group(1))

    def connects(self, user, path):
        """What the kernel says to that user."""
        run = subprocess.run(as_user(user, sys.executable, "-c", "import socket, sys; s = socket.socket(socket.AF_UNIX); "
                                     "s.connect(sys.argv[1]); s.settimeout(5); print(len(s.recv(9)))", path),
                             capture_output=True, text=True, timeout=30)
        return run.stdout.strip() or run.stderr.strip().splitlines()[-1]


class SocketTest(IdentityCase):
    def test_an_agent_beside_its_collector_comes_by_its_socket_and_nobody_else_does(self):
        collector = self.start("fathom-collector")
        path = self.socket_of(collector)
        self.assertEqual((stat.S_IMODE(path.stat().st_mode), path.stat().st_uid), (0o600, 0))
        agent = self.start("fathomd", "--collector", collector.where["grpc"], "--node", "beside")
        self.wait_log(agent, f"at unix:{path}")
        self.assertIn("PermissionError", self.connects(NOBODY, path))
        # Over loopback, the only way that is left, the kernel is asked as well.
        (self.folder / "theirs").mkdir()
        os.chown(self.folder / "theirs", NOBODY, NOBODY)
        theirs = self.start("fathomd", "--collector", collector.where["grpc"], "--node", "theirs", "--shm-dir",
                            f"{self.folder}/theirs/shm", user=NOBODY)
        self.wait_log(theirs, "agents of user 65534 are not believed here")
        self.assertNotIn("connected to collector", theirs.log())
        collector.terminate()
        collector.wait()
        self.assertFalse(path.exists())

    def test_no_other_user_brings_a_job_or_a_verdict_about(self):
        collector = self.start("fathom-collector")
        self.assertEqual(play(collector, NOBODY, 0.05).wait(120), 1)
        self.assertIn("agents of user 65534 are not believed here", collector.log())
        self.assertEqual(self.jobs(collector), [])
        self.assertEqual(play(collector, 0, 0.05).wait(120), CULPRIT_FOUND)
        self.assertEqual(self.jobs(collector), [JOB])

    def test_a_named_user_is_let_in_and_speaks_for_no_node_of_root(self):
        path = self.folder / "agents.sock"
        collector = self.start("fathom-collector", "--agent-socket", path, "--agent-users", str(NOBODY), "--grpc", "off")
        mine = self.start("fathomd", "--collector", f"unix:{path}", "--node", "mine")
        self.wait_log(mine, "connected to collector")
        shm = self.folder / "named"
        shm.mkdir()
        os.chown(shm, NOBODY, NOBODY)
        named = self.start("fathomd", "--collector", f"unix:{path}", "--node", "named", "--shm-dir", shm, user=NOBODY)
        self.wait_log(named, "connected to collector")
        thief = self.start("fathomd", "--collector", f"unix:{path}", "--node", "mine", "--shm-dir", shm, user=NOBODY)
        self.wait_log(thief, "node mine is connected as somebody else's")
        self.assertEqual(self.connects(OTHER, path), "0", "closed at once, nothing was sent")
        self.assertIn("agents of user 65533 are not believed here", collector.log())

    def test_a_socket_that_was_left_is_replaced_and_one_that_serves_is_not(self):
        path = self.folder / "agents.sock"
        first = self.start("fathom-collector", "--agent-socket", path, "--grpc", "off")
        self.assertIn("another process listens there", self.refused("fathom-collector", "--agent-socket", path))
        agent = self.start("fathomd", "--collector", f"unix:{path}")
        self.wait_log(agent, "connected to collector")
        first.kill()
        first.wait()
        self.assertTrue(path.exists())
        self.wait_log(agent, "no collector at unix:")
        self.start("fathom-collector", "--agent-socket", path, "--grpc", "off")
        harness.wait_for(lambda: agent.log().count("connected to collector") == 2)

    def test_an_agent_believes_no_socket_that_others_may_have_put_there(self):
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)
        path = shared / "agents.sock"
        listener = subprocess.Popen(as_user(NOBODY, sys.executable, "-c", "import socket, sys, time; "
                                            "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); "
                                            "print('up', flush=True); time.sleep(600)", path), stdout=subprocess.PIPE)
        self.processes.append(listener)
        listener.stdout.readline()
        path.chmod(0o666)
        agent = self.start("fathomd", "--collector", f"unix:{path}")
        self.wait_log(agent, "others than its owner may write in")
        self.assertIn("others than its owner may write in", self.refused("fathom-collector", "--agent-socket", shared / "own"))

    def test_ways_in_that_leave_none(self):
        self.assertIn("grpc: off leaves agents no way in", self.refused("fathom-collector", "--grpc", "off"))
        self.assertIn("agent_socket: 'x' is no path", self.refused("fathom-collector", "--agent-socket", "x"))

    def test_a_run_has_no_port_for_agents(self):
        command = "import os, time; open(os.environ['UP'], 'w'); time.sleep(600)"
        up = self.folder / "up"
        process = harness.start([harness.BUILD / "fathom", "run", "--", sys.executable, "-c", command],
                                env=harness.environment(UP=str(up)), start_new_session=True)
        self.addCleanup(harness.end, process)
        harness.wait_for(up.exists)
        path = harness.run_folder_of(process.pid) / "agents.sock"
        self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
        self.assertIn("PermissionError", self.connects(NOBODY, path))
        (collector,) = harness.children(process.pid, "fathom-collector")
        self.assertEqual(len(listening(collector)), 1, "the page alone")


def listening(pid):
    """Inodes of the TCP sockets on which it listens."""
    own = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    rows = [line.split() for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
    return [row[9] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]


class DrainTest(IdentityCase):
    """A real collector whose word a real fathom-cordon follows at once."""

    def start_cordon(self, collector, service):
        config = self.folder / "cordon.yaml"
        config.write_text("groups: [{name: all, mode: auto, nodes: ['*']}]\n" + cordon_case.CordonCase.LIMITS +
                          f"backend: webhook\nwebhook_url: http://127.0.0.1:{service.server_address[1]}\n")
        return self.start("fathom-cordon", "--config", config, "--collector", f"http://{collector.where['http']}",
                          "--webhook-url", f"http://127.0.0.1:{service.server_address[1]}")

    def plan(self, cordon):
        with urllib.request.urlopen(f"http://{cordon.where['http']}/api/v1/plan", timeout=10) as answer:
            return answer.read().decode()

    def serve(self):
        service = Service()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        service.nodes = {f"sim-node-{i:04}": {"name": f"sim-node-{i:04}", "withheld": False, "healthy": True, "owner": ""}
                         for i in range(64)}
        return service

    def accused(self, collector):
        return [v["entity"]["node"] for v in json.loads(self.get(collector, "/api/v1/verdicts"))["verdicts"]
                if v["grade"] == "established"]

    def judged(self, user, *settings):
        """The nodes that are held after that user's agents have told of a sick job."""
        service, collector = self.serve(), self.start("fathom-collector", *settings)
        cordon = self.start_cordon(collector, service)
        player = play(collector, user, 0.2)
        self.addCleanup(lambda: (player.kill(), player.wait()))
        return service, collector, cordon, player

    def test_what_everybody_may_tell_holds_no_node(self):
        service, collector, cordon, player = self.judged(NOBODY, "--agent-users", "*")
        harness.wait_for(lambda: self.accused(collector), 120)
        harness.wait_for(lambda: "does not know for all agents of the job whose they are" in self.plan(cordon), 60)
        player.wait()
        self.assertEqual(service.posts, [])

    def test_what_root_tells_does(self):
        service, collector, _, _ = self.judged(0)
        harness.wait_for(lambda: service.posts, 120)
        self.assertEqual({(path, asked["node"]) for path, asked, _ in service.posts}, {("/hold", self.accused(collector)[0])})


if __name__ == "__main__":
    unittest.main()
