#!/usr/bin/env python3
"""From a slow node to a drained one and back: what `deploy/demo cordon` runs after the build.

Real Slurm, real Alertmanager, real PyTorch job, all on this machine; exit code 0 only if every
stage did what it says. --hold leaves approving and undoing to you, on the page or in a second terminal.
"""
import json
import signal
import sys
import time

import parts
from parts import NODES, SLOW_RANK, Parts, get_json, wait_for

from demo_story import SIGNALS, Failed, Stages, end_by_signals, say  # found by way of parts

FIRST_SLOW = 80  # iteration; fathom wants some ten healthy ones, and a job's first are unlike the rest
VERDICT_S = 600  # on a very busy machine iterations take ten times as long


class Story(Stages):
    def __init__(self, all_parts, by_hand):
        super().__init__()
        self.parts, self.by_hand, self.latency = all_parts, by_hand, {}

    def bring_up(self):
        self.stage("a Slurm cluster of four nodes, Alertmanager, a collector, an agent for each node, fathom-cordon")
        self.parts.start_slurm()
        self.parts.start_alertmanager()
        self.parts.start_fathom()
        self.parts.start_cordon()
        states = " ".join(f"{node}={self.parts.slurm.state(node)[0]}" for node in NODES)
        say(f"Slurm: {states}")
        say(f"page http://{self.parts.collector}/   Alertmanager {self.parts.alertmanager}")
        say("fathom-cordon: mode approve; waits 2 s where a real cluster would wait 300")

    def run_job(self):
        self.stage("a PyTorch job of four ranks, one on each node; Slurm's TaskProlog switches the tracer on")
        self.parts.start_job(FIRST_SLOW)
        slow = NODES[SLOW_RANK]
        say(f"from iteration {FIRST_SLOW} on {slow} needs a multiple of the time for the same step")
        job, _ = wait_for("four traced ranks", self.whole_job, 120)
        self.check_placement(job)

    def whole_job(self):
        if self.parts.job.poll() is not None:
            raise Failed("the job ended: " + self.parts.tail())
        jobs = get_json(f"http://{self.parts.collector}/api/v1/jobs")["jobs"]
        return next((j for j in jobs if j["ranks"] == len(NODES)), None)

    def check_placement(self, job):
        ranks = get_json(f"http://{self.parts.collector}/api/v1/jobs/{job['name']}")["rank_info"]
        placed = {r["rank"]: r["node"] for r in ranks}
        say(f"job {job['name']}: " + ", ".join(f"rank {r} on {n}" for r, n in sorted(placed.items())))
        if placed.get(SLOW_RANK) != NODES[SLOW_RANK]:
            raise Failed("Slurm placed the ranks in another order")

    def see_verdict(self):
        self.stage("the verdict")
        verdicts, seen = wait_for("an established verdict", self.parts.established, VERDICT_S)
        self.verdict, self.seen = verdicts[0], seen
        say(self.parts.fathom("explain", self.verdict["id"]))
        if self.verdict["entity"].get("node") != NODES[SLOW_RANK] or self.verdict["cause"] != "compute_slow":
            raise Failed("that is not what was wrong with the job")

    def see_alert(self):
        self.stage("the alert in Alertmanager")
        node = NODES[SLOW_RANK]
        alerts, at = wait_for("the alert", lambda: self.parts.alerts("FathomVerdict", node=node))
        self.latency["verdict seen at the collector → alert in Alertmanager"] = max(0.0, at - self.seen)
        labels = alerts[0]["labels"]
        say("  ".join(f"{k}={labels[k]}" for k in ("alertname", "severity", "episode", "cause", "node")))
        say(alerts[0]["annotations"]["summary"])

    def see_advice(self):
        self.stage("the advice")
        actions, _ = wait_for("advice", lambda: self.parts.actions("advised"))
        self.action = actions[0]
        wait_for("a node seen slow for long enough", lambda: "waits for" in self.parts.fathom("action", "plan"))
        say(self.parts.fathom("action", "plan"))
        wait_for("the advice in Alertmanager", lambda: self.parts.alerts("FathomNodeAdvice", node=self.action["node"]))
        state = self.parts.slurm.state(self.action["node"])
        say(f"{self.action['node']} is {state[0]}: nothing has been done yet")
        if "drain" in state[0]:
            raise Failed("it was drained without an approval")

    def person(self, verb, phase):
        """A person's command. Returns when it was given."""
        command = f"fathom action {verb} {self.action['id']}"
        if not self.by_hand:
            say(f"$ {command}")
            given = time.monotonic()
            say(self.parts.fathom("action", verb, self.action["id"]))
            return given
        variables = " ".join(f"{k}={v}" for k, v in self.parts.person.items())
        say(f"on the page, http://{self.parts.collector}/login, with the token {self.parts.token.read_text()},\n"
            f"or in a second terminal:\n  {variables} \\\n  {parts.BUILD}/{command}")
        return wait_for(f"your {verb}", lambda: self.done_by_hand(phase), 1800)[1]

    def done_by_hand(self, phase):
        withdrawn = self.parts.actions("withdrawn")
        if withdrawn:
            raise Failed("fathom took its advice back before you answered: " + str(withdrawn[0].get("text", "")))
        return self.parts.actions(phase)

    def approve(self):
        self.stage("a person approves")
        given = self.person("approve", "acted")
        node, reason = self.action["node"], f"fathom:{self.action['id']}"
        (state, whole), at = wait_for("a drain with our reason", lambda: self.drained(node, reason))
        self.latency["approval typed → node drained in Slurm"] = max(0.0, at - given)
        say(f"{node} is {state}, reason \"{whole}\"")
        wait_for("the notice in Alertmanager", lambda: self.parts.alerts("FathomNodeHeld", node=node))
        others = {n: self.parts.slurm.state(n)[0] for n in NODES if n != node}
        if any("drain" in s for s in others.values()):
            raise Failed(f"other nodes were drained: {others}")

    def drained(self, node, reason):
        state = self.parts.slurm.state(node)
        return state if "drain" in state[0] and state[1].startswith(reason) else None

    def no_new_work(self):
        self.stage("the job ends; the node gets no new one")
        node = self.action["node"]
        self.parts.end_job()
        wait_for("a drained node", lambda: self.parts.slurm.state(node)[0] == "drained")
        placed, words = self.parts.place_work(node)
        say(f"{node} is drained; a new job for it: {' '.join(words)}")
        if placed:
            raise Failed("Slurm gave it work")
        wait_for("the alert's end", lambda: not self.parts.alerts("FathomVerdict", node=node))
        say("the verdict is over, and so is its alert")

    def undo(self):
        self.stage("a person undoes it")
        node = self.action["node"]
        given = self.person("undo", "undone")
        _, at = wait_for("a free node", lambda: self.parts.slurm.state(node) == ("idle", "none"))
        self.latency["undo typed → node free in Slurm"] = max(0.0, at - given)
        placed, words = self.parts.place_work(node)
        if not placed:
            raise Failed("the node is idle and gets no work: " + " ".join(words))
        say(f"{node} is idle, reason none; a new job ran on it")

    def ledger(self):
        self.stage("what was done, by whom")
        say(self.parts.fathom("get", "actions"))
        for line in (self.parts.folder / "audit.jsonl").read_text().splitlines():
            record = json.loads(line)
            say(f"{record['seq']}  {record['kind']:14} by {record['actor']:14} {record.get('text', '')}")
        verify = self.parts.start("verify", parts.BUILD / "fathom-cordon", "--verify-audit", "--audit",
                                  self.parts.folder / "audit.jsonl", pipe=True)
        say("the audit log: " + verify.stdout.read().strip())
        if verify.wait(timeout=30) != 0:
            raise Failed("the chain of the audit log is broken")

    def tell(self):
        for stage in (self.bring_up, self.run_job, self.see_verdict, self.see_alert, self.see_advice, self.approve,
                      self.no_new_work, self.undo, self.ledger):
            stage()
        self.stage("measured")
        for what, seconds in self.latency.items():
            say(f"{what:52} {1000 * seconds:6.0f} ms")


def main():
    end_by_signals()
    all_parts = Parts()
    try:
        Story(all_parts, "--hold" in sys.argv[1:]).tell()
        say("\ndemo cordon: all of it happened")
        return 0
    except (Failed, RuntimeError) as failure:
        say(f"\ndemo cordon: {failure}\n{all_parts.tail()}")
        return 1
    except KeyboardInterrupt:
        say("\ndemo cordon: interrupted; cleaning up")
        return 130
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not leave anything behind
        all_parts.close()


if __name__ == "__main__":
    why = parts.slurm_cluster.why_not_here()
    sys.exit(main() if not why else f"demo cordon: no Slurm here: {why}")
