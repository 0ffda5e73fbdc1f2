#!/usr/bin/env python3
"""From a sick node to a job that runs again: what `deploy/demo recover` runs after the build.

A real elastic torchrun on four nodes with a fifth that stands by, all on this machine; exit code 0 only if the job
really went on, on the standby, from its checkpoint. --hold leaves the answer to `fathom recover run` to you.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "tests/integration")]
import elastic_cluster  # noqa: E402  the nodes that the recovery is tested with
from demo_story import Failed, Stages, end_by_signals, say  # noqa: E402
from elastic_cluster import JOB, NODES, SICK, STANDBY  # noqa: E402

FIRST_SLOW = 80  # iteration; fathom wants some ten healthy ones, and a job's first are unlike the rest
VERDICT_S = 600  # on a very busy machine iterations take ten times as long


class Story(Stages):
    def __init__(self, cluster, by_hand):
        super().__init__()
        self.cluster, self.by_hand = cluster, by_hand

    def run_job(self):
        self.stage("an elastic torchrun on n1 to n4; n5 has an agent and nothing to do")
        self.cluster.start_job()
        self.cluster.wait_for("four traced ranks", lambda: self.ranks() == len(NODES), 240)
        say(f"page http://{self.cluster.collector}/")
        say(f"from step {FIRST_SLOW} on {SICK} needs a multiple of the time for the same step")

    def ranks(self):
        jobs = self.cluster.get("jobs")["jobs"]
        return next((job["ranks"] for job in jobs if job["name"] == JOB), 0)

    def see_verdict(self):
        self.stage("the verdict")
        verdict = self.cluster.wait_for("an established verdict", self.cluster.established, VERDICT_S)
        say(verdict["sentence"])
        if verdict["entity"]["node"] != SICK:
            raise Failed("that is not what was wrong with the job")

    def plan(self):
        self.stage("the plan")
        say(f"$ fathom recover plan {JOB} --checkpoints … --left-hours 10 --restart-seconds 30")
        plan = self.cluster.recover("plan", *self.wishes())
        say(plan.stdout.rstrip())
        if plan.returncode != 2 or STANDBY not in plan.stdout:
            raise Failed("it does not advise to act: " + plan.stderr)
        shown = self.cluster.get(f"jobs/{JOB}/recovery?left_hours=10&restart_seconds=30")["plan"]
        say(f"the page shows it too: {shown['isolate']} out, {shown['spare']} in")

    def wishes(self):
        return ["--checkpoints", self.cluster.checkpoints, "--left-hours", "10", "--restart-seconds", "30"]

    def act(self):
        self.stage("the recovery" if self.by_hand else "the recovery; --yes answers for you")
        words = self.cluster.recovery("run", *self.wishes(), *([] if self.by_hand else ["--yes"]))
        if subprocess.run([str(word) for word in words], env=self.cluster.asking()).returncode != 0:
            raise Failed("fathom recover run did not bring the job back")

    def goes_on(self):
        self.stage("does the job really go on there?")
        placed = self.cluster.placed()
        say("now: " + ", ".join(f"rank {rank} on {node}" for rank, node in sorted(placed.items())))
        if sorted(placed.values()) != sorted({*NODES, STANDBY} - {SICK}):
            raise Failed("the ranks are not where the plan says")
        before = max(self.cluster.lines(STANDBY, "step"))
        self.cluster.wait_for("twenty more steps", lambda: max(self.cluster.lines(STANDBY, "step")) >= before + 20, 120)
        first = self.cluster.lines(STANDBY, "loaded")[-1]
        last_sick = max(self.cluster.lines(SICK, "step"))
        say(f"{STANDBY} loaded the checkpoint of step {first} and is at {max(self.cluster.lines(STANDBY, 'step'))}; "
            f"{SICK} did its last, {last_sick}")
        if not 0 < first <= last_sick + 1:
            raise Failed("it did not go on from its checkpoint")

    def compare(self):
        self.stage("its output, against a job from the same checkpoint that nobody disturbed")
        first = self.cluster.lines(STANDBY, "loaded")[-1]
        result = self.cluster.finish()
        last = int(result.splitlines()[0])
        if result != self.cluster.undisturbed(first, last):
            raise Failed("the parameters differ")
        say(f"after step {last} all parameters are the same, bit by bit")

    def record(self):
        self.stage("the record")
        say(self.cluster.recover("show").stdout.rstrip())
        [record] = self.cluster.get(f"jobs/{JOB}/recovery")["recoveries"]
        if record["state"] != "recovered":
            raise Failed(f"the collector has it as {record['state']}")
        stages = self.cluster.get("losses")["recoveries"]["stages"]
        say("in the collector, for the page and the month: "
            + ", ".join(f"{each['stage']} {60 * each['minutes']:.0f} s" for each in stages))

    def tell(self):
        for stage in (self.run_job, self.see_verdict, self.plan, self.act, self.goes_on, self.record, self.compare):
            stage()


def main():
    end_by_signals()
    cluster = elastic_cluster.ElasticCluster(ROOT / "build/release", ROOT / ".venv/bin/python", FIRST_SLOW)
    try:
        with cluster:
            Story(cluster, "--hold" in sys.argv[1:]).tell()
        say("\ndemo recover: all of it happened")
        return 0
    except (Failed, RuntimeError) as failure:
        say(f"\ndemo recover: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\ndemo recover: interrupted; cleaned up")
        return 130


if __name__ == "__main__":
    sys.exit(main())
