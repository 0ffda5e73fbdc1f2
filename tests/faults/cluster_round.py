"""One round of tests/faults/cluster: several collectors and a job with a fault, of which something is killed again and
again, and what must be true after each kill."""
import collections
import csv
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import harness
from collector_cluster import CollectorCluster
from parts import JOB, NODE, Broken, Processes, own_ports, played_train, wait
from rows import Rows

RANKS = 4
FIRST_SLOW = 100
COMPARED = 200  # newest iterations; the bus keeps 256 records of each rank
PATIENCE_S = 120  # far beyond what is promised: how long it took is told, and judged by who reads
ANSWER_S = 2
LONGEST_AWAY_S = 3  # until what was killed is started again
KINDS = {"owner -9": 4, "owner TERM": 3, "NATS -9": 2, "NATS TERM": 1, "PostgreSQL -9": 2, "PostgreSQL INT": 1,
         "another collector -9": 1, "owner and NATS -9": 2, "owner and PostgreSQL -9": 2, "NATS and PostgreSQL -9": 1}  # how often
SIGNALS = {"-9": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}


def told_once(tables, newest):
    """How many collectives there are; Broken where one is missing, or is told by fewer or by more than all ranks."""
    sequences, iterations = collections.defaultdict(list), set()
    with open(tables / "collectives.csv", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["members"]) != RANKS:
                raise Broken(f"collective {row['sequence']} of iteration {row['iteration']} has {row['members']} members")
            sequences[row["group"]].append(int(row["sequence"]))
            iterations.add(int(row["iteration"]))
    for group, of_group in sequences.items():
        if sorted(of_group) != list(range(min(of_group), max(of_group) + 1)):
            raise Broken(f"of group {group} collectives are missing, or are there twice")
    if missing := set(range(min(iterations), newest)) - iterations:
        raise Broken(f"of {len(missing)} iterations no collective is kept: {sorted(missing)[:5]}")
    return sum(map(len, sequences.values()))


