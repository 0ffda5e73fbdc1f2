"""What the tests of the daemons' manners share: starting one, its ready line, its log.

    class TlsTest(daemon_case.DaemonCase): ...
"""
import re
import subprocess

import harness


class DaemonCase(harness.ProcessCase):
    def settings(self, program):
        """What every test needs, as variables, which flags beat: free ports, files in the folder."""
        own = {"fathom-collector": {"FATHOM_GRPC": "127.0.0.1:0", "FATHOM_STORE": ":memory:"},
               "fathomd": {"FATHOM_SHM_DIR": f"{self.folder}/shm", "FATHOM_STACK_TOOL": ""},
               "fathom-cordon": {"FATHOM_CORDON_AUDIT": f"{self.folder}/audit.jsonl", "FATHOM_CORDON_BACKEND": "webhook",
                                 "FATHOM_CORDON_WEBHOOK_URL": "http://127.0.0.1:1", "FATHOM_CORDON_POLL_S": "0.1",
                                 "FATHOM_CORDON_HTTP": "127.0.0.1:0"}}
        return {"FATHOM_HTTP": "127.0.0.1:0", **own[program]}

    def start(self, program, *arguments, preexec_fn=None, **environment):
        """The process; `where` on it are the addresses of its ready line, `log` its log so far."""
        log = self.folder / f"{program}.{len(self.processes)}.log"
        with open(log, "wb") as file:
            process = subprocess.Popen([harness.BUILD / program, *arguments], stdout=subprocess.PIPE, stderr=file, text=True,
                                       preexec_fn=preexec_fn, env=harness.environment(**self.settings(program), **environment))
        self.processes.append(process)
        process.log = log.read_text
        process.ready = process.stdout.readline()
        process.where = dict(re.findall(r"(grpc|http)=(\S+)", process.ready))
        self.assertTrue(process.where, process.log())
        return process

    def refused(self, program, *arguments):
        """What it says when it does not start."""
        run = subprocess.run([harness.BUILD / program, *arguments], capture_output=True, text=True, timeout=30,
                             env=harness.environment(**self.settings(program)))
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
        return run.stderr

    def fathom(self, *arguments, **environment):
        return subprocess.run([harness.BUILD / "fathom", *arguments], capture_output=True, text=True, timeout=30,
                              env=harness.environment(**environment))

    def wait_log(self, process, words, seconds=60):
        harness.wait_for(lambda: words in process.log(), seconds)
