#!/usr/bin/env python3
"""`fathom run` changes nothing of its command: input, output, environment, signals, exit code.

The command is real, the agent and collector are stand-ins that only say that they are ready.
"""
import os
import pty
import secrets
import shutil
import signal
import subprocess
import sys
import time
import unittest

from harness import RunTest, alive, children, environment, end, run, run_folder_of, start, wait_for

# Prints a line per signal it gets; ends by itself when told to on stdin, or by SIGINT's third.
LISTENER = """
import os, signal, sys, time
def got(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM: os._exit(5)
for name in ("SIGINT", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGTERM"):
    signal.signal(getattr(signal, name), got)
print("ready", os.getpid(), os.getpgrp(), flush=True)
while True: time.sleep(60)
"""


class Transparent(RunTest):
    def setUp(self):
        super().setUp()
        self.fathom = self.stage().fathom

    def traced(self, *command, **options):
        return run([self.fathom, "run", "--", *command], **options)

    def same(self, *command, **options):
        """Runs it with and without fathom; stdout and exit code must be equal."""
        plain, traced = run(command, **options), self.traced(*command, **options)
        self.assertEqual(traced.stdout, plain.stdout)
        expected = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        self.assertEqual(traced.returncode, expected, traced.stderr)
        return traced

    def test_exit_codes(self):
        for code in (0, 1, 2, 7, 255):
            self.same("sh", "-c", f"exit {code}")

    def test_deaths_by_signal(self):
        for name in ("KILL", "TERM", "SEGV", "INT"):
            self.same("sh", "-c", f"kill -{name} $$")

    def test_input_and_output_byte_by_byte(self):
        data = secrets.token_bytes(3_000_000)
        traced = self.same("cat", input=data)
        self.assertEqual(traced.stdout, data)

    def test_streams_stay_apart(self):
        traced = self.same("sh", "-c", "echo out; echo err >&2")
        self.assertEqual(traced.stdout, b"out\n")
        self.assertIn(b"err\n", traced.stderr)

    def test_environment_differs_by_what_is_documented(self):
        env = environment(PYTHONPATH="/mine", ODD="a\nb", EMPTY="")
        plain = set(run(["env", "-0"], env=env).stdout.split(b"\0"))
        traced = set(self.traced("env", "-0", env=env).stdout.split(b"\0"))
        added = {e.split(b"=")[0] for e in traced - plain}
        self.assertEqual(added, {b"LD_PRELOAD", b"PYTHONPATH", b"FATHOM_SHM_DIR", b"FATHOM_JOB", b"NCCL_PROFILER_PLUGIN"})
        self.assertEqual({e for e in plain - traced}, {b"PYTHONPATH=/mine"})
        self.assertTrue(any(e.startswith(b"PYTHONPATH=") and e.endswith(b":/mine") for e in traced))

    def test_descriptors_signals_and_group_are_inherited(self):
        # SigQ counts the signals that wait for any process of the user.
        probe = ("import os; print(sorted(os.listdir('/proc/self/fd'))); "
                 "print([l for l in open('/proc/self/status') if l[:3] == 'Sig' and l[:4] != 'SigQ']); print(os.getpgrp())")
        self.same(sys.executable, "-c", probe)

    def test_ignored_signals_stay_ignored(self):
        def ignore():
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
        self.same("grep", "^Sig[^Q]", "/proc/self/status", preexec_fn=ignore)
        self.same("sh", "-c", "exit 9", preexec_fn=ignore)

    def test_commands_that_cannot_run(self):
        for command, code in (("no-such-command-here", 127), ("/no/such", 127), ("/etc/passwd", 126),
                              ("/etc", 126), ("", 127)):
            traced = self.traced(command)
            self.assertEqual(traced.returncode, code, command)
            self.assertEqual(traced.stderr.count(b"\n"), 1, traced.stderr)
            self.assertIn(b"fathom: cannot run '" + command.encode(), traced.stderr)

    def test_processes_that_end_in_their_own_way(self):
        for text in ("import os; os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
                     "import os; os.execvp('sh', ['sh', '-c', 'exit 4'])",
                     "import os, sys; pid = os.fork(); sys.exit(6 if pid == 0 else os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) + 1)",
                     "import os, time; os.fork() or time.sleep(0.2); os._exit(0)"):
            self.same(sys.executable, "-c", text)

    def test_a_closed_stderr_costs_nothing(self):
        for redirection in ("2>&-", "2>/dev/full"):
            done = run(["sh", "-c", f'"$0" run -- sh -c "echo hi; exit 3" {redirection}', self.fathom])
            self.assertEqual((done.returncode, done.stdout), (3, b"hi\n"), redirection)

    def test_a_reader_sees_the_end_of_output_when_the_command_ends(self):
        process = start([self.fathom, "run", "--", "sh", "-c", "echo x; exec >&-; exec 2>&-; read y < /dev/zero"],
                        start_new_session=True)
        self.addCleanup(end, process)
        self.assertEqual(process.stdout.readline(), b"x\n")
        # Neither agent, collector nor witness holds the pipe; only fathom itself still does.
        holders = [pid for pid in children(process.pid)
                   if any(os.path.realpath(f"/proc/{pid}/fd/{fd}") == os.path.realpath(f"/proc/{process.pid}/fd/1")
                          for fd in os.listdir(f"/proc/{pid}/fd"))]
        self.assertEqual(holders, [])


