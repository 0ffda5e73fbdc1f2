"""One round of tests/faults/run: a random schedule of faults, and what must be true during and after it."""
import collections
import os
import random
import re
import signal
import statistics
import time

import harness
from parts import FRESH_S, HERE, Broken, Parts, played_train

FIRST_SLOW = 120
FIRST_SLOW_PLAYED = 200
UNFINISHED = 3  # iterations at the job's end whose boundary nothing closes
TOO_FULL = 1.7  # times what a healthy played iteration takes on a machine of its own
PLAYED_US = 58_000
AFTER_THE_END_S = 4  # so long no node is held any more


class Round(Parts):
    """run() raises Broken where a rule does not hold; `told` counts what was done."""

    def __init__(self, seed, faults, shim, played=False):
        super().__init__(seed, shim)
        self.played, self.first_slow = played, FIRST_SLOW_PLAYED if played else FIRST_SLOW
        self.draw, self.faults, self.told = random.Random(seed), faults, collections.Counter()
        self.full = False

    # Faults; each undoes itself.

    def kill_collector(self):
        before = self.rows()
        self.wait_confirmed()
        self.kill("collector")
        self.relay.set("cut")
        time.sleep(self.draw.uniform(0, 2))
        self.start_collector()
        if lost := before.lost_in(self.rows()):
            raise Broken(f"{len(lost)} of {len(before)} confirmed iterations were lost with the collector: {lost[:5]}")
        self.told["confirmed iterations compared"] += len(before)
        self.relay.set("pass")
        self.end_player()  # its agents were cut off as well

    def kill_agent(self):
        self.kill("agent")
        time.sleep(self.draw.uniform(0, 2))
        self.start_agent()

    def kill_cordon(self):
        self.kill("cordon")
        time.sleep(self.draw.uniform(0, 2))
        self.start_cordon()

    def fill(self, name):
        self.disks[name].fill()
        time.sleep(self.draw.uniform(0.5, 4))
        self.disks[name].empty()

    def set_clock(self, name):
        self.clocks[name].step(self.draw.choice((-1, 1)) * self.draw.choice((3, 60, 3700)))

    def stand_still(self, name):
        os.kill(self.running[name].pid, signal.SIGSTOP)
        time.sleep(self.draw.uniform(0.5, 4))
        os.kill(self.running[name].pid, signal.SIGCONT)

    def disturb_link(self, mode):
        self.relay.set(mode)
        time.sleep(self.draw.uniform(0.5, 4))
        self.relay.set("cut")  # what was held was in the middle of something
        self.relay.set("pass")

    def all_faults(self):
        some = {"kill -9 collector": self.kill_collector, "kill -9 agent": self.kill_agent,
                "kill -9 cordon": self.kill_cordon, "stop cordon": lambda: self.stand_still("cordon"),
                "stop collector": lambda: self.stand_still("collector"), "stop agent": lambda: self.stand_still("agent"),
                "cut": lambda: self.disturb_link("cut"), "hold": lambda: self.disturb_link("hold"),
                "deaf to collector": lambda: self.disturb_link("up"),
                "deaf to agent": lambda: self.disturb_link("down")}
        for name, disk in self.disks.items():
            if disk.small:
                some[f"full disk of {name}"] = lambda name=name: self.fill(name)
        for name, clock in self.clocks.items():
            if clock.can_step:
                some[f"clock of {name} set"] = lambda name=name: self.set_clock(name)
        return some

    def run(self):
        train = (played_train(self.first_slow, self.stop) if self.played else
                 harness.torchrun(HERE / "steady_job.py", self.first_slow, self.stop, ranks=2))
        self.start_collector()
        self.start_agent()
        self.start_cordon()
        self.start_job(train)
        self.wait("iteration 20", lambda: self.newest() >= 20, 180)
        # Its verdict: faults come while fathom-cordon makes up its mind.
        self.wait("a verdict on the played job", lambda: self.start_player() or self.accused(), 240)
        self.disturb()
        self.wait("20 slow iterations", lambda: self.newest() >= self.first_slow + 20, 240)
        self.wait("a verdict on rank 1", self.of_fault, 180)
        self.check_end()

    def disturb(self):
        faults = self.all_faults()
        names = ["kill -9 collector"] + self.draw.choices(list(faults), k=self.faults - 1)
        self.draw.shuffle(names)
        for name in names:
            time.sleep(self.draw.uniform(0.2, 2))
            self.told[name] += 1
            faults[name]()
            self.start_player()

    def of_fault(self):
        return self.verdicts(self.first_slow)

    def check_end(self):
        ids = self.of_fault()
        self.stop.touch()
        self.wait("the end of the job", lambda: self.running["job"].poll() is not None, 120)
        if self.running["job"].returncode != 0:
            raise Broken("the job failed")
        said = re.search(r"iterations (\d+)|trained (\d+)", (self.folder / "job.log").read_text())
        count = int(said[1] or said[2])
        self.wait(f"iteration {count - 1 - UNFINISHED}", lambda: self.newest() >= count - 1 - UNFINISHED, 120)
        have = self.rows()
        gaps = [i for i in range(have.newest) if i not in have.duration_us]
        if gaps:
            raise Broken(f"{len(gaps)} of {count} iterations are missing: {gaps[:5]}")
        ids |= self.of_fault()
        self.end_player()
        self.check_holds()
        self.full = self.machine_is_full(have)
        self.told["rounds on a machine too full to count verdicts"] += self.full
        if not self.full and len(ids) != 1:
            raise Broken(f"one fault has {len(ids)} verdicts: {sorted(ids)}")
        self.told["iterations"] += count

    def machine_is_full(self, have):
        """The played job is no even one then: another speed of the machine is a change of its own."""
        healthy = [duration for i, duration in have.duration_us.items() if i < self.first_slow]
        return self.played and statistics.median(healthy) > TOO_FULL * PLAYED_US

    def check_holds(self):
        time.sleep(FRESH_S)
        held = len(self.holds.made)
        time.sleep(AFTER_THE_END_S)
        if len(self.holds.made) != held:
            raise Broken("a node was held after the job had ended")
        if self.holds.wrong:
            raise Broken("; ".join(self.holds.wrong))
        self.told["nodes held"] += held
