#!/usr/bin/python3
"""deploy/k8s applied to a real API server by a real kubectl: with validation on the server, then for good.

Each manifest alone, all of them by `apply -k`, a job with job_patch.yaml merged into it, and broken variants, which are
refused. Also tried with the machine's own kubectl where there is a later one. Skips (77) where there is no server.
"""
import json
import pathlib
import shutil
import tempfile
import unittest

import yaml

import api_server  # first: it knows where the others are
import harness
from fakes.kubernetes_authority import rights_of

K8S = harness.ROOT / "deploy/k8s"
API = None
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default"}, "spec": {"template": {
    "spec": {"restartPolicy": "Never", "containers": [{"name": "train", "image": "train", "env": [{"name": "MINE", "value": "1"}]}]}}}}


def setUpModule():
    global API
    API = api_server.for_module(K8S / part / "namespace.yaml" for part in ("collector", "agent"))


def kubectls():
    """Debian's 1.20, and the machine's own where it is another."""
    own = shutil.which("kubectl")
    return [API.programs / "kubectl"] + ([own] if own else [])


def things(text):
    return [d for d in yaml.safe_load_all(text) if d]


def named(thing):
    return thing["kind"], thing["metadata"].get("namespace"), thing["metadata"]["name"]


class Manifests(unittest.TestCase):
    def setUp(self):
        """A job that is there keeps its image: it goes before, as after its time to live."""
        API.kubectl("-n", "fathom", "delete", "job", "fathom-authority", "--ignore-not-found")

    def test_each_file_is_accepted(self):
        files = [f for f in sorted(K8S.rglob("*.yaml")) if f.name not in ("kustomization.yaml", "job_patch.yaml")]
        self.assertGreater(len(files), 15)
        for file in files:
            run = API.kubectl("apply", "--dry-run=server", "-f", str(file))
            self.assertEqual(run.returncode, 0, f"{file}: {run.stderr}")
            self.assertEqual(len(run.stdout.splitlines()), len(things(file.read_text())))

    def test_a_broken_variant_of_each_kind_is_refused(self):
        slips = {"DaemonSet": ("spec", "template", "spec", "containers", 0, "image"),
                 "StatefulSet": ("spec", "serviceName"), "Deployment": ("spec", "selector"),
                 "Job": ("spec", "template", "spec", "restartPolicy"), "Service": ("spec", "ports", 0, "port"),
                 "NetworkPolicy": ("spec", "podSelector"), "ClusterRole": ("rules", 0, "verbs"),
                 "ClusterRoleBinding": ("roleRef",), "Role": ("rules", 0, "verbs"), "RoleBinding": ("subjects", 0, "kind")}
        tried = set()
        for file in sorted(K8S.rglob("*.yaml")):
            for thing in things(file.read_text()) if file.name not in ("kustomization.yaml", "job_patch.yaml") else []:
                *way, last = slips.get(thing["kind"], [None])
                if last is None:
                    continue
                part = thing
                for word in way:
                    part = part[word]
                part[last] = {"NetworkPolicy": "a text"}.get(thing["kind"], 70000 if last == "port" else "" if last == "image" else [])
                run = API.kubectl("apply", "--dry-run=server", "--validate=false", "-f", "-", text=json.dumps(thing))
                self.assertNotEqual(run.returncode, 0, f"{file} {thing['kind']} with a broken {last}")
                tried.add(thing["kind"])
        self.assertEqual(tried, set(slips))

    def test_all_of_it_is_applied_again_and_again(self):
        for program in kubectls():
            built = API.kubectl("kustomize", str(K8S), program=program)
            self.assertEqual(built.returncode, 0, built.stderr)
            for again in (False, True):
                before = self.stored(built.stdout) if again else {}
                run = API.kubectl("apply", "-k", str(K8S), program=program)
                self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(len(run.stdout.splitlines()), len(things(built.stdout)))
            after = self.stored(built.stdout)
            for thing in things(built.stdout):
                self.kept(thing, after[named(thing)], str(named(thing)))
            # Applied once more, it asks for nothing new.
            changed = [k for k, v in after.items() if v["metadata"].get("generation") != before[k]["metadata"].get("generation")]
            self.assertEqual(changed, [], program)

    def stored(self, built):
        """What the server has of each thing that was built."""
        found = {}
        for thing in things(built):
            kind, space, name = named(thing)
            run = API.kubectl("get", kind, name, *(["-n", space] if space else []), "-o", "json")
            self.assertEqual(run.returncode, 0, run.stderr)
            found[named(thing)] = json.loads(run.stdout)
        return found

    # What a server keeps only from that minor version on; without it the thing works all the same.
    LATER = {"ttlSecondsAfterFinished": 21}

    def kept(self, wanted, found, where):
        """The server has dropped no field of ours."""
        if isinstance(wanted, dict):
            for key, value in wanted.items():
                if value not in ({}, [], None, "") and self.LATER.get(key, 0) <= API.minor():
                    self.assertIn(key, found, where)
                    self.kept(value, found[key], f"{where}.{key}")
        elif isinstance(wanted, list):
            self.assertEqual(len(wanted), len(found), where)
            for i, value in enumerate(wanted):
                self.kept(value, found[i], f"{where}[{i}]")

    def test_a_job_with_the_patch_is_accepted(self):
        for program in kubectls():
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "job.yaml").write_text(json.dumps(JOB))
                shutil.copy(K8S / "job_patch.yaml", folder)
                # The key that its header names for that version.
                key = "patchesStrategicMerge" if program == kubectls()[0] else "patches"
                entry = ["job_patch.yaml"] if key == "patchesStrategicMerge" else [{"path": "job_patch.yaml"}]
                (folder / "kustomization.yaml").write_text(json.dumps({"resources": ["job.yaml"], key: entry}))
                built = API.kubectl("kustomize", str(folder), program=program)
                self.assertEqual(built.returncode, 0, built.stderr)
                container = things(built.stdout)[0]["spec"]["template"]["spec"]["containers"][0]
                self.assertEqual({e["name"] for e in container["env"]},
                                 {"MINE", "LD_PRELOAD", "PYTHONPATH", "NCCL_PROFILER_PLUGIN", "FATHOM_SHM_DIR"})
                run = API.kubectl("apply", "--dry-run=server", "-f", "-", text=built.stdout)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_pod_security_where_the_server_has_it(self):
        """Before 1.22 there is none: then the labels of the namespaces are only kept."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "fathom"}, "spec": {
            "hostPID": True, "automountServiceAccountToken": False, "serviceAccountName": "fathom-signer",
            "containers": [{"name": "c", "image": "i"}]}}
        self.assertEqual(API.kubectl("apply", "-k", str(K8S)).returncode, 0)
        code, _ = API.ask("POST", "/api/v1/namespaces/fathom/pods?dryRun=All", pod)
        self.assertEqual(code, 403 if API.minor() >= 23 else 201)


class Rights(unittest.TestCase):
    """Each account may do what its manifests say, in their namespaces and for their names, and nothing else."""
    VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")
    KINDS = [("", k) for k in ("nodes", "nodes/status", "events", "secrets", "configmaps", "pods", "pods/exec", "services",
                               "serviceaccounts")] + \
        [("certificates.k8s.io", f"certificatesigningrequests{p}") for p in ("", "/approval", "/status")] + \
        [("apps", "daemonsets"), ("rbac.authorization.k8s.io", "clusterroles"), ("batch", "jobs"),
         ("jobset.x-k8s.io", "jobsets"), ("kubeflow.org", "pytorchjobs")]

    def test_the_real_authoriser_grants_exactly_what_is_written(self):
        for folder in (K8S, K8S / "recover"):
            self.assertEqual(API.kubectl("apply", "-k", str(folder)).returncode, 0)
        granted = rights_of([K8S / "authority", K8S / "cordon", K8S / "recover"])
        self.assertEqual(len(granted), 5)
        for user, rights in granted.items():
            for space in ("fathom", "fathom-agent", "default", "kube-system"):
                for group, resource in self.KINDS:
                    for verb in self.VERBS:
                        names = {n for s, g, r, n, v in rights if (g, r, v) == (group, resource, verb) and s in (None, space)}
                        for name in names - {None} or {None}:
                            said = API.allowed(user, verb, resource, group, space, name)
                            self.assertEqual(said, bool(names), (user, verb, group, resource, space, name))
                        if names - {None}:
                            self.assertFalse(API.allowed(user, verb, resource, group, space, "another"), (user, verb, resource))


if __name__ == "__main__":
    api_server.main()
