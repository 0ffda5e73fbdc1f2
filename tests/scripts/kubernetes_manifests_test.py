#!/usr/bin/python3
"""deploy/k8s: shapes, references, rights and closedness. The real programs start with its arguments in
integration/kubernetes_certificates_test.py.

    kubernetes_manifests_test.py SOURCE_DIR BINARY_DIR
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import kubernetes_shapes

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
K8S = SOURCE / "deploy/k8s"
WORKLOADS = ("DaemonSet", "StatefulSet", "Deployment", "Job")
SERVERS = ("fathomd", "fathom-collector", "fathom-cordon")
AGENT_CAPABILITIES = {"SYS_PTRACE", "DAC_READ_SEARCH", "DAC_OVERRIDE", "FOWNER"}


def documents(path):
    return [d for d in yaml.safe_load_all(path.read_text()) if d]


def built(folder):
    """What kustomize would print: (file, object) of all that is listed."""
    plan = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for each in plan.get("configMapGenerator", []):
        data = {name: (folder / name).read_text() for name in each["files"]}
        yield folder / each["files"][-1], {"apiVersion": "v1", "kind": "ConfigMap", "data": data,
                                           "metadata": {"name": each["name"], "namespace": each["namespace"]}}
    for name in plan.get("bases", []) + plan.get("resources", []):
        path = folder / name
        yield from built(path) if path.is_dir() else [(path, d) for d in documents(path)]


class ManifestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = list(built(K8S))
        cls.optional = list(built(K8S / "recover"))  # applied by itself
        cls.pods = {t["metadata"]["name"]: t for _, t in cls.all if t["kind"] in WORKLOADS}

    def named(self, kind):
        return {(t["metadata"].get("namespace"), t["metadata"]["name"]): t for _, t in self.all + self.optional if t["kind"] == kind}

    def containers(self, init=True):
        for name, thing in self.pods.items():
            pod = thing["spec"]["template"]["spec"]
            for container in pod["containers"] + (pod.get("initContainers", []) if init else []):
                yield name, pod, container

    def test_every_file_is_listed_and_of_a_known_shape(self):
        everything = self.all + self.optional
        listed = {path for path, _ in everything if path.suffix == ".yaml"}
        there = {p for p in K8S.rglob("*.yaml") if p.name not in ("kustomization.yaml", "job_patch.yaml")}
        self.assertEqual(listed, there)
        found = [m for path, t in everything for m in kubernetes_shapes.misfits_of_object(t, path.name)]
        self.assertEqual(found, [])
        # kubectl 1.20 takes folders as bases only.
        for plan in K8S.rglob("kustomization.yaml"):
            folders = [n for n in documents(plan)[0].get("resources", []) if (plan.parent / n).is_dir()]
            self.assertEqual(folders, [], plan)
        patch = documents(K8S / "job_patch.yaml")[0]["spec"]["template"]
        self.assertEqual(list(kubernetes_shapes.misfits(patch, kubernetes_shapes.TEMPLATE, "job_patch")), [])

    @unittest.skipUnless(shutil.which("kubectl"), "kubectl is not installed")
    def test_kustomize_builds_it_all_and_merges_the_patch_into_a_job(self):
        run = subprocess.run(["kubectl", "kustomize", K8S], capture_output=True, text=True, check=True)
        self.assertEqual(len(list(yaml.safe_load_all(run.stdout))), len(self.all))
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"},
               "spec": {"template": {"spec": {"containers": [{"name": "train", "image": "mine"}]}}}}
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copy(K8S / "job_patch.yaml", folder)
            (folder / "job.yaml").write_text(yaml.safe_dump(job))
            for key, entry in (("patches", {"path": "job_patch.yaml"}), ("patchesStrategicMerge", "job_patch.yaml")):
                (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["job.yaml"], key: [entry]}))
                run = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                container = yaml.safe_load(run.stdout)["spec"]["template"]["spec"]["containers"][0]
                self.assertEqual(container["image"], "mine")
                self.assertIn("LD_PRELOAD", [e["name"] for e in container["env"]])

    def test_the_shape_check_finds_a_misspelt_field(self):
        bad = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "x"}, "automountServiceToken": True}
        self.assertEqual(list(kubernetes_shapes.misfits_of_object(bad, "f")), ["f.automountServiceToken: no such field"])

    def test_names_that_are_referred_to_exist(self):
        # What the script makes: "put Secret NAME NAMESPACE …".
        made = {(space, name) for name, space in re.findall(r"^ *put \w+ (\S+) (\S+)", (K8S / "authority/make_authority").read_text(), re.M)}
        accounts, claims = self.named("ServiceAccount"), self.named("PersistentVolumeClaim")
        for name, thing in self.pods.items():
            space, template = thing["metadata"]["namespace"], thing["spec"]["template"]
            self.assertIn((None, space), self.named("Namespace"))
            self.assertIn((space, template["spec"]["serviceAccountName"]), accounts)
            if thing["kind"] != "Job":
                self.assertEqual(thing["spec"]["selector"]["matchLabels"].items() - template["metadata"]["labels"].items(), set())
            volumes = {v["name"]: v for v in template["spec"].get("volumes", [])}
            volumes.update({c["metadata"]["name"]: c for c in thing["spec"].get("volumeClaimTemplates", [])})
            for volume in volumes.values():
                if "configMap" in volume:
                    self.assertIn((space, volume["configMap"]["name"]), [*self.named("ConfigMap"), *made])
                if "secret" in volume:
                    self.assertIn((space, volume["secret"]["secretName"]), made)
                if "persistentVolumeClaim" in volume:
                    self.assertIn((space, volume["persistentVolumeClaim"]["claimName"]), claims)
            for _, pod, container in self.containers():
                if pod is template["spec"]:
                    for mount in container.get("volumeMounts", []):
                        self.assertIn(mount["name"], volumes, name)

    def test_services_and_policies_meet_the_ports_of_pods(self):
        ports = {n: {p["name"]: p["containerPort"] for p in c.get("ports", [])}
                 for n, _, c in self.containers(init=False)}
        for (_, name), service in self.named("Service").items():
            for port in service["spec"]["ports"]:
                self.assertEqual(ports[name][port["targetPort"]], port["port"])
        for (_, name), policy in self.named("NetworkPolicy").items():
            self.assertEqual(set(policy["spec"]["policyTypes"]), {"Ingress", "Egress"})
            let_in = {p["port"] for rule in policy["spec"].get("ingress", []) for p in rule["ports"]}
            self.assertEqual(let_in, set(ports[name].values()), name)
            self.assertTrue(all(rule.get("from") for rule in policy["spec"].get("ingress", [])), "open to everybody")

    def test_probes_are_of_the_right_kind(self):
        for name, _, container in self.containers(init=False):
            if container["name"] not in SERVERS:
                continue
            named = {p["name"] for p in container.get("ports", [])}
            for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
                if name == "fathomd":  # it is open on loopback alone
                    self.assertEqual(container[probe]["exec"]["command"][-1], "http://127.0.0.1:7072" + path)
                    continue
                self.assertEqual((container[probe]["httpGet"]["path"], container[probe]["httpGet"]["scheme"]), (path, "HTTPS"), name)
                self.assertIn(container[probe]["httpGet"]["port"], named)

    def test_closed_as_far_as_each_part_can_be(self):
        for name, pod, container in self.containers():
            security = container["securityContext"]
            self.assertFalse(security["allowPrivilegeEscalation"])
            self.assertTrue(security["readOnlyRootFilesystem"])
            self.assertEqual(security["capabilities"]["drop"], ["ALL"])
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            added = set(security["capabilities"].get("add", []))
            if name == "fathomd":
                self.assertEqual(added, AGENT_CAPABILITIES if container["name"] == "fathomd" else set())
                continue
            self.assertEqual(added, set())
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertFalse(pod.get("hostPID", False))
            self.assertFalse([v for v in pod.get("volumes", []) if "hostPath" in v])
        levels = {n: t["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] for (_, n), t in self.named("Namespace").items()}
        self.assertEqual(levels, {"fathom": "restricted", "fathom-agent": "privileged"})

    def test_who_has_rights_and_a_token(self):
        tokens = {n for n, t in self.pods.items() if t["spec"]["template"]["spec"]["automountServiceAccountToken"]}
        self.assertEqual(tokens, {"fathom-cordon", "fathom-authority", "fathom-signer"})
        # Of the agent's pods those containers alone that ask for its certificate.
        with_account = {c["name"] for n, _, c in self.containers() if "account" in [m["name"] for m in c["volumeMounts"]]}
        self.assertEqual(with_account, {"certificate", "renewal"})
        for kind in ("ClusterRoleBinding", "RoleBinding"):
            for (_, name), binding in self.named(kind).items():
                self.assertEqual(binding["subjects"], [{"kind": "ServiceAccount", "name": name,
                                                        "namespace": "fathom-agent" if name == "fathomd" else "fathom"}])
        for kind in ("ClusterRole", "Role"):
            for role in self.named(kind).values():
                self.assertNotIn("*", str(role["rules"]))
                self.assertNotIn("secrets get", [f"{r} {v}" for rule in role["rules"] for r in rule["resources"] for v in rule["verbs"]])

    def test_nothing_is_open_to_everybody(self):
        words = [w for _, _, c in self.containers() for w in c.get("args", [])]
        text = self.named("ConfigMap")[("fathom", "fathom-cordon")]["data"]["cordon.yaml"]
        self.assertEqual([w for w in words if "insecure" in w], [])
        self.assertNotIn("insecure", text)
        self.assertIn("mode: observe", text)

    def test_jobs_find_the_tracer_where_the_agent_puts_it(self):
        container = self.pods["fathomd"]["spec"]["template"]["spec"]["initContainers"][0]
        patch = documents(K8S / "job_patch.yaml")[0]["spec"]["template"]["spec"]["containers"][0]["env"]
        preload = next(e["value"] for e in patch if e["name"] == "LD_PRELOAD")
        with tempfile.TemporaryDirectory() as folder:
            image, node = pathlib.Path(folder, "image"), pathlib.Path(folder, "node")
            node.mkdir()
            shutil.copytree(BUILD / "fathom_site", image / "share/fathom/site")
            (image / "lib/machine").mkdir(parents=True)
            shutil.copy(BUILD / "libfathom.so", image / "lib/machine")
            shutil.copytree(BUILD / "libfathom", image / "lib/machine/libfathom", symlinks=True)
            script = container["args"][0].replace("/usr/", f"{image}/").replace("/opt/fathom", str(node))
            for again in (False, True):
                subprocess.run([*container["command"], script], check=True)
                for killed in ("site.new/half", "libfathom.new/half") if not again else ():
                    (node / killed).mkdir(parents=True)
            ran = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True,
                                 env={"LD_PRELOAD": preload.replace("/opt/fathom", str(node))})
            self.assertEqual(ran.stderr, "")
            self.assertIn(f"{node}/libfathom.so", ran.stdout)
            self.assertEqual(sorted(p.name for p in node.iterdir()), ["libfathom", "libfathom.so", "site"])
            for part, origin in (("site", "fathom_site"), ("libfathom", "libfathom")):
                self.assertEqual(sorted(os.listdir(node / part)), sorted(os.listdir(BUILD / origin)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