class Signals(RunTest):
    def setUp(self):
        super().setUp()
        self.process = start([self.stage().fathom, "run", "--", sys.executable, "-uc", LISTENER],
                             start_new_session=True)
        self.addCleanup(end, self.process)
        word, self.pid, group = self.process.stdout.readline().split()
        self.assertEqual((word, int(group)), (b"ready", self.process.pid), "the group must be ours")

    def finish(self):
        out, _ = self.process.communicate(timeout=20)
        return out.split()

    def test_sent_to_fathom_alone_reaches_the_command_once(self):
        for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            self.process.send_signal(number)
            if number != signal.SIGTERM:
                self.assertEqual(self.process.stdout.readline().strip(), number.name.encode())
        self.assertEqual(self.finish(), [b"SIGTERM"])
        self.assertEqual(self.process.returncode, 5)

    def test_sent_to_the_group_reaches_the_command_once(self):
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGINT):
            os.killpg(self.process.pid, number)
            self.assertEqual(self.process.stdout.readline().strip(), number.name.encode())
        time.sleep(0.3)  # longer than the relay's patience: a second delivery would come now
        os.kill(int(self.pid), signal.SIGTERM)
        self.assertEqual(self.finish(), [b"SIGTERM"])

    def test_stops_and_continues_with_fathom(self):
        os.kill(int(self.pid), signal.SIGSTOP)
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(), [b"SIGTERM"])

    def test_killing_fathom_ends_its_companions_and_not_the_command(self):
        companions = [p for p in children(self.process.pid) if p != int(self.pid)]
        self.assertEqual(len(companions), 3)  # agent, collector, witness
        self.process.kill()
        self.process.wait()
        wait_for(lambda: not any(map(alive, companions)))
        self.assertTrue(alive(int(self.pid)))
        os.kill(int(self.pid), signal.SIGKILL)
        # What it left in shared memory, the next run removes; here the test does, being younger.
        shutil.rmtree(run_folder_of(self.process.pid))


class Terminal(RunTest):
    def terminal(self, *command):
        """fathom in a session with a terminal of its own: (pid, descriptor of the terminal)."""
        stage = self.stage()
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(stage.fathom, [stage.fathom, "run", "--", *command], environment())
        self.addCleanup(os.close, fd)
        return pid, fd

    def read_until(self, fd, text, seen=b""):
        while text not in seen:
            seen += os.read(fd, 4096)
        return seen

    def test_ctrl_c_reaches_the_command_once(self):
        pid, fd = self.terminal(sys.executable, "-uc", LISTENER)
        self.read_until(fd, b"ready")
        os.write(fd, b"\x03")
        seen = self.read_until(fd, b"SIGINT")
        time.sleep(0.3)
        os.kill(pid, signal.SIGTERM)
        seen = self.read_until(fd, b"SIGTERM", seen)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        self.assertEqual(seen.count(b"SIGINT"), 1)

    def test_ctrl_z_stops_both_and_fg_continues_both(self):
        # A little shell: job control needs a parent of the same session in another group.
        stage = self.stage()
        pid, fd = pty.fork()
        if pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"],
                      environment(PS1="$ ", FATHOM=stage.fathom))
        self.addCleanup(os.close, fd)
        os.write(fd, b"$FATHOM run -- sh -c 'echo up; read x; exit 6'\n")
        self.read_until(fd, b"up\r\n")
        os.write(fd, b"\x1a")
        self.read_until(fd, b"Stopped")
        os.write(fd, b"echo mid=$((3+4))\n")
        self.read_until(fd, b"mid=7")
        os.write(fd, b"fg\n")
        self.read_until(fd, b"run --")
        os.write(fd, b"\necho code=$?\n")
        self.read_until(fd, b"code=6")
        os.write(fd, b"exit\n")
        os.waitpid(pid, 0)


if __name__ == "__main__":
    unittest.main()