class Kills(Processes):
    """run() raises Broken where a rule does not hold; `took` has seconds by kind of kill, `compared` is how many
    iterations were looked for afterwards, `told` how many collectives were read back of every op kept."""

    def __init__(self, seed, kills, lease_s, kinds=tuple(KINDS), collectors=3, ops=False, nats=1, away=None):
        super().__init__(pathlib.Path(tempfile.mkdtemp(prefix="fathom-kills-")))
        self.draw, self.kills = random.Random(seed), kills
        self.kinds, self.away = {kind: KINDS[kind] for kind in kinds}, away or {}
        self.names, self.ops = [f"c{n + 1}" for n in range(collectors)], ops
        pairs = [own_ports((collectors + 3) * seed + n) for n in range(collectors + 3)]
        self.ports = dict(zip(self.names, pairs))
        self.cluster = CollectorCluster(harness.BUILD, lease_s, ANSWER_S, nats)
        self.cluster.sql_port, *ports = sum(pairs[collectors:], [])
        self.cluster.nats_ports = ports[:nats]
        self.took, self.compared, self.told, self.back = [], 0, 0, []

    # --- the parts ---

    def add(self, name):
        grpc, http = self.ports[name]
        kept = {"stream": "ops", "ops-store": self.cluster.folder / f"ops-{name}"} if self.ops else {}
        self.cluster.add(name, grpc=f"127.0.0.1:{grpc}", http=f"127.0.0.1:{http}", **kept)

    def start_agent(self):
        doors = ",".join(f"127.0.0.1:{self.ports[name][0]}" for name in self.names)
        self.start("agent", harness.BUILD / "fathomd", "--collector", doors, "--node", NODE, "--shm-dir", self.folder / "shm",
                   "--spool", self.folder / "spool", "--http", "", "--stack-tool", "",
                   *(["--budget-cpu", "0"] if self.ops else []))  # else it leaves out ops of such short iterations

    def start_again(self, name, after_s):
        """As a service manager does, until it stays up; without being waited for."""
        def again():
            time.sleep(after_s)
            for _ in range(100):
                try:
                    if name in self.cluster.nats_names:
                        self.cluster.start_nats(name)
                    elif name == "postgres":
                        self.cluster.start_postgres()
                    else:
                        self.add(name)
                    return
                except RuntimeError:
                    time.sleep(0.3)  # what it needs is away as well, or what was before it is not gone yet
        self.back.append(threading.Thread(target=again))
        self.back[-1].start()

    # --- what they say ---

    def wait(self, what, condition, seconds=PATIENCE_S):
        return wait(what, condition, seconds)

    def rows(self, name):
        return Rows(self.cluster.get(name, f"jobs/{JOB}/iterations?limit={COMPARED}"))

    def open_verdicts(self, name):
        said = self.cluster.get(name, f"verdicts?job={JOB}&active=1") or {"verdicts": []}
        return [v for v in said["verdicts"] if v["entity"].get("ranks") == [1]]

    def judged_since(self, wall_ns, besides=()):
        """Who tells that a diagnosis has seen the fault since then, and the verdicts; None: nobody."""
        for name in self.cluster.living():
            if name in besides:
                continue
            open_now = self.open_verdicts(name)
            if open_now and max(int(v["seen_unix_ns"]) for v in open_now) > wall_ns:
                return name, open_now
        return None

    # --- a kill ---

    def strike(self, who, how):
        beside = (*self.cluster.nats_names, "postgres")
        process = self.cluster.processes.pop(who) if who in beside else self.cluster.processes[who]
        process.send_signal(SIGNALS[how])
        process.wait(60)

    def kill(self, kind):
        *whom, how = kind.split(" ")
        owner = self.wait("an owner", self.cluster.owner)
        others = [name for name in self.names if name != owner]
        names = {"owner": owner, "NATS": self.wait("a NATS that leads", self.cluster.nats_leader), "PostgreSQL": "postgres", "another": self.draw.choice(others)}
        before = self.wait("iterations", lambda: self.rows(owner))
        struck = [names[word] for word in whom if word in names]
        began = time.monotonic()
        for each in struck:
            self.strike(each, how)
        for each in struck:
            away_s = self.draw.uniform(0, LONGEST_AWAY_S)
            told = self.away.get("collector" if each in self.names else each)
            self.start_again(each, away_s if told is None else told)
        self.wait_judged(kind, struck, began, before)

    def wait_judged(self, kind, struck, began, before):
        if "nats" in struck:  # of three, the others go on
            self.wait("NATS", lambda: harness.listens(self.cluster.nats_ports[0]))
        gone = time.time_ns()  # what was seen before then does not count
        name, verdicts = self.wait(f"a word on the verdict after {kind}", lambda: self.judged_since(gone))
        self.took.append((kind, time.monotonic() - began))
        print(f"{kind} ({', '.join(struck)}): {self.took[-1][1]:.1f} s, told by {name}; {self.cluster.unanswered} questions unanswered", flush=True)
        self.check_verdicts(kind, [v["id"] for v in verdicts])
        owner = self.wait("an owner that knows the job", lambda: (who := self.cluster.owner()) and len(self.rows(who)) and who)
        after = self.rows(owner)
        if lost := before.lost_in(after, after.newest - COMPARED + 1):
            told = [f"{i}: {rows.duration_us.get(i)} {rows.told.get(i)}\n" for i in lost for rows in (before, after)]
            (self.folder / "lost").write_text("".join(told))
            raise Broken(f"{len(lost)} of {len(before)} confirmed iterations are lost or changed after {kind}: {lost[:5]}")
        self.compared += len(before)

    def check_verdicts(self, kind, ids):
        if ids != [self.first]:
            raise Broken(f"after {kind} the verdict {self.first} is told as {ids}")

    # --- the round ---

    def run(self):
        with self.cluster:
            try:
                self.strike_all()
            except BaseException:
                self.wait_back()
                for log in self.cluster.folder.glob("*.log"):
                    shutil.copy(log, self.folder)
                raise

    def strike_all(self):
        for name in self.names:
            self.add(name)
        self.start_agent()
        self.start_job(played_train(FIRST_SLOW, self.stop))
        _, verdicts = self.wait("a verdict", lambda: self.judged_since(0), 300)
        self.first = verdicts[0]["id"]
        for _ in range(self.kills):
            self.kill(*self.draw.choices(list(self.kinds), self.kinds.values()))
            time.sleep(self.draw.uniform(0, 2))
            self.wait_back()
        self.check_end()

    def wait_back(self):
        for each in self.back:
            each.join()
        self.back.clear()

    def check_end(self):
        # One that was started without it is in memory, and one whose connection broke reads nothing, until it is well.
        well = ("fathom_store_degraded", "fathom_store_unwritten")
        self.wait("a history that has all", lambda: not any(self.cluster.metric(name, each) for name in self.names for each in well))
        said = self.wait("a history", lambda: self.cluster.get(self.names[0], f"verdicts?job={JOB}&limit=1000"))
        # What was said of other ranks is of the machine: where it is full, a stand-in for a GPU computes longer, too.
        self.check_verdicts("all", [v["id"] for v in said["verdicts"] if v["entity"].get("ranks") == [1]])
        if lost := sum(self.cluster.metric(name, "fathom_bus_lost_records_total") for name in self.names):
            raise Broken(f"{lost:.0f} records found no room")
        newest = self.wait("iterations", lambda: (owner := self.cluster.owner()) and self.rows(owner).newest)
        self.stop.touch()
        self.wait("the end of the job", lambda: self.running["job"].poll() is not None)
        if self.running["job"].returncode != 0:
            raise Broken("the job failed")
        if self.ops:
            self.check_ops(newest)

    def check_ops(self, newest):
        """Each collective of each iteration up to `newest` is told once by each of its members."""
        self.wait("the last ops", lambda: self.kept() == (time.sleep(3), self.kept())[1])
        tables = self.folder / "tables"
        done = subprocess.run(
            [harness.BUILD / "fathom", "analyze", f"job://{JOB}", "--collector-http", self.cluster.where["c1"]["http"],
             "--exit-zero", "--verbose", "--tables", tables], capture_output=True, text=True)
        if done.returncode != 0 or "is missing" in done.stdout:
            raise Broken(f"what is kept cannot be read: {done.stderr} {done.stdout[-2000:]}")
        self.told = told_once(tables, newest)

    def kept(self):
        return [self.cluster.metric(name, "fathom_ops_kept_total") for name in self.names]

    def end(self, keep):
        self.kill_all()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)
