"""What each kind of shipped YAML is for: the real program or server that takes it.

A consumer's `take(file, text)` starts it with that text and returns an Answer; `held` is what the program says it
holds then, parsed, or None where it says nothing.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kubernetes"))
import api_server  # noqa: E402  first: it knows where harness is
import harness  # noqa: E402
from scoring import WILDCARD  # noqa: E402

K8S = harness.ROOT / "deploy/k8s"
PROMETHEUS = harness.ROOT / "deploy/prometheus"


class Answer:
    def __init__(self, taken, why="", held=None):
        self.taken, self.why, self.held = taken, why.strip(), held


def ran(argv, **more):
    run = subprocess.run([str(w) for w in argv], capture_output=True, text=True, timeout=120, **more)
    return run, run.stdout + run.stderr


class Consumer:
    def __init__(self, folder):
        self.folder = folder

    def why_not_here(self):
        return None

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def comes_up(self, argv, environment):
        """Whether that daemon tells its address, and what it said; it is ended again."""
        process = subprocess.Popen(argv, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.folder)
        try:
            line = process.stdout.readline()
            return "http=" in line, line or process.stderr.read()
        finally:
            process.kill()
            process.communicate()


class Manifests(Consumer):
    """kubectl apply --dry-run=server at a real API server, whose validation judges."""

    def __init__(self, folder, api):
        super().__init__(folder)
        self.api = api

    def take(self, file, text):
        run = self.api.kubectl("apply", "--dry-run=server", "-o", "json", "-f", "-", text=text)
        if run.returncode != 0:
            return Answer(False, run.stderr)
        held = json.loads(run.stdout)
        return Answer(True, "", held["items"] if held["kind"] == "List" else [held])


class Kustomizations(Consumer):
    """kubectl kustomize builds the folder with that text in its place, and the real API server takes what came out.
    Held: what each `resources` and generator gave."""

    def __init__(self, folder, api):
        super().__init__(folder)
        self.api = api

    def take(self, file, text):
        copy = self.folder / "k8s"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(K8S, copy)
        at = copy / file.relative_to(K8S)
        at.write_text(text)
        run = self.api.kubectl("kustomize", str(at.parent))
        if run.returncode != 0:
            return Answer(False, run.stderr)
        applied = self.api.kubectl("apply", "--dry-run=server", "-f", "-", text=run.stdout)
        return Answer(applied.returncode == 0, applied.stderr, self.held(at, run.stdout))

    def held(self, at, built):
        """The document again, with those parts of it of which all stands in what was built."""
        names = {(d["kind"], d["metadata"]["name"]) for d in yaml.safe_load_all(built) if d}
        document = yaml.safe_load(at.read_text())
        held = {k: v for k, v in document.items() if k in ("apiVersion", "kind", "images")}
        for key in ("resources", "bases"):
            held[key] = [part for part in document.get(key, []) if self.objects(at.parent / part) <= names]
        generated = [g for g in document.get("configMapGenerator", []) if ("ConfigMap", g["name"]) in names]
        held.update({k: document[k] for k in ("configMapGenerator", "generatorOptions") if k in document and generated})
        return {k: v for k, v in held.items() if v}

    @staticmethod
    def objects(path):
        files = [p for p in path.glob("*.yaml") if p.name != "kustomization.yaml"] if path.is_dir() else [path]
        return {(d["kind"], d["metadata"]["name"]) for f in files for d in yaml.safe_load_all(f.read_text()) if d}


class JobPatch(Kustomizations):
    """kubectl kustomize merges it into a job, and the real API server takes that job."""

    def take(self, file, text):
        container = {"name": "train", "image": "train"}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"},
               "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}}
        self.write("job.yaml", json.dumps(job))
        self.write("patch.yaml", text)
        self.write("kustomization.yaml", json.dumps({"resources": ["job.yaml"], "patchesStrategicMerge": ["patch.yaml"]}))
        run = self.api.kubectl("kustomize", str(self.folder))
        if run.returncode != 0:
            return Answer(False, run.stderr)
        applied = self.api.kubectl("apply", "--dry-run=server", "-o", "json", "-f", "-", text=run.stdout)
        return Answer(applied.returncode == 0, applied.stderr, json.loads(applied.stdout) if applied.returncode == 0 else None)


class Prometheus(Consumer):
    """A real Prometheus runs with it, and says what it holds."""
    NEEDS = "prometheus"

    def why_not_here(self):
        return None if shutil.which(self.NEEDS) else f"no {self.NEEDS} (Debian: prometheus)"

    def run(self, text, rules, path, shape):
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        self.write("prometheus.yml", text)
        self.write("fathom.rules.yml", rules)
        port = harness.free_ports(1)[0]
        with open(self.folder / "prometheus.log", "w") as log:
            process = subprocess.Popen(["prometheus", f"--config.file={self.folder}/prometheus.yml", "--log.level=error",
                                        f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{port}"],
                                       stdout=log, stderr=log)
        try:
            return self.asked(process, f"http://127.0.0.1:{port}", path, shape)
        finally:
            process.kill()
            process.wait()

    def asked(self, process, url, path, shape):
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(url + "/-/ready", timeout=5):
                    pass
                with urllib.request.urlopen(url + path, timeout=5) as answer:
                    return Answer(True, "", shape(json.load(answer)["data"]))
            except (OSError, urllib.error.URLError):
                time.sleep(0.1)
        return Answer(False, (self.folder / "prometheus.log").read_text())

    def take(self, file, text):
        rules = (PROMETHEUS / "fathom.rules.yml").read_text()
        return self.run(text, rules, "/api/v1/status/config", lambda data: self.config(yaml.safe_load(data["yaml"])))

    def config(self, held):
        held["rule_files"] = [pathlib.Path(f).name for f in held.get("rule_files", [])]
        return held


class Rules(Prometheus):
    """A real Prometheus loads the rules, and promtool tests them with the tests beside them."""

    def why_not_here(self):
        return super().why_not_here() or (None if shutil.which("promtool") else "no promtool (Debian: prometheus)")

    def take(self, file, text):
        answer = self.run((PROMETHEUS / "prometheus.yml").read_text(), text, "/api/v1/rules", self.shape)
        if answer.taken:
            run, said = ran(["promtool", "check", "rules", self.folder / "fathom.rules.yml"])
            answer.taken, answer.why = run.returncode == 0, said
        return answer

    @staticmethod
    def shape(data):
        """As a file of rules: expressions come back written otherwise, times in seconds."""
        def rule(said):
            kind = "alert" if said["type"] == "alerting" else "record"
            out = {kind: said["name"], "expr": WILDCARD, "labels": said.get("labels", {}), "annotations": said.get("annotations", {})}
            # 2.42 does not tell keep_firing_for, which its promtool has checked.
            return {**{k: v for k, v in out.items() if v}, "for": WILDCARD, "keep_firing_for": WILDCARD}
        return {"groups": [{"name": g["name"], "interval": WILDCARD, "rules": [rule(r) for r in g["rules"]]} for g in data["groups"]]}


class RuleTests(Prometheus):
    """promtool tests the shipped rules with it."""
    NEEDS = "promtool"

    def take(self, file, text):
        self.write("fathom.rules.yml", (PROMETHEUS / "fathom.rules.yml").read_text())
        run, said = ran(["promtool", "test", "rules", self.write("alerts_test.yml", text)])
        return Answer(run.returncode == 0, said)


class Daemon(Consumer):
    """fathom-collector or fathom-cordon says what it holds, and starts with it."""

    def __init__(self, folder, program, places=None):
        super().__init__(folder)
        self.program, self.places = program, places or {}

    def take(self, file, text):
        for old, new in self.places.items():
            text = text.replace(old, str(new))
        settings = self.write("settings.yaml", text)
        environment = harness.environment(FATHOM_HTTP="127.0.0.1:0", FATHOM_GRPC="127.0.0.1:0", FATHOM_AGENT_SOCKET="off",
                                          FATHOM_STORE=str(self.folder / "store"), FATHOM_CORDON_AUDIT=str(self.folder / "audit.jsonl"),
                                          **({"FATHOM_CORDON_HTTP": "127.0.0.1:0"} if "cordon" in self.program else {}))
        printed, said = ran([harness.BUILD / self.program, "--config", settings, "--print-config"], env=environment)
        if printed.returncode != 0:
            return Answer(False, said)
        up, said = self.comes_up([harness.BUILD / self.program, "--config", settings], environment)
        return Answer(up, said, self.held(text, printed.stdout))

    def held(self, text, printed):
        """Those of its settings that the file sets; what is secret or a file here is shown otherwise than written."""
        new, asked = [str(v) for v in self.places.values()], yaml.safe_load(text)
        return {k: WILDCARD if k == "notify" or any(p in str(v) for p in new) else v
                for k, v in yaml.safe_load(printed).items() if k in asked}


class CollectorFile(Consumer):
    """fathom-collector starts with it as the file of a flag."""

    def __init__(self, folder, flag, *more):
        super().__init__(folder)
        self.flag, self.more = flag, more

    def take(self, file, text):
        environment = harness.environment(FATHOM_HTTP="127.0.0.1:0", FATHOM_GRPC="127.0.0.1:0", FATHOM_STORE=":memory:",
                                          FATHOM_AGENT_SOCKET="off")
        return Answer(*self.comes_up([harness.BUILD / "fathom-collector", *self.more, self.flag,
                                      self.write("file.yaml", text)], environment))


class Played(Consumer):
    """fathom simulate plays a job with it: the scenario, or the thresholds by which one is judged."""

    def __init__(self, folder, *words):
        super().__init__(folder)
        self.words = words

    def take(self, file, text):
        run, said = ran([harness.BUILD / "fathom", "simulate", *self.words, self.write("file.yaml", text)],
                        env=harness.environment())
        return Answer(run.returncode in (0, 2), said)


class Recoveries(Consumer):
    """`fathom recover undo` of a recovery that was begun and did nothing reads it, and ends with 0."""
    BEGUN = {"mark": "begun", "id": "r1", "wall_ns": 1, "facts": {"job": "train", "isolate": "n3", "spare": "n5", "verdict": "v1"}}

    def take(self, file, text):
        self.write("train.jsonl", json.dumps(self.BEGUN) + "\n")
        run, said = ran([harness.BUILD / "fathom", "recover", "undo", "train", "--yes", "--journal", self.folder, "--config",
                         self.write("recover.yaml", text), "--collector-http", f"127.0.0.1:{harness.free_ports(1)[0]}"],
                        env=harness.environment())
        return Answer(run.returncode == 0, said)
