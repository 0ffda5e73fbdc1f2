"""Beside nodes one training job and its pods, with what a cluster's controllers and scheduler do to them.

    server = JobServer(pki, rules, tokens, kind="jobs", pods=2)

A job of kind jobs, jobsets or pytorchjobs named `train`. While it is suspended its pods end; else it has its number of
them, each on a node of its own that is not cordoned, or on none. Answers are those of kubernetes_server.py.
"""
import copy
import re
import threading
import uuid

from fakes.kubernetes_objects import Objects, Refused, apply_json_patch, stale
from fakes.kubernetes_server import KubernetesServer

LABELS = {"jobs": "job-name", "jobsets": "jobset.sigs.k8s.io/jobset-name", "pytorchjobs": "training.kubeflow.org/job-name"}


def gone(kind, name):
    return Refused(404, "NotFound", f'{kind} "{name}" not found')


class Jobs:
    """The one job, by JSON patches only, and its pods."""

    def __init__(self, cluster, kind, pods):
        self.cluster, self.kind, self.wanted, self.ends, self.lock = cluster, kind, pods, True, threading.RLock()
        spec = {"runPolicy": {}} if kind == "pytorchjobs" else {}
        self.job = {"kind": kind, "metadata": {"name": "train", "namespace": "default", "uid": str(uuid.uuid4()),
                                               "resourceVersion": "1"}, "spec": spec, "status": {}}
        self.pods, self.made = {}, 0

    def suspended(self):
        return bool(self.job) and self.job["spec"].get("runPolicy", self.job["spec"]).get("suspend", False)

    def where(self):
        with self.lock:
            return [p["spec"].get("nodeName", "") for p in self.pods.values()]

    def settle(self):
        with self.lock:
            if self.suspended() and self.ends:
                self.pods.clear()
            while self.job and not self.suspended() and len(self.pods) < self.wanted:
                self.make()
            for pod in self.pods.values():
                if not pod["spec"].get("nodeName"):
                    pod["spec"]["nodeName"] = self.free_node()

    def free_node(self):
        taken = self.where()
        return next((n["metadata"]["name"] for n in self.cluster.list()["items"]
                     if not n["spec"].get("unschedulable") and n["metadata"]["name"] not in taken), "")

    def make(self):
        name, self.made = f"train-{self.made}", self.made + 1
        self.pods[name] = {"metadata": {"name": name, "namespace": "default", "uid": str(uuid.uuid4()),
                                        "resourceVersion": "1", "labels": {LABELS[self.kind]: "train"}},
                           "spec": {"nodeName": self.free_node(),
                                    "containers": [{"resources": {"requests": {"cpu": "3"}}}]}, "status": {"phase": "Running"}}

    # What the server asks for.
    def list(self, query):
        found = re.fullmatch(r"spec\.nodeName=(.+)", query.get("fieldSelector", ""))
        wanted = query.get("labelSelector")
        with self.lock:
            self.settle()
            return {"kind": "PodList", "items": [
                copy.deepcopy(p) for p in self.pods.values() if (not found or p["spec"]["nodeName"] == found[1]) and
                (not wanted or wanted in [f"{k}={v}" for k, v in p["metadata"]["labels"].items()])]}

    def get(self, name):
        if not self.job or name != "train":
            raise gone(self.kind, name)
        return copy.deepcopy(self.job)

    def patch(self, name, subresource, form, patch, dry_run=False):
        with self.lock:
            old, new = self.get(name), self.get(name)
            apply_json_patch(new, patch)
            for kept in ("resourceVersion", "uid", "name"):
                if new["metadata"].get(kept) != old["metadata"][kept]:
                    raise stale(name)
            if not dry_run and new != old:
                new["metadata"]["resourceVersion"] = str(int(old["metadata"]["resourceVersion"]) + 1)
                self.job = new
                self.settle()
            return copy.deepcopy(new)

    def delete(self, name, options, dry_run=False):
        with self.lock:
            if name not in self.pods:
                raise gone("pods", name)
            if self.pods[name]["metadata"]["uid"] != options["preconditions"]["uid"]:
                raise Refused(409, "Conflict", "Precondition failed: UID in precondition")
            if not dry_run:
                del self.pods[name]
                self.settle()
            return {"kind": "Status", "status": "Success"}


class Cluster(Objects):
    jobs = None

    def of(self, kind):
        if kind in ("pods", self.jobs.kind):
            return self.jobs
        return super().of(kind)


class JobServer(KubernetesServer):
    def __init__(self, *arguments, kind="jobs", pods=2):
        self.kind, self.wanted = kind, pods
        super().__init__(*arguments)

    def make_objects(self):
        cluster = Cluster()
        cluster.jobs = Jobs(cluster, self.kind, self.wanted)
        return cluster

    @property
    def jobs(self):
        return self.objects.jobs
