#!/usr/bin/env python3
"""The daemons as services: what they tell the service manager, and that every line they log parses."""
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

import daemon_case
import harness

DAEMONS = ("fathom-collector", "fathomd", "fathom-cordon")
TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (trace|debug|info|warning|error) \w+ \S|    ")


class Manager:
    """Listens where a service manager would."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(20)
        self.variable = address.replace("\0", "@")

    def hear(self, words):
        """Reads until a message begins so; what came before it."""
        before = []
        while True:
            message = self.socket.recv(4096).decode()
            if message.startswith(words):
                return before
            before.append(message)


class ServiceTest(daemon_case.DaemonCase):
    def managed(self, program, address, *more):
        manager = Manager(address)
        self.addCleanup(manager.socket.close)
        return manager, self.start(program, *more, NOTIFY_SOCKET=manager.variable, WATCHDOG_USEC="400000")

    def test_ready_alive_reloading_and_stopping(self):
        for program in DAEMONS:
            with self.subTest(program):
                manager, process = self.managed(program, str(self.folder / f"{program}.socket"))
                self.assertEqual(manager.hear("READY=1"), [])
                manager.hear("WATCHDOG=1")
                manager.hear("WATCHDOG=1")
                process.send_signal(signal.SIGHUP)
                manager.hear("RELOADING=1\nMONOTONIC_USEC=")
                self.assertLessEqual(set(manager.hear("READY=1")), {"WATCHDOG=1"})
                process.terminate()
                self.assertLessEqual(set(manager.hear("STOPPING=1")), {"WATCHDOG=1"})
                self.assertEqual(process.wait(20), 0)

    def test_one_that_stands_still_says_nothing(self):
        manager, process = self.managed("fathomd", "\0fathom-service-test-%d" % os.getpid())  # an abstract one
        manager.hear("WATCHDOG=1")
        process.send_signal(signal.SIGSTOP)
        manager.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            for _ in range(10):
                manager.socket.recv(4096)
        process.send_signal(signal.SIGCONT)
        manager.hear("WATCHDOG=1")

    def test_a_companion_does_not_speak_for_its_parents_service(self):
        manager, _ = self.managed("fathom-collector", str(self.folder / "socket"), "--parent-death-signal")
        manager.socket.settimeout(1)
        with self.assertRaises(TimeoutError):
            manager.socket.recv(4096)

    def test_an_agent_never_comes_forward(self):
        for started, stands in ((0, 5), (12, 12)):
            process = self.start("fathomd", preexec_fn=lambda: os.setpriority(os.PRIO_PROCESS, 0, started))
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, process.pid), stands)

    def test_sighup_takes_who_may_do_what_and_keeps_the_old_on_an_error(self):
        tokens, config = self.folder / "tokens", self.folder / "settings.yaml"
        tokens.write_text(f"ann viewer sha256:{'0' * 64}\n")
        tokens.chmod(0o600)

        def reads(process, path):
            return urllib.request.urlopen(f"http://{process.where['http']}{path}", timeout=10).status

        for program, path in (("fathom-collector", "/api/v1/jobs"), ("fathom-cordon", "/api/v1/plan")):
            with self.subTest(program):
                config.write_text(f"tokens: {tokens}\nopen_reading: false\n")
                process = self.start(program, "--config", config)
                with self.assertRaisesRegex(urllib.error.HTTPError, "401"):
                    reads(process, path)
                config.write_text(f"tokens: {tokens}\nopen_reading: true\n")
                process.send_signal(signal.SIGHUP)
                self.wait_log(process, "settings read again")
                self.assertEqual(reads(process, path), 200)
                config.write_text("tokens: /nowhere\nopen_reading: false\n")
                process.send_signal(signal.SIGHUP)
                self.wait_log(process, "/nowhere: the tokens cannot be read")
                self.assertEqual(reads(process, path), 200)

    def test_the_version_names_its_commit_also_in_the_log(self):
        for program in DAEMONS:
            with self.subTest(program):
                said = subprocess.run([harness.BUILD / program, "--version"], capture_output=True, text=True).stdout
                self.assertRegex(said, program + r" \d+\.\d+\.\d+ \((unknown|[0-9a-f]{12,}(-dirty)?)\)\n")
                self.wait_log(self.start(program), said.strip())

    def lines(self, program, form):
        process = self.start(program, "--log-format", form)
        process.send_signal(signal.SIGHUP)
        self.wait_log(process, "settings read again")
        process.terminate()
        self.assertEqual(process.wait(20), 0)
        return process.log().splitlines()

    def test_every_line_that_is_logged_parses(self):
        for program in DAEMONS:
            with self.subTest(program):
                lines = self.lines(program, "json")
                events = [json.loads(line) for line in lines]
                self.assertGreater(len(events), 1)
                self.assertEqual({tuple(event) for event in events}, {("time", "level", "component", "message")})
                for line in self.lines(program, "logfmt"):
                    pairs = [word.split("=", 1)[0] for word in shlex.split(line)]
                    self.assertEqual(pairs, ["time", "level", "component", "message"], line)
                for line in self.lines(program, "text"):
                    self.assertRegex(line, TEXT)

    def test_level_and_format_change_while_it_runs(self):
        config = self.folder / "settings.yaml"
        for program in DAEMONS:
            with self.subTest(program):
                config.write_text("log_level: info\n")
                process = self.start(program, "--config", config)
                config.write_text("log_level: debug\nlog_format: json\n")
                process.send_signal(signal.SIGHUP)
                self.wait_log(process, "settings read again")
                last = json.loads(harness.wait_for(lambda: process.log().splitlines())[-1])
                self.assertIn(last["level"], ("info", "warning", "debug"))
                self.assertIn("log_format: 'xml' is none of", self.said(program, config, process))

    def said(self, program, config, process):
        config.write_text("log_format: xml\n")
        process.send_signal(signal.SIGHUP)
        self.wait_log(process, "the old ones hold")
        return process.log().replace("--log-format: 'xml'", "log_format: 'xml'")


if __name__ == "__main__":
    unittest.main()
