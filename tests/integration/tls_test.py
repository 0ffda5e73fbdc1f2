#!/usr/bin/env python3
"""TLS between real programs, with certificates that openssl made: right ones work on every port, all
others are refused with the path and the reason."""
import http.client
import json
import re
import shutil
import ssl
import sys
import unittest

import daemon_case
import harness
from harness import TOKEN, hashed
from pki import Pki


class TlsTest(daemon_case.DaemonCase):
    def setUp(self):
        super().setUp()
        self.pki = Pki(self.folder)
        self.cert, self.key = self.pki.sign("server")
        self.ca = str(self.pki.authority)

    def collector(self, *more, cert=None, key=None):
        return self.start("fathom-collector", "--tls-cert", cert or self.cert, "--tls-key", key or self.key, *more)

    def jobs(self, collector, ca=None):
        return self.fathom("get", "nodes", "--collector-http", "https://" + collector.where["http"],
                           FATHOM_CA_FILE=str(ca or self.ca))

    def serial(self, address):
        """Of the certificate that is shown there."""
        connection = self.pki.connect(address)
        connection.connect()
        shown = connection.sock.getpeercert()["serialNumber"]
        connection.close()
        return shown

    def test_page_api_and_command_line(self):
        collector = self.collector()
        run = self.jobs(collector)
        self.assertEqual(run.returncode, 0, run.stderr)
        plain = self.fathom("get", "nodes", "--collector-http", collector.where["http"])
        self.assertEqual(plain.returncode, 1)
        other = self.folder / "other"
        other.mkdir()
        stranger = self.jobs(collector, Pki(other).authority)
        self.assertIn("the certificate of 127.0.0.1:", stranger.stderr)
        self.assertEqual(stranger.returncode, 1)

    def test_a_name_that_is_not_the_servers(self):
        cert, key = self.pki.sign("elsewhere", host="DNS:elsewhere")
        run = self.jobs(self.collector(cert=cert, key=key))
        self.assertRegex(run.stderr, "IP address mismatch|[Hh]ostname mismatch")

    def test_files_that_are_wrong_are_named_at_the_start(self):
        expired, its_key = self.pki.sign("old", days=-1)
        (self.folder / "text").write_text("no certificate")
        for program, arguments, words in (
                ("fathom-collector", ("--tls-cert", expired, "--tls-key", its_key), f"tls_cert: {expired}: expired at "),
                ("fathom-collector", ("--tls-cert", self.cert, "--tls-key", its_key),
                 f"tls_key: {its_key}: does not belong to {self.cert}"),
                ("fathom-collector", ("--tls-cert", "/nowhere.crt", "--tls-key", its_key),
                 "tls_cert: /nowhere.crt: No such file"),
                ("fathom-collector", ("--tls-cert", self.folder / "text", "--tls-key", its_key), "holds no certificate"),
                ("fathom-collector", ("--tls-cert", self.cert), "one is of no use without the other"),
                ("fathom-cordon", ("--tls-cert", expired, "--tls-key", its_key), f"tls_cert: {expired}: expired at "),
                ("fathomd", ("--collector-ca", "/nowhere.ca"), "--collector-ca: /nowhere.ca: No such file"),
                ("fathomd", ("--collector-ca", self.ca, "--collector-cert", expired, "--collector-key", its_key),
                 f"--collector-cert: {expired}: expired at "),
                ("fathomd", ("--http-cert", expired, "--http-key", its_key), f"--http-cert: {expired}: expired at "),
                ("fathomd", ("--http-cert", self.cert, "--http-key", its_key),
                 f"--http-key: {its_key}: does not belong to {self.cert}"),
                ("fathomd", ("--http", "0.0.0.0:0", "--http-cert", self.cert, "--http-key", self.key), "--http-client-ca")):
            with self.subTest(words):
                self.assertIn(words, self.refused(program, *arguments))

    def test_agents_show_a_certificate_where_one_is_asked_for(self):
        collector = self.collector("--tls-client-ca", self.ca)
        trusted = self.agent(collector, "node-a", self.pki.sign("node-a"))
        self.wait_log(trusted, "connected to collector")
        nameless = self.start("fathomd", "--collector", collector.where["grpc"], "--collector-ca", self.ca)
        self.wait_log(nameless, "no collector at")
        self.assertNotIn("connected to collector", nameless.log())

    def agent(self, collector, node, certificate):
        return self.start("fathomd", "--collector", collector.where["grpc"], "--collector-ca", self.ca, "--node", node,
                          "--collector-cert", certificate[0], "--collector-key", certificate[1])

    def refused_streams(self, collector):
        asks = self.pki.connect(collector.where["http"])
        asks.request("GET", "/metrics")
        text = asks.getresponse().read().decode()
        asks.close()
        return int(re.search(r'^fathom_ingest_streams_refused_total (\d+)', text, re.M).group(1))

    def test_an_agent_speaks_for_the_node_of_its_certificate_only(self):
        collector = self.collector("--tls-client-ca", self.ca)
        mine = self.agent(collector, "node-a", self.pki.sign("a", host="DNS:node-a,DNS:node-a.cluster"))
        self.wait_log(mine, "connected to collector")
        other = self.agent(collector, "node-a", self.pki.sign("node-b"))
        self.wait_log(other, "the certificate speaks for node-b and not for node node-a")
        self.assertNotIn("connected to collector", other.log())
        named_otherwise = self.agent(collector, "node-c", self.pki.sign("node-c", host="DNS:node-d"))
        self.wait_log(named_otherwise, "the certificate speaks for node-d and not for node node-c")
        self.assertGreaterEqual(self.refused_streams(collector), 2)
        self.assertIn("an agent's stream is refused: the certificate", collector.log())

    def test_the_collectors_own_certificate_is_no_agents(self):
        collector = self.collector("--tls-client-ca", self.ca)
        thief = self.agent(collector, "server", (self.cert, self.key))
        self.wait_log(thief, "the collector's own certificate is no agent's")
        self.assertNotIn("connected to collector", thief.log())

    def test_a_wildcard_counts_only_where_the_collector_says_so(self):
        wild = self.pki.sign("wild", host="DNS:*.cluster")
        strict = self.collector("--tls-client-ca", self.ca)
        refused = self.agent(strict, "node-a.cluster", wild)
        self.wait_log(refused, "the certificate speaks for *.cluster and not for node node-a.cluster")
        lenient = self.collector("--tls-client-ca", self.ca, "--agent-wildcards")
        self.wait_log(self.agent(lenient, "node-a.cluster", wild), "connected to collector")
        self.wait_log(self.agent(lenient, "node-a.other", wild), "and not for node node-a.other")

    def test_an_agent_without_a_certificate_where_none_is_asked_for(self):
        collector = self.collector()
        agent = self.start("fathomd", "--collector", collector.where["grpc"], "--collector-ca", self.ca)
        self.wait_log(agent, "connected to collector")
        plain = self.start("fathomd", "--collector", collector.where["grpc"])
        self.wait_log(plain, "no collector at")
        self.assertNotIn("connected to collector", plain.log())

    def test_an_agent_trusts_only_its_authority_and_the_right_name(self):
        cert, key = self.pki.sign("elsewhere", host="DNS:elsewhere")
        collector = self.collector(cert=cert, key=key)
        agent = self.start("fathomd", "--collector", collector.where["grpc"], "--collector-ca", self.ca)
        self.wait_log(agent, "no collector at")
        self.assertNotIn("connected to collector", agent.log())

    def test_a_renewed_certificate_is_shown_without_a_restart_and_a_bad_one_is_not(self):
        collector = self.collector()
        first = self.serial(collector.where["http"])
        (self.folder / "server.crt").write_text("half a certificate")
        harness.wait_for(lambda: self.serial(collector.where["http"]) == first and
                         "the old certificate holds" in collector.log())
        self.pki.sign("server")
        harness.wait_for(lambda: self.serial(collector.where["http"]) != first)

    def metrics(self, agent, *certificate, pki=None):
        """The agent's own metrics over TLS; what was wrong where they do not come."""
        connection = (pki or self.pki).connect(agent.where["http"], *certificate)
        try:
            connection.request("GET", "/metrics")
            return connection.getresponse().read().decode()
        except (ssl.SSLError, ConnectionError, http.client.HTTPException) as error:
            return f"refused: {error}"
        finally:
            connection.close()

    def test_the_agents_own_http_over_tls(self):
        agent = self.start("fathomd", "--http-cert", self.cert, "--http-key", self.key)
        self.assertIn("fathom_build_info", self.metrics(agent))
        other = self.folder / "other"
        other.mkdir()
        self.assertIn("CERTIFICATE_VERIFY_FAILED", self.metrics(agent, pki=Pki(other)))
        plain = http.client.HTTPConnection(agent.where["http"], timeout=10)
        with self.assertRaises((ConnectionError, http.client.HTTPException)):
            plain.request("GET", "/metrics")
            plain.getresponse()
        plain.close()
        first = self.serial(agent.where["http"])
        (self.folder / "server.crt").write_text("half a certificate")
        harness.wait_for(lambda: self.serial(agent.where["http"]) == first and "the old certificate holds" in agent.log())
        self.pki.sign("server")
        harness.wait_for(lambda: self.serial(agent.where["http"]) != first)

    def test_the_agents_own_http_for_those_who_show_a_certificate(self):
        agent = self.start("fathomd", "--http-cert", self.cert, "--http-key", self.key, "--http-client-ca", self.ca,
                           "--http", "0.0.0.0:0")
        agent.where["http"] = agent.where["http"].replace("0.0.0.0", "127.0.0.1")
        mine = self.pki.sign("prometheus")
        for _ in range(3):
            self.assertIn("fathom_build_info", self.metrics(agent, *mine))
        self.assertIn("refused", self.metrics(agent))
        other = self.folder / "other"
        other.mkdir()
        self.assertIn("refused", self.metrics(agent, *Pki(other).sign("stranger")))
        self.assertIn("refused", self.metrics(agent, *self.pki.sign("late", days=-1)))
        self.assertIn("fathom_build_info", self.metrics(agent, *mine), "and the others go on")

    def test_cordon_reads_a_collector_behind_tls_and_login(self):
        (self.folder / "tokens").write_text(f"cordon viewer {hashed(TOKEN)}\nann operator {hashed(TOKEN[::-1])}\n")
        (self.folder / "tokens").chmod(0o600)
        (self.folder / "mine").write_text(TOKEN)
        collector = self.collector("--tokens", self.folder / "tokens")
        url = "https://" + collector.where["http"]
        seeing = ("--collector", url, "--collector-ca-file", self.ca, "--collector-token-file", self.folder / "mine")
        cordon = self.start("fathom-cordon", *seeing, "--tls-cert", self.cert, "--tls-key", self.key)
        asks = self.pki.connect(cordon.where["http"])
        asks.request("GET", "/api/v1/plan")
        self.assertIn("plan", json.load(asks.getresponse()))
        asks.close()
        harness.wait_for(lambda: "webhook" in cordon.log() or "127.0.0.1:1" in cordon.log())
        self.assertNotIn("asks for a login", cordon.log())
        blind = self.start("fathom-cordon", *seeing[:4], "--audit", self.folder / "other.jsonl")
        self.wait_log(blind, "asks for a login")

    def test_other_than_loopback_needs_tls_and_a_login(self):
        (self.folder / "tokens").write_text("")
        (self.folder / "tokens").chmod(0o600)
        tls = ("--tls-cert", self.cert, "--tls-key", self.key)
        for arguments in (("--http", "0.0.0.0:0", *tls), ("--http", "0.0.0.0:0", "--tokens", self.folder / "tokens"),
                          ("--grpc", "0.0.0.0:0", *tls)):
            self.assertIn("reachable from outside", self.refused("fathom-collector", *arguments))
        self.start("fathom-collector", *tls, "--tls-client-ca", self.ca, "--tokens", self.folder / "tokens", "--grpc",
                   "0.0.0.0:0", "--http", "0.0.0.0:0")


if __name__ == "__main__":
    sys.exit(harness.SKIPPED) if not shutil.which("openssl") else unittest.main()
