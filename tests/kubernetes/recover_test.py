#!/usr/bin/python3
"""`fathom recover` with the back-end kubernetes against a real kube-apiserver, as fathom-recover of deploy/k8s/recover.

There are no controllers: a thread of this test makes and ends the pods of the one job, as those would. A Job alone, for
JobSet and PyTorchJob are not served. A server before 1.22 drops spec.suspend: then that is told, and pods are deleted.
Skips (77) where no server was made.
"""
import subprocess
import threading

import api_server  # first: it knows where the others are
import harness
from recover_case import Collector

SPACES = [harness.ROOT / "deploy/k8s" / part / "namespace.yaml" for part in ("collector", "agent")]
OURS = "system:serviceaccount:fathom:fathom-recover"
JOBS, PODS = "/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"
NODES = ["n1", "n2", "n3"]
MERGE = "application/merge-patch+json"
API = None


def setUpModule():
    global API
    API = api_server.for_module([*SPACES, harness.ROOT / "deploy/k8s/recover/rbac.yaml"])
    API.must("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})


class Controllers(threading.Thread):
    """Two pods for the job `train`, each on a node of its own that is not cordoned; none while it is suspended."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopping, self.made = threading.Event(), 0

    def run(self):
        while not self.stopping.wait(0.1):
            self.once()

    def once(self):
        pods = API.must("GET", PODS)["items"]
        code, job = API.ask("GET", f"{JOBS}/train")
        suspended = code == 404 or job["spec"].get("suspend", False)
        for pod in pods:
            if suspended or "deletionTimestamp" in pod["metadata"]:
                API.ask("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
        here = [p["spec"].get("nodeName") for p in pods if "deletionTimestamp" not in p["metadata"]]
        free = [n["metadata"]["name"] for n in API.must("GET", "/api/v1/nodes")["items"] if not n["spec"].get("unschedulable")]
        for name in [n for n in free if n not in here][:0 if suspended else 2 - len(here)]:
            self.made += 1
            API.must("POST", PODS, {"metadata": {"name": f"train-{self.made}", "labels": {"job-name": "train"}}, "spec": {
                "nodeName": name, "automountServiceAccountToken": False, "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]}})

    def close(self):
        self.stopping.set()
        self.join()


class RecoverTest(harness.ProcessCase):
    def setUp(self):
        super().setUp()
        for name in NODES:
            API.must("POST", "/api/v1/nodes", {"metadata": {"name": name}})
            API.ask("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, MERGE)
            API.must("PATCH", f"/api/v1/nodes/{name}/status", {"status": {
                "allocatable": {"cpu": "4", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}, MERGE)
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
        API.must("POST", JOBS, {"metadata": {"name": "train"}, "spec": {"parallelism": 2, "completions": 2, "template": template}})
        self.controllers = Controllers()
        self.controllers.once()
        self.controllers.start()
        self.addCleanup(self.clear)
        self.collector = Collector("train", 2, NODES, self.where)
        self.addCleanup(self.collector.close)
        self.collector.sick = "n1"
        (self.folder / "token").write_text(API.account_token("fathom", "fathom-recover"))

    def clear(self):
        self.controllers.close()
        for pod in API.must("GET", PODS)["items"]:
            API.ask("DELETE", f"{PODS}/{pod['metadata']['name']}", {"gracePeriodSeconds": 0})
        API.ask("DELETE", f"{JOBS}/train", {"propagationPolicy": "Background"})
        for name in NODES:
            API.must("DELETE", f"/api/v1/nodes/{name}")

    def where(self):
        return sorted(p["spec"]["nodeName"] for p in API.must("GET", PODS)["items"] if "deletionTimestamp" not in p["metadata"])

    def cordoned(self):
        return API.must("GET", "/api/v1/nodes/n1")["spec"].get("unschedulable", False)

    def recover(self, noun, restart, *more):
        config = self.folder / "recover.yaml"
        config.write_text(f"backend: kubernetes\nkubernetes_server: {API.url}\nkubernetes_ca_file: {API.pki.authority}\n"
                          f"kubernetes_token_file: {self.folder}/token\nrestart: {restart}\nended_s: 20\n")
        run = subprocess.run([harness.BUILD / "fathom", "recover", noun, "train", "--journal", self.folder / "journal",
                              "--config", config, "--yes", "--collector-http", self.collector.address, *more],
                             env=harness.environment(), capture_output=True, text=True, timeout=180)
        return run.returncode, run.stdout + run.stderr

    def run_it(self, restart):
        return self.recover("run", restart, "--despite", "no-checkpoint,cost", "--restart-seconds", "10")

    def test_suspending_where_the_server_can_and_a_word_where_it_cannot(self):
        code, said = self.run_it("suspend")
        if API.minor() < 22:
            self.assertEqual(code, 1, said)
            self.assertIn("cannot be suspended here", said)
            self.assertEqual((self.where(), self.cordoned()), (["n1", "n2"], False))
            return
        self.assertEqual(code, 0, said)
        self.assertEqual((self.where(), self.cordoned()), (["n2", "n3"], True))

    def test_deleting_pods_moves_the_job_and_nothing_is_forbidden(self):
        before = len(API.audit(OURS))
        code, said = self.run_it("pods")
        self.assertEqual(code, 0, said)
        self.assertEqual((self.where(), self.cordoned()), (["n2", "n3"], True))
        asked = API.audit(OURS)[before:]
        self.assertEqual({a["decision"] for a in asked}, {"allow"})
        self.assertEqual({(a["verb"], a["resource"]) for a in asked} - {("patch", "jobs")},
                         {("get", "nodes"), ("patch", "nodes"), ("list", "pods"), ("delete", "pods"), ("get", "jobs")})

    def test_a_pod_that_came_after_is_not_deleted_in_its_place(self):
        pod = API.must("GET", PODS)["items"][0]
        path = f"{PODS}/{pod['metadata']['name']}"
        code, _ = API.ask("DELETE", path, {"preconditions": {"uid": "another"}})
        self.assertEqual(code, 409)
        self.assertEqual(API.ask("GET", path)[0], 200)

    def test_undo_uncordons(self):
        self.controllers.close()  # nothing is made anew: the job does not come back
        killer = threading.Timer(1, lambda: [API.ask("DELETE", f"{PODS}/{p['metadata']['name']}", {"gracePeriodSeconds": 0})
                                             for p in API.must("GET", PODS)["items"] if p["spec"]["nodeName"] == "n1"])
        killer.start()
        code, said = self.recover("run", "pods", "--despite", "no-checkpoint,cost", "--restart-seconds", "1")
        self.assertEqual(code, 1, said)
        self.assertTrue(self.cordoned(), said)
        code, said = self.recover("undo", "pods")
        self.assertEqual(code, 0, said)
        self.assertIn("n1 is uncordoned", said)
        self.assertFalse(self.cordoned())


if __name__ == "__main__":
    api_server.main()
