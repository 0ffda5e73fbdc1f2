"""Nodes and events as a Kubernetes API server keeps them: versions, patches, validation.

The state behind kubernetes_server.py. What it answers was measured on a real 1.20.2: a stale
resourceVersion in a patch is 409; a JSON patch whose `test` fails is 422; a strategic merge patch of
spec.taints replaces the whole list; dryRun=All answers as if and changes nothing; status is a
subresource. Thread-safe.
"""
import copy
import json
import threading
import uuid

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class Refused(Exception):
    """An answer of kind Status: code, reason, message."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.code, self.reason = code, reason


def stale(name):
    return Refused(409, "Conflict", f'Operation cannot be fulfilled on nodes "{name}": the object has been modified; '
                                    "please apply your changes to the latest version and try again")


def no_node(name):
    return Refused(404, "NotFound", f'nodes "{name}" not found')


def invalid(why):
    return Refused(422, "Invalid", why)


def walk(document, pointer):
    """(parent, last word) of a JSON pointer; Invalid where the way there is missing."""
    words = [w.replace("~1", "/").replace("~0", "~") for w in pointer.split("/")[1:]]
    for word in words[:-1]:
        try:
            document = document[int(word)] if isinstance(document, list) else document[word]
        except (KeyError, IndexError, ValueError):
            raise invalid("the server rejected our request due to an error in our request") from None
    return document, words[-1]


def value_at(parent, word):
    try:
        return parent[int(word)] if isinstance(parent, list) else parent[word]
    except (KeyError, IndexError, ValueError):
        raise invalid("the server rejected our request due to an error in our request") from None


def apply_json_patch(document, operations):
    for each in operations:
        parent, word = walk(document, each["path"])
        if each["op"] == "test":
            if value_at(parent, word) != each["value"]:
                raise invalid("the server rejected our request due to an error in our request")
        elif each["op"] == "add" and isinstance(parent, list):
            parent.insert(len(parent) if word == "-" else int(word), each["value"])
        elif each["op"] in ("add", "replace"):
            if each["op"] == "replace":
                value_at(parent, word)
            parent[int(word) if isinstance(parent, list) else word] = each["value"]
        elif each["op"] == "remove":
            value_at(parent, word)
            del parent[int(word) if isinstance(parent, list) else word]
        else:
            raise invalid(f"no operation {each['op']}")


def merge(document, patch, strategic):
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif strategic and key == "conditions":
            by_type = {c["type"]: c for c in document.get(key, [])}
            for condition in value:
                by_type.setdefault(condition["type"], {}).update(condition)
            document[key] = list(by_type.values())
        elif isinstance(value, dict):
            merge(document.setdefault(key, {}), value, strategic)
        else:
            document[key] = value  # lists too: spec.taints is replaced, not merged


def tidy(node):
    """Drops what an API server does not print: false and empty."""
    spec = node["spec"]
    if spec.get("unschedulable") is False:
        del spec["unschedulable"]
    for place, key in ((spec, "taints"), (node["metadata"], "annotations")):
        if not place.get(key, True):
            del place[key]


def validate(node):
    taints = node["spec"].get("taints", [])
    for taint in taints:
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute") or not taint.get("key"):
            raise invalid(f"spec.taints: {json.dumps(taint)} is no taint")
    if len({(t["key"], t["effect"]) for t in taints}) != len(taints):
        raise invalid("metadata.taints: Duplicate value: taints must be unique by key and effect pair")
    if not isinstance(node["spec"].get("unschedulable", False), bool):
        raise Refused(400, "BadRequest", "spec.unschedulable: expected bool")
    if not all(isinstance(v, str) for v in node["metadata"].get("annotations", {}).values()):
        raise Refused(400, "BadRequest", "metadata.annotations: expected string")


class Objects:
    def __init__(self, keep=1000):
        self.changed = threading.Condition()  # guards all below
        self.nodes, self.events = {}, []
        self.version, self.history, self.keep = 100, [], keep

    def _put(self, kind, node):
        self.version += 1
        node["metadata"]["resourceVersion"] = str(self.version)
        self.history = (self.history + [(self.version, kind, copy.deepcopy(node))])[-self.keep:]
        self.changed.notify_all()

    def create(self, name, taints=(), labels=None):
        with self.changed:
            node = {"kind": "Node", "apiVersion": "v1",
                    "metadata": {"name": name, "uid": str(uuid.uuid4()), "labels": labels or {}},
                    "spec": {"taints": list(taints)},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
            tidy(node)
            self.nodes[name] = node
            self._put("ADDED", node)

    def delete(self, name):
        with self.changed:
            node = self.nodes.pop(name)
            self._put("DELETED", node)

    def get(self, name):
        with self.changed:
            if name not in self.nodes:
                raise no_node(name)
            return copy.deepcopy(self.nodes[name])

    def of(self, kind):
        """What answers for a kind; kubernetes_jobs.py has more of them."""
        if kind not in ("nodes", "events"):
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        return self

    def list(self, query=()):
        with self.changed:
            return {"kind": "NodeList", "apiVersion": "v1", "metadata": {"resourceVersion": str(self.version)},
                    "items": copy.deepcopy(list(self.nodes.values()))}

    def patch(self, name, subresource, form, patch, dry_run=False):
        with self.changed:
            if name not in self.nodes:
                raise no_node(name)
            old, new = self.nodes[name], copy.deepcopy(self.nodes[name])
            if form == JSON_PATCH:
                apply_json_patch(new, patch)
            elif form in (MERGE_PATCH, STRATEGIC):
                merge(new, patch, form == STRATEGIC)
            else:
                raise Refused(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {form}")
            for kept in ("resourceVersion", "uid", "name"):
                if new["metadata"].get(kept) != old["metadata"][kept]:
                    raise stale(name)
            whole = copy.deepcopy(old)
            for part in (["status"] if subresource == "status" else ["metadata", "spec"]):
                whole[part] = new[part]
            tidy(whole)
            validate(whole)
            if dry_run or whole == old:
                return whole
            self.nodes[name] = whole
            self._put("MODIFIED", whole)
            self._controllers(whole)
            return copy.deepcopy(whole)

    def _controllers(self, node):
        """The node controller's own taint on a cordoned node: it comes and goes behind our back."""
        key = "node.kubernetes.io/unschedulable"
        others = [t for t in node["spec"].get("taints", []) if t["key"] != key]
        wanted = others + [{"key": key, "effect": "NoSchedule"}] if node["spec"].get("unschedulable") else others
        if wanted != node["spec"].get("taints", []):
            self.nodes[node["metadata"]["name"]] = node = copy.deepcopy(node)
            node["spec"]["taints"] = wanted
            tidy(node)
            self._put("MODIFIED", node)

    def create_event(self, event):
        for field in ("involvedObject", "reason", "metadata"):
            if field not in event:
                raise invalid(f"{field}: Required value")
        with self.changed:
            self.events.append(event)

    def since(self, version, patience):
        """What came after that version: waits for something; Refused(410) when it is forgotten."""
        with self.changed:
            if self.history and version + 1 < self.history[0][0]:
                raise Refused(410, "Expired", f"too old resource version: {version} ({self.version})")
            self.changed.wait_for(lambda: self.version > version, timeout=patience)
            return [entry for entry in self.history if entry[0] > version]
