#!/usr/bin/env python3
"""The owner of a job dies in the middle of a fault: what `deploy/demo cluster` runs after the build.

Three collectors, a real nats-server and a real PostgreSQL on this machine, and a real 4-rank PyTorch job whose agent
reports to whichever collector it reaches. The collector that owns the job is killed with SIGKILL while the job is
slow; exit code 0 only if another went on with the same verdict. Then the new owner is stopped, and hands over.
--hold keeps everything up until Ctrl-C.
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy"), str(ROOT / "tests/integration")]
from collector_cluster import CollectorCluster, missing  # noqa: E402  the cluster that the tests use
from demo_story import Failed, Stages, end_by_signals, say  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FATHOM_BINARY_DIR", ROOT / "build/release"))
JOB = "demo-cluster"
NAMES = ("c1", "c2", "c3")
SICK = 2  # rank
FIRST_SLOW = 100  # iteration
LEASE_S = 3
VERDICT_S = 300  # on a very busy machine iterations take ten times as long
AFTER_S = 60


class Story(Stages):
    def __init__(self, cluster, hold):
        super().__init__()
        self.cluster, self.hold = cluster, hold
        self.job = None

    def set_up(self):
        self.stage("three collectors; NATS is their bus, PostgreSQL their history")
        for name in NAMES:
            self.cluster.add(name)
            say(f"{name}: page http://{self.cluster.where[name]['http']}/")
        self.cluster.wait_for("three members", lambda: all(
            self.cluster.metric(name, "fathom_cluster_members") == len(NAMES) for name in NAMES))

    def run_job(self):
        self.stage("a real 4-rank PyTorch job; its agent may connect to any of the three")
        doors = ",".join(self.cluster.where[name]["grpc"] for name in NAMES)
        words = [BUILD / "fathom", "run", "--job", JOB, "--collector", doors, "--collector-http",
                 self.cluster.where[NAMES[-1]]["http"], "--", ROOT / ".venv/bin/torchrun", "--nproc-per-node", "4",
                 ROOT / "deploy/demo_job/train.py", "--iterations", "100000", "--from-iteration", str(FIRST_SLOW),
                 "--fault", "slow-python", "--rank", str(SICK)]
        with open(self.cluster.folder / "job.log", "wb") as log:
            self.job = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, start_new_session=True,
                                        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"})
        self.cluster.wait_for("four traced ranks", lambda: (self.at(NAMES[0]) or {}).get("ranks") == 4, 120)
        say(f"{self.cluster.owner()} owns it; rank {SICK} gets slow at iteration {FIRST_SLOW}")

    def at(self, name):
        if self.job.poll() is not None:
            raise Failed("the job ended: " + (self.cluster.folder / "job.log").read_text(errors="replace")[-600:])
        return self.cluster.job(name, JOB)

    def open_verdict(self, name):
        return next((v for v in self.cluster.verdicts(name, JOB) if not v.get("until") and
                     SICK in v["entity"].get("ranks", []) and v["grade"] in ("established", "supported")), None)

    def see_verdict(self):
        self.stage("the verdict, as each of the three tells it")
        self.cluster.wait_for("a verdict", lambda: self.at(NAMES[0]) and self.open_verdict(NAMES[0]), VERDICT_S)
        said = {name: self.open_verdict(name) for name in NAMES}
        say(said[NAMES[0]]["sentence"])
        ids = {name: verdict and verdict["id"] for name, verdict in said.items()}
        say(", ".join(f"{name}: {number}" for name, number in ids.items()))
        if len(set(ids.values())) != 1 or None in ids.values():
            raise Failed("they do not tell the same")
        return ids[NAMES[0]]

    def goes_on(self, number, began, before):
        """Waits until another judges the job and its cost has grown; tells how long nobody did."""
        asked = self.cluster.living()[-1]
        cost = before["verdict"]["cost"]

        def judged():
            now = self.cluster.get(asked, f"verdicts/{number}")
            job = self.at(asked)
            return (now and job and job["iteration"] > before["iteration"] and
                    now["cost"] != cost and (now, job, time.monotonic() - began))

        verdict, job, gap = self.cluster.wait_for("verdict that goes on", judged, AFTER_S)
        owner = self.cluster.owner()
        say(f"{owner} owns the job now; its next word on {number} came {gap:.1f} s after that")
        missing_ones = self.missing(asked, before["iteration"])
        say(f"iteration {before['iteration']} then, {job['iteration']} now, {len(missing_ones)} missing between them")
        if missing_ones:
            raise Failed(f"iterations {missing_ones} were lost")
        if verdict["id"] != number or verdict.get("until"):
            raise Failed("it is another verdict, or it was closed")
        others = [v["id"] for v in self.cluster.verdicts(asked, JOB)
                  if v["id"] != number and not v.get("until") and v["entity"] == verdict["entity"]]
        if others:
            raise Failed(f"there are others of the same culprit: {others}")
        return gap

    def missing(self, name, then):
        """Of the iterations from a little before then to now, those that nobody knows of."""
        path = f"jobs/{JOB}/iterations?after={then - 10}&limit=1000"
        known = self.cluster.wait_for("iterations", lambda: self.cluster.get(name, path), AFTER_S)["iterations"]
        return sorted(set(range(then - 9, known[-1] + 1)) - set(known))

    def state(self, name, number):
        job = self.cluster.wait_for("job", lambda: self.at(name), AFTER_S)
        verdict = self.cluster.wait_for("verdict", lambda: self.cluster.get(name, f"verdicts/{number}"), AFTER_S)
        return {"iteration": job["iteration"], "verdict": verdict}

    def kill_owner(self, number):
        owner = self.cluster.owner()
        other = next(name for name in self.cluster.living() if name != owner)
        self.stage(f"kill -9 {owner}, which owns the job, in the middle of the fault")
        before = self.state(other, number)
        return self.goes_on(number, self.cluster.kill(owner), before)

    def stop_owner(self, number):
        owner = self.cluster.owner()
        other = next(name for name in self.cluster.living() if name != owner)
        self.stage(f"SIGTERM to {owner}: it hands over")
        before = self.state(other, number)
        began = time.monotonic()
        self.cluster.terminate(owner)
        return self.goes_on(number, began, before)

    def record(self, number):
        self.stage("the history, as PostgreSQL has it")
        say(self.cluster.sql("SELECT id, job, grade, cause, active FROM fathom.verdicts ORDER BY opened_ns"))
        say("token of the owner: " + self.cluster.sql("SELECT token FROM fathom.fences"))
        if self.cluster.sql(f"SELECT active FROM fathom.verdicts WHERE id = '{number}'") != "1":
            raise Failed("the verdict does not stand there")

    def tell(self):
        for stage in (self.set_up, self.run_job):
            stage()
        number = self.see_verdict()
        killed = self.kill_owner(number)
        stopped = self.stop_owner(number)
        self.record(number)
        if self.hold:
            say("\nCtrl-C ends it")
            signal.pause()
        return killed, stopped

    def end(self):
        if self.job is None or self.job.poll() is not None:
            return
        os.killpg(self.job.pid, signal.SIGTERM)
        try:
            self.job.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.job.pid, signal.SIGKILL)
            self.job.wait()


def main():
    end_by_signals()
    if missing():
        say(f"demo cluster: {', '.join(missing())} is missing; deploy/setup cluster installs it")
        return 1
    story = None
    try:
        with CollectorCluster(BUILD, LEASE_S) as cluster:
            story = Story(cluster, "--hold" in sys.argv[1:])
            try:
                killed, stopped = story.tell()
            finally:
                story.end()
        say(f"\ndemo cluster: the same verdict went on; nobody judged the job for {killed:.1f} s after kill -9 of its "
            f"owner (leases of {LEASE_S} s), and for {stopped:.1f} s after SIGTERM")
        return 0
    except (Failed, RuntimeError, OSError) as failure:
        say(f"\ndemo cluster: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\ndemo cluster: interrupted; cleaned up")
        return 130


if __name__ == "__main__":
    sys.exit(main())
