"""Several collectors on this machine, with a real nats-server (or a cluster of three) and a real PostgreSQL between them.

Used by cluster_test, by `deploy/demo cluster` and by tests/faults/cluster.

    with CollectorCluster(BUILD, lease_s=3) as cluster: cluster.add("c1"); cluster.get("c1", "jobs")

Each part is a process of its own, their files lie in a new folder; leaving the block ends them all. PostgreSQL does not
run as root: as root it runs as the user `postgres` of Debian's package.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from harness import environment, free_ports, listens

POSTGRES = pathlib.Path("/usr/lib/postgresql/15/bin")


def missing():
    """What is not installed; empty: all is."""
    parts = {"nats-server": shutil.which("nats-server") or os.access("/usr/sbin/nats-server", os.X_OK),
             "postgresql-15": os.access(POSTGRES / "postgres", os.X_OK)}
    return [name for name, there in parts.items() if not there]


class CollectorCluster:
    """`nats`: how many servers, each of which keeps all; `unanswered`: questions that had no answer within `answer_s`."""

    def __init__(self, build, lease_s=3, answer_s=15, nats=1):
        self.build, self.lease_s, self.answer_s, self.unanswered = pathlib.Path(build), lease_s, answer_s, 0
        self.processes, self.where = {}, {}
        self.nats_names = ["nats"] if nats == 1 else [f"nats{n + 1}" for n in range(nats)]
        self.sql_port, *self.nats_ports = free_ports(1 + nats)

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-cluster-"))
        self.folder.chmod(0o755)
        try:
            self.route_ports, self.look_ports = free_ports(len(self.nats_names)), free_ports(len(self.nats_names))
            for name in self.nats_names:
                self.start_nats(name)
            self.wait_for("a NATS that keeps what it is told", self.nats_well)
            self.make_database()
            self.start_postgres()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        beside = [*self.nats_names, "postgres"]
        order = [name for name in self.processes if name not in beside] + beside
        for name in order:
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                continue
            # PostgreSQL's fast shutdown does not wait for whoever is connected.
            process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- the parts ---

    def run(self, name, words, **more):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen([str(word) for word in words], stderr=log, text=True,
                                                    env=environment(), **more)
        return self.processes[name]

    def start_nats(self, name="nats"):
        at = self.nats_names.index(name)
        settings = self.folder / f"{name}.conf"
        text = (f"listen: 127.0.0.1:{self.nats_ports[at]}\nhttp: 127.0.0.1:{self.look_ports[at]}\nmax_payload: 8MB\n"
                f"server_name: {name}\njetstream {{ store_dir: \"{self.folder}/{name}\" }}\n")
        if len(self.nats_names) > 1:
            routes = ", ".join(f"nats://127.0.0.1:{port}" for port in self.route_ports if port != self.route_ports[at])
            text += f"cluster {{ name: fathom, listen: 127.0.0.1:{self.route_ports[at]}, routes: [{routes}] }}\n"
        settings.write_text(text)
        program = shutil.which("nats-server") or "/usr/sbin/nats-server"
        self.run(name, [program, "-c", settings])
        self.wait_for("nats-server", lambda: listens(self.nats_ports[at]))

    def look_at_nats(self, at, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.look_ports[at]}/{path}", timeout=5) as answer:
                return json.loads(answer.read())
        except (OSError, http.client.HTTPException):
            return None

    def nats_well(self):
        return all((self.look_at_nats(at, "healthz") or {}).get("status") == "ok" for at in range(len(self.nats_names)))

    def nats_leader(self):
        """Which server leads the stream of the jobs' logs; None: none does now."""
        if len(self.nats_names) == 1:
            return self.nats_names[0]
        for at in range(len(self.nats_names)):
            told = self.look_at_nats(at, "jsz?streams=1") or {}
            for account in told.get("account_details") or []:
                for stream in account.get("stream_detail") or []:
                    if stream["name"] == "FATHOM" and (leader := stream.get("cluster", {}).get("leader")):
                        return leader
        return None

    def as_postgres(self, words):
        drop = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]
        return [*drop, *words] if os.geteuid() == 0 else words

    def make_database(self):
        data = self.folder / "sql"
        data.mkdir()
        if os.geteuid() == 0:
            shutil.chown(data, "postgres", "postgres")
        subprocess.run(self.as_postgres([POSTGRES / "initdb", "-D", data, "-U", "fathom", "-A", "trust", "--no-sync"]),
                       check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start_postgres(self):
        data = self.folder / "sql"
        self.run("postgres", self.as_postgres(
            [POSTGRES / "postgres", "-D", data, "-p", str(self.sql_port), "-c", "listen_addresses=127.0.0.1", "-c",
             f"unix_socket_directories={data}"]), stdout=subprocess.DEVNULL, cwd="/")
        self.wait_for("postgres", lambda: subprocess.run(
            [POSTGRES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.sql_port)]).returncode == 0)

    def sql(self, text):
        return subprocess.run([POSTGRES / "psql", "-At", "-h", "127.0.0.1", "-p", str(self.sql_port), "-U", "fathom", "-d",
                               "postgres", "-c", text], check=True, capture_output=True, text=True).stdout.strip()

    @property
    def history(self):
        return f"postgresql://fathom@127.0.0.1:{self.sql_port}/postgres"

    @property
    def bus(self):
        return ",".join(f"nats://127.0.0.1:{port}" for port in self.nats_ports)

    def add(self, name, **settings):
        """Starts a collector and waits until it is ready. A setting that is None is not given."""
        flags = {"grpc": "127.0.0.1:0", "http": "127.0.0.1:0", "agent-socket": "off", "store": self.history,
                 "cluster-bus": self.bus, "cluster-name": name, "cluster-lease-s": self.lease_s,
                 "cluster-replicas": len(self.nats_names), **settings}
        words = [self.build / "fathom-collector"] + [f"--{flag}={value}" for flag, value in flags.items()
                                                           if value is not None]
        process = self.run(name, words, stdout=subprocess.PIPE)
        with process.stdout:
            ready = process.stdout.readline()
        where = dict(re.findall(r"(grpc|http)=(\S+)", ready))
        if not where:
            raise RuntimeError(f"{name} does not start: {self.log(name)}")
        self.where[name] = where
        return process

    def kill(self, name):
        """As a machine that is gone."""
        self.processes[name].kill()
        self.processes[name].wait()
        return time.monotonic()

    def terminate(self, name):
        began = time.monotonic()
        self.processes[name].terminate()
        self.processes[name].wait(30)
        return began

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    # --- what they say ---

    def living(self):
        return [name for name in self.where if self.processes[name].poll() is None]

    def fetch(self, name, path):
        """Status and text of an answer; 0 and why where there is none."""
        began = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://{self.where[name]['http']}/{path}", timeout=self.answer_s) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except (OSError, http.client.HTTPException) as error:  # it may be killed in the middle of an answer
            self.unanswered += time.monotonic() - began > self.answer_s
            return 0, str(error)

    def get(self, name, path):
        """What the API answers; None: nothing that is well."""
        status, text = self.fetch(name, f"api/v1/{path}")
        return json.loads(text) if status == 200 else None

    def metric(self, name, metric):
        """The sum over its labels."""
        _, text = self.fetch(name, "metrics")
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                   if re.match(rf"{re.escape(metric)}(\{{| )", line))

    def owner(self):
        """Who owns a job; None: nobody."""
        return next((name for name in self.living() if self.metric(name, "fathom_leases_held") > 0), None)

    def job(self, name, job):
        jobs = self.get(name, "jobs") or {"jobs": []}
        return next((each for each in jobs["jobs"] if each["name"] == job), None)

    def verdicts(self, name, job):
        found = self.get(name, f"verdicts?job={job}") or {"verdicts": []}
        return found["verdicts"]

    def wait_for(self, what, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            dead = [name for name, process in self.processes.items()
                    if name in (*self.nats_names, "postgres") and process.poll() is not None]
            if dead:
                raise RuntimeError(f"{dead[0]} ended: {self.log(dead[0])[-400:]}")
            time.sleep(0.05)
        raise RuntimeError(f"no {what} within {seconds} s")
