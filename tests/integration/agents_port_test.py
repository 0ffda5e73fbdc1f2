#!/usr/bin/env python3
"""The port of agents under who means it no good: more connections than there are descriptors, connections and
streams that say nothing, streams that are reset at once. Afterwards an agent is served as before.

FATHOM_RESETS  how many streams are reset (default 100000)
"""
import http.client
import os
import re
import resource
import socket
import sys
import threading
import time
import unittest

import daemon_case
import harness
import http2

RESETS = int(os.environ.get("FATHOM_RESETS", "100000"))
MIB = 1 << 20


class AgentsPortTest(daemon_case.DaemonCase):
    def collector(self, *arguments, files=None):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        # The agents of these tests are to come through the port.
        return self.start("fathom-collector", "--agent-socket", "off", *arguments, preexec_fn=limit if files else None)

    def get(self, collector, path):
        connection = http.client.HTTPConnection(collector.where["http"], timeout=10)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def metric(self, collector, name):
        return float(re.search(rf"^{name} (\S+)", self.get(collector, "/metrics")[1], re.M).group(1))

    def serves(self, collector, node, seconds=30, address=None):
        """How long a new agent waits for its greeting."""
        begun = time.monotonic()
        agent = self.start("fathomd", "--collector", address or collector.where["grpc"], "--node", node)
        self.wait_log(agent, "connected to collector", seconds)
        return time.monotonic() - begun

    def rss(self, process):
        with open(f"/proc/{process.pid}/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def connect(self, collector, count):
        host, port = collector.where["grpc"].rsplit(":", 1)
        return [socket.create_connection((host, int(port)), 10) for _ in range(count)]

    def test_more_connections_than_descriptors(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 2000:
            self.skipTest("the limit of descriptors is too low to hold 1,500 connections")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
        collector = self.collector(files=1024)
        self.serves(collector, "before")
        held = self.connect(collector, 1500)
        harness.wait_for(lambda: self.metric(collector, "fathom_ingest_connections_refused_total") > 1000)
        self.assertIn("a connection of agents is refused: too many connections", collector.log())
        for each in held:
            each.close()
        print(f"1,500 connections, 1,024 descriptors: a new agent served in {self.serves(collector, 'after'):.2f} s")
        self.assertEqual(self.get(collector, "/readyz")[0], 200)

    def test_connections_and_streams_that_say_nothing(self):
        collector = self.collector()
        silent = self.connect(collector, 20)
        streams = [http2.Connection(collector.where["grpc"], 60) for _ in range(20)]
        for each in streams:
            each.open()
            threading.Thread(target=each.answer_pings, daemon=True).start()
        harness.wait_for(lambda: self.metric(collector, "fathom_agent_streams") == 20)
        harness.wait_for(lambda: self.metric(collector, "fathom_agent_streams") == 0)
        harness.wait_for(lambda: self.metric(collector, "fathom_ingest_hellos_missing_total") == 20)
        for each in silent:
            each.settimeout(60)
            while each.recv(4096):  # ends when the collector closes it
                pass
            each.close()
        for each in streams:
            each.close()

    def reset(self, address, count, path):
        """Resets so many streams, on as many connections as that takes."""
        while count > 0:
            try:
                connection = http2.Connection(address)
            except ConnectionError:
                continue  # not let in
            try:
                while count > 0:
                    connection.open_and_reset(100, path)
                    count -= 100
            except (ConnectionError, TimeoutError):
                pass
            connection.close()

    def test_streams_that_are_reset_at_once(self):
        collector = self.collector()
        self.be_rude(collector, collector.where["grpc"])

    def test_streams_that_are_reset_at_once_at_the_socket(self):
        path = f"{self.folder}/agents.sock"
        collector = self.start("fathom-collector", "--agent-socket", path)
        self.be_rude(collector, f"unix:{path}")

    def be_rude(self, collector, address):
        self.serves(collector, "before", address=address)
        before, begun = self.rss(collector), time.monotonic()
        each = RESETS // 4
        rude = [threading.Thread(target=self.reset, args=(address, each, path))
                for path in (http2.CONNECT, http2.CONNECT, "/grpc.health.v1.Health/Check", "/no/such")]
        for thread in rude:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in rude):
            most = max(most, self.rss(collector))
            time.sleep(0.05)
        took = time.monotonic() - begun
        served = self.serves(collector, "after", address=address)
        harness.wait_for(lambda: self.rss(collector) - before < 200 * MIB)
        print(f"{RESETS} streams reset in {took:.1f} s: memory {before / MIB:.0f} MiB, at most {most / MIB:.0f}, "
              f"then {self.rss(collector) / MIB:.0f}; a new agent served in {served:.2f} s; "
              f"{self.metric(collector, 'fathom_ingest_connections_cut_total'):.0f} connections cut")
        self.assertEqual(self.get(collector, "/readyz")[0], 200)


if __name__ == "__main__":
    unittest.main()
