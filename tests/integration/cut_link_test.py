#!/usr/bin/env python3
"""A real job whose link between two ranks is cut: the link is named, from its sockets.

Runs in a network namespace of its own, where routing rules can drop what two sockets send each other.
Skips where the machine allows no namespace, or has no `ip` or `ss`.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import harness

RANKS = 4
CUT = {1, 3}  # of one data group: ranks 0 and 2 wait behind them
INSIDE = "FATHOM_TEST_INSIDE_NAMESPACE"
# Rules are asked in the order of their numbers: room for one before that of local addresses.
PREPARE = "ip link set lo up && ip rule add pref 100 lookup local && ip rule del pref 0"


def enter():
    """Goes on in a namespace of its own; 77 where that cannot be."""
    if not all(map(shutil.which, ("unshare", "ip", "ss"))):
        sys.exit(harness.SKIPPED)
    into = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    probe = f"{PREPARE} && ip rule add pref 10 ipproto tcp sport 1 dport 1 blackhole"
    if subprocess.run([*into, "sh", "-c", probe], capture_output=True).returncode != 0:
        print("skipped: no network namespace with routing rules")
        sys.exit(harness.SKIPPED)
    os.execvpe(into[0], [*into, sys.executable, __file__], {**os.environ, INSIDE: "1"})


def ranks_by_pid():
    """The workers of our job: all in this namespace that have a rank."""
    ours, found = os.readlink("/proc/self/ns/net"), {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/ns/net") == ours:
                rank = re.search(rb"(?:^|\0)RANK=(\d+)\0", pathlib.Path(f"/proc/{pid}/environ").read_bytes())
                found.update({int(pid): int(rank[1])} if rank else {})
        except OSError:
            pass
    return found


def paths():
    """(rank, peer rank, its port, the peer's port) of each connection between two ranks."""
    ranks, ends = ranks_by_pid(), {}
    listed = subprocess.run(["ss", "-tnpH", "state", "established"], capture_output=True, text=True, check=True).stdout
    for own, peer, pid in re.findall(r":(\d+)\s+\S+:(\d+)\s.*pid=(\d+)", listed):
        if int(pid) in ranks:
            ends[own, peer] = ranks[int(pid)]
    return [(rank, ends[peer, own], own, peer) for (own, peer), rank in ends.items() if (peer, own) in ends]


class CutLink(unittest.TestCase):
    def setUp(self):
        subprocess.run(PREPARE, shell=True, check=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-link-"))
        self.addCleanup(shutil.rmtree, self.folder)
        job = harness.torchrun(harness.ROOT / "tests/truth/jobs/hang.py", "--iterations", 4000, ranks=RANKS)
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            self.process = subprocess.Popen(
                [harness.BUILD / "fathom", "run", "--job", "cut", "--", *job], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env=harness.environment(OMP_NUM_THREADS="1", PYTHONUNBUFFERED="1", GLOO_SOCKET_IFNAME="lo"))
        self.addCleanup(harness.end, self.process)

    def said(self, file, words):
        return re.search(words, (self.folder / file).read_text())

    def cut(self):
        between = [(own, peer) for rank, other, own, peer in paths() if {rank, other} == CUT]
        self.assertGreaterEqual(len(between), 2, "both directions of one connection at least")
        for own, peer in between:
            subprocess.run(["ip", "rule", "add", "pref", "10", "ipproto", "tcp", "sport", own, "dport", peer, "blackhole"],
                           check=True)

    def convictions(self, url):
        with urllib.request.urlopen(f"{url}api/v1/verdicts?job=cut", timeout=10) as reply:
            verdicts = json.load(reply)["verdicts"]
        return [v for v in verdicts if v["grade"] in ("established", "supported")]

    def test_it_is_named_with_both_ends_and_nothing_else_is(self):
        harness.wait_for(lambda: self.said("out", "iteration 30:"), 90)
        url = self.said("err", r"fathom: page (\S+)")[1]
        self.assertEqual(self.convictions(url), [])
        self.cut()
        verdicts = harness.wait_for(lambda: self.convictions(url), 40)
        self.assertEqual([(v["cause"], v["entity"]["type"], set(v["entity"]["ranks"])) for v in verdicts],
                         [("communication_hang", "link", CUT)])
        self.assertIn("The path between ranks 1 and 3 moves nothing", verdicts[0]["sentence"])


if __name__ == "__main__":
    harness.require_torch()
    if INSIDE not in os.environ:
        enter()
    unittest.main()
