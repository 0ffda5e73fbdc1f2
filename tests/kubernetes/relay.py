"""What fakes/kubernetes_server.py offers to the tests of fathom-cordon, with a real API server behind it.

    server = Relay(api, pki, {user: rights}, {token: user}, certificate)

Requests go on to the real server as they are, but for tokens that `tokens` knows, which become real ones of that
account. The relay only keeps a log, and can make the next request go wrong on its way (`fault`). Rights are the real
authoriser's: changing `rules` changes the ClusterRole. `objects` are real nodes and events; beside them runs what a
cluster has and a lone API server has not, a controller that taints nodes which are cordoned.
"""
import http.client
import json
import socket
import threading
import time

import api_server  # noqa: F401  first: it knows where the others are
from fakes import kubernetes_server
from fakes.kubernetes_objects import JSON_PATCH, MERGE_PATCH, Refused, no_node

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/fathom-cordon"


def status(code, answer):
    """The answer, or Refused where it is an error."""
    if code >= 300:
        raise Refused(code, answer.get("reason", ""), answer.get("message", ""))
    return answer


class Objects:
    def __init__(self, api):
        self.api, self.history, self.stopping, self.forgets = api, [], threading.Event(), False
        self.connection = None
        for node in api.must("GET", "/api/v1/nodes")["items"]:
            api.must("DELETE", f"/api/v1/nodes/{node['metadata']['name']}")
        api.must("DELETE", "/api/v1/namespaces/default/events")
        version = api.must("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]
        self.watcher = threading.Thread(target=self._watch, args=(version,), daemon=True)
        self.watcher.start()

    def close(self):
        self.stopping.set()
        while self.watcher.is_alive():
            try:
                self.connection.sock.shutdown(socket.SHUT_RDWR)  # it waits for a change
            except (AttributeError, OSError):
                pass  # between two watches
            self.watcher.join(timeout=0.1)

    @property
    def keep(self):
        raise AttributeError("only to be set")

    @keep.setter
    def keep(self, versions):
        """Few: from now on each change is forgotten at once."""
        self.forgets = versions < 10

    def create(self, name, taints=(), labels=None):
        self.api.must("POST", "/api/v1/nodes", {"kind": "Node", "apiVersion": "v1", "spec": {"taints": list(taints)},
                                                "metadata": {"name": name, "labels": labels or {}}})
        # As the node controller does when the node reports itself: admission had tainted it as not ready.
        self.patch(name, None, MERGE_PATCH, {"spec": {"taints": list(taints) or None}})
        self.patch(name, "status", MERGE_PATCH, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})

    def delete(self, name):
        self.api.must("DELETE", f"/api/v1/nodes/{name}")

    def get(self, name):
        code, node = self.api.ask("GET", f"/api/v1/nodes/{name}")
        if code == 404:
            raise no_node(name)
        return status(code, node)

    def patch(self, name, subresource, form, patch, dry_run=False):
        path = f"/api/v1/nodes/{name}" + (f"/{subresource}" if subresource else "") + ("?dryRun=All" if dry_run else "")
        node = status(*self.api.ask("PATCH", path, patch, form))
        if self.forgets:
            self.api.forget_the_past()
        return node

    @property
    def events(self):
        return sorted(self.api.must("GET", "/api/v1/namespaces/default/events")["items"],
                      key=lambda e: int(e["metadata"]["resourceVersion"]))

    def _watch(self, version):
        while not self.stopping.is_set():
            self.connection = connection = self.api.pki.connect(f"127.0.0.1:{self.api.port}")
            try:
                connection.request("GET", f"/api/v1/nodes?watch=1&timeoutSeconds=5&resourceVersion={version}",
                                   headers={"Authorization": f"Bearer {self.api.token}"})
                for line in connection.getresponse():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        version = self.api.must("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]
                        break
                    version = event["object"]["metadata"]["resourceVersion"]
                    self.history.append((int(version), event["type"], event["object"]))
                    if event["type"] != "DELETED":
                        self._control(event["object"])
                    if self.stopping.is_set():
                        break
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.1)  # it is stopped for a while
            finally:
                connection.close()

    def _control(self, node):
        taints = node["spec"].get("taints", [])
        has = [i for i, t in enumerate(taints) if t["key"] == UNSCHEDULABLE["key"]]
        if bool(has) == node["spec"].get("unschedulable", False):
            return
        change = ({"op": "remove", "path": f"/spec/taints/{has[0]}"} if has else
                  {"op": "add", "path": "/spec/taints/-", "value": UNSCHEDULABLE} if taints else
                  {"op": "add", "path": "/spec/taints", "value": [UNSCHEDULABLE]})
        same = {"op": "test", "path": "/metadata/resourceVersion", "value": node["metadata"]["resourceVersion"]}
        # Refused: somebody was faster, and what they did comes next.
        self.api.ask("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", [same, change], JSON_PATCH)


class Rights(set):
    """(verb, resource) of the account's ClusterRole; a change is written to the server."""

    def __init__(self, rights, api, user):
        super().__init__(rights)
        self.api, self.user = api, user

    def discard(self, right):
        super().discard(right)
        self._write()

    def add(self, right):
        super().add(right)
        self._write()

    def _write(self):
        # Events are of a Role in `default`, which stays.
        rules = [{"apiGroups": [""], "resources": [resource], "verbs": [verb]} for verb, resource in sorted(self)
                 if resource != "events"]
        self.api.must("PATCH", ROLE, {"rules": rules}, MERGE_PATCH)
        # The authoriser follows some milliseconds later.
        for right in {("get", "nodes"), ("list", "nodes"), ("watch", "nodes"), ("patch", "nodes")}:
            deadline = time.monotonic() + 20
            while self.api.allowed(self.user, *right) != (right in self):
                if time.monotonic() > deadline:
                    raise AssertionError(f"the authoriser does not follow: {right}")
                time.sleep(0.02)


class Handler(kubernetes_server.Handler):
    def authenticate(self):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return self.server.tokens.get(token) if scheme == "Bearer" else None

    def authorize(self, entry):
        pass  # the real server's

    def act(self, verb, found, query, body):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        real = self.server.real_tokens(self.server.tokens.get(token)) or token
        headers = {k: v for k, v in self.headers.items() if k.lower() in ("content-type", "accept", "user-agent")}
        connection = self.server.api.pki.connect(f"127.0.0.1:{self.server.api.port}")
        try:
            connection.request(self.command, self.path, body or None, {**headers, "Authorization": f"{scheme} {real}"})
            answer = connection.getresponse()
            if verb == "watch" and answer.status == 200:
                return self.pass_on(answer)
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def pass_on(self, answer):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
        self.close_connection = True
        for line in answer:
            if self.server.stopping.is_set():
                break
            self.wfile.write(line)
        return 0, None


class Relay(kubernetes_server.KubernetesServer):
    HANDLER = Handler

    def __init__(self, api, pki, rules, tokens, certificate):
        """Of `rules` all but the administrator's are the ClusterRole's."""
        self.api, self.issued = api, {}
        super().__init__(pki, {user: Rights(rights, api, user) for user, rights in rules.items()}, tokens, certificate)

    def make_objects(self):
        return Objects(self.api)

    def attach(self, listener):
        super().attach(listener)
        listener.api, listener.real_tokens = self.api, self.real_tokens

    def real_tokens(self, user):
        if user == "admin":
            return self.api.token
        if user and user not in self.issued:
            self.issued[user] = self.api.account_token(*user.split(":")[2:])
        return self.issued.get(user)

    def close(self):
        self.stop()
        self.objects.close()
