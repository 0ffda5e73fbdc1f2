#!/usr/bin/env python3
"""`fathom run` with the real agent, collector and tracer, on jobs without PyTorch."""
import json
import os
import signal
import socket
import subprocess
import sys
import unittest
import urllib.request

from harness import BUILD, RunTest, alive, children, end, environment, run, run_folder_of, start, wait_for

FATHOM = str(BUILD / "fathom")


def serve_collector():
    """A collector of its own: (process, gRPC address, HTTP address)."""
    process = subprocess.Popen([BUILD / "fathom-collector", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0",
                                "--store", ":memory:"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env=environment())
    words = dict(w.split("=") for w in process.stdout.readline().split()[2:])
    return process, words["grpc"], words["http"]


class Real(RunTest):
    def test_up_traced_and_down(self):
        done = run([FATHOM, "run", "--", "sh", "-c",
                    "echo $LD_PRELOAD; grep -c libfathom.so /proc/self/maps; ls -d $FATHOM_SHM_DIR; exit 3"])
        self.assertEqual(done.returncode, 3, done.stderr)
        preload, mapped, folder = done.stdout.split()
        self.assertTrue(preload.startswith(os.fsencode(BUILD / "libfathom/$LIB/libfathom.so")), preload)
        self.assertGreater(int(mapped), 0)
        self.assertFalse(os.path.exists(folder))
        self.assertIn(b"fathom: page http://127.0.0.1:", done.stderr)
        self.assertIn(b"fathom: nothing was traced", done.stderr)

    def test_the_page_and_the_api_are_up_while_the_command_runs(self):
        process = start([FATHOM, "run", "--", "sh", "-c", "echo up; sleep 60"], start_new_session=True)
        self.addCleanup(end, process)
        url = process.stderr.readline().split()[-1].decode()
        self.assertEqual(process.stdout.readline(), b"up\n")
        with urllib.request.urlopen(url + "api/v1/jobs", timeout=10) as reply:
            self.assertEqual(json.load(reply), {"jobs": []})
        listed = run([FATHOM, "get", "nodes", "--collector-http", url[len("http://"):-1]])
        self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_jobs_that_end_in_their_own_way(self):
        for text, code in (("import os; os._exit(3)", 3),
                           ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137),
                           ("import os; os.execvp('sh', ['sh', '-c', 'exit 4'])", 4),
                           ("import os, sys; p = os.fork(); sys.exit(6 if p == 0 else os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))", 6),
                           ("import subprocess, sys; sys.exit(subprocess.run(['sh', '-c', 'exit 8']).returncode)", 8),
                           ("import multiprocessing as m, sys; p = m.Process(target=sys.exit, args=(9,)); p.start(); p.join(); sys.exit(p.exitcode)", 9)):
            done = run([FATHOM, "run", "--", sys.executable, "-c", text])
            self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
            self.assertNotIn(b"Traceback", done.stderr)

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            done = run([FATHOM, "run", "--http", address, "--", "sh", "-c", "exit 3"])
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertIn(address.encode(), done.stderr)
        self.assertIn(b"the command runs untraced", done.stderr)

    def test_a_named_port(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = "127.0.0.1:%d" % free.getsockname()[1]
        done = run([FATHOM, "run", "--http", address, "--", "true"])
        self.assertIn(b"fathom: page http://%s/\n" % address.encode(), done.stderr)

    def test_a_collector_that_is_not_there(self):
        done = run([FATHOM, "run", "--collector", "127.0.0.1:1", "--collector-http", "127.0.0.1:1", "--",
                    "sh", "-c", "grep -c libfathom.so /proc/self/maps > /dev/null && exit 4"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count(b"no collector answers at 127.0.0.1:1"), 1, done.stderr)

    def test_a_collector_that_is_there(self):
        collector, grpc, http = serve_collector()
        self.addCleanup(collector.stdout.close)
        self.addCleanup(collector.wait)
        self.addCleanup(collector.kill)
        process = start([FATHOM, "run", "--collector", grpc, "--collector-http", http, "--",
                         "sh", "-c", "echo up; sleep 60"], start_new_session=True)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"up\n")

        def connected():
            done = run([FATHOM, "get", "nodes", "-o", "json", "--collector-http", http])
            return any(n["connected"] for n in json.loads(done.stdout)["nodes"])
        wait_for(connected)
        self.assertEqual(children(process.pid, "fathom-collector"), [])
        self.assertEqual(len(children(process.pid, "fathomd")), 1)

    def test_kill_9_of_agent_or_collector(self):
        for program in ("fathomd", "fathom-collector"):
            process = start([FATHOM, "run", "--", "sh", "-c", "echo up; trap 'exit 4' USR1; while :; do sleep 0.1; done"],
                            start_new_session=True)
            self.addCleanup(end, process)
            process.stdout.readline()
            os.kill(children(process.pid, program)[0], signal.SIGKILL)
            line = process.stderr.readline()
            while b" ended (killed by signal 9 (Killed))" not in line:
                self.assertTrue(line)
                line = process.stderr.readline()
            self.assertIn(program.encode(), line)
            process.send_signal(signal.SIGUSR1)
            process.communicate(timeout=30)
            self.assertEqual(process.returncode, 4)

    def test_companions_die_with_a_killed_run(self):
        process = start([FATHOM, "run", "--", "sh", "-c", "echo up; sleep 60"], start_new_session=True)
        self.addCleanup(end, process)
        process.stdout.readline()
        companions = children(process.pid, "fathomd") + children(process.pid, "fathom-collector")
        self.assertEqual(len(companions), 2)
        folder = run_folder_of(process.pid)
        process.kill()
        wait_for(lambda: not any(map(alive, companions)))
        # The next run of the same user removes what was left; that takes a folder a minute old.
        os.utime(folder, (0, 0))
        run([FATHOM, "run", "--", "true"])
        self.assertFalse(folder.exists())


if __name__ == "__main__":
    unittest.main()
