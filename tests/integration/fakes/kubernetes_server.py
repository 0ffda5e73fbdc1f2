"""A local Kubernetes API server for nodes and events: HTTPS, tokens and client certificates, RBAC.

    with KubernetesServer(Pki(folder), rules) as server:
        server.objects.create("n1")

kubernetes_objects.py holds what it answers from. Every request is logged (`requests`: user, verb,
resource, code, agent), as an audit log does. `fault(...)` makes the next requests go wrong.
"""
import http.server
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse

import yaml

from fakes.kubernetes_objects import Objects, Refused

PATHS = re.compile(r"^/(?:api|apis/[^/]+)/v1\w*/(?:namespaces/[^/]+/)?(nodes|events|pods|jobs|jobsets|pytorchjobs)"
                   r"(?:/([^/]+))?(?:/(status))?$")


def rules_of(path):
    """(verb, resource) of every rule of the roles in a manifest."""
    rules = [r for d in yaml.safe_load_all(path.read_text()) for r in d.get("rules", [])]
    return {(verb, resource) for r in rules for resource in r["resources"] for verb in r["verbs"]}


class Fault:
    """What goes wrong with the next `times` requests of a verb on a resource.

    kind: status (answers with `code`), lost (carries it out, answers nothing), error (carries it
    out, answers 500), before (calls `then` first and goes on).
    """

    def __init__(self, verb, resource, kind, times=1, code=0, retry_after=0, then=None):
        self.verb, self.resource, self.kind, self.times = verb, resource, kind, times
        self.code, self.retry_after, self.then = code, retry_after, then


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def setup(self):
        self.request.settimeout(20)
        self.request.do_handshake()
        super().setup()

    def do_GET(self):
        self.serve("get")

    def do_PATCH(self):
        self.serve("patch")

    def do_POST(self):
        self.serve("create")

    def do_DELETE(self):
        self.serve("delete")

    def serve(self, verb):
        where = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(where.query))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        found = PATHS.match(where.path)
        resource = f"{found[1]}/{found[3]}" if found and found[3] else found[1] if found else where.path
        if verb == "get" and found and not found[2]:
            verb = "watch" if query.get("watch") else "list"
        entry = {"verb": verb, "resource": resource, "name": found[2] if found else None, "code": 0,
                 "agent": self.headers.get("User-Agent", ""), "user": None, "dry_run": "dryRun" in query}
        try:
            entry["user"] = self.authenticate()
            self.authorize(entry)
            code, answer = self.carry_out(verb, resource, found, query, body)
        except Refused as refused:
            code, answer = refused.code, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                                          "message": str(refused), "reason": refused.reason, "code": refused.code}
        entry["code"] = code
        self.server.log(entry)
        if code:
            self.answer(code, answer)

    def authenticate(self):
        certificate = self.request.getpeercert()
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        user = self.server.tokens.get(token) if scheme == "Bearer" else None
        if user is None and certificate:
            user = next(v for part in certificate["subject"] for k, v in part if k == "commonName")
        if user is None:
            raise Refused(401, "Unauthorized", "Unauthorized")
        return user

    def authorize(self, entry):
        verb, resource, user = entry["verb"], entry["resource"], entry["user"]
        if (verb, resource) not in self.server.rules.get(user, set()):
            raise Refused(403, "Forbidden", f'nodes "{entry["name"]}" is forbidden: User "{user}" cannot {verb} '
                                            f'resource "{resource}" in API group "" at the cluster scope')

    def carry_out(self, verb, resource, found, query, body):
        fault = self.server.next_fault(verb, resource)
        if fault and fault.kind == "status":
            self.retry_after = fault.retry_after
            raise Refused(fault.code, "Fault", "it was told to")
        if fault and fault.kind == "before":
            fault.then()
        answer = self.act(verb, found, query, body)
        if fault and fault.kind == "error":
            raise Refused(500, "InternalError", "etcdserver: request timed out")
        if fault and fault.kind == "lost":
            self.close_connection = True
            return 0, None
        return answer

    def act(self, verb, found, query, body):
        objects = self.server.objects.of(found[1])
        if verb == "watch":
            self.watch(int(query.get("resourceVersion", 0)), float(query.get("timeoutSeconds", "inf")),
                       "allowWatchBookmarks" in query)
            return 0, None
        if verb == "list":
            return 200, objects.list(query)
        if verb == "delete" and found[1] == "pods":
            return 200, objects.delete(found[2], json.loads(body), query.get("dryRun") == "All")
        if verb == "get":
            return 200, objects.get(found[2])
        if verb == "patch":
            form = self.headers.get("Content-Type", "")
            return 200, objects.patch(found[2], found[3], form, json.loads(body), query.get("dryRun") == "All")
        if verb == "create":
            objects.create_event(json.loads(body))
            return 201, json.loads(body)
        raise Refused(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")

    def answer(self, code, content):
        text = json.dumps(content).encode()
        head = f"HTTP/1.1 {code} -\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        if getattr(self, "retry_after", 0):
            head += f"Retry-After: {self.retry_after}\r\n"
        self.retry_after = 0
        self.wfile.write(head.encode() + b"\r\n" + text)

    def watch(self, version, seconds, bookmarks):
        """A line for each change; an ERROR of code 410 where the version is forgotten. Ends after so many seconds."""
        until = time.monotonic() + seconds
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n")
        self.close_connection = True
        while not self.server.stopping.is_set() and time.monotonic() < until:
            try:
                changes = self.server.objects.since(version, 0.2)
            except Refused as gone:
                status = {"kind": "Status", "code": gone.code, "reason": gone.reason, "message": str(gone)}
                self.wfile.write(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
                return
            for version, kind, node in changes:
                self.wfile.write(json.dumps({"type": kind, "object": node}).encode() + b"\n")
        if bookmarks:
            mark = {"kind": "Node", "metadata": {"resourceVersion": str(version)}}
            self.wfile.write(json.dumps({"type": "BOOKMARK", "object": mark}).encode() + b"\n")


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *arguments):
        self.connections, self.stopping = set(), threading.Event()
        super().__init__(*arguments)

    def process_request(self, request, client_address):
        self.connections.add(request)
        super().process_request(request, client_address)

    def close_request(self, request):
        self.connections.discard(request)
        super().close_request(request)

    def cut(self):
        self.stopping.set()
        self.shutdown()
        self.server_close()
        for each in list(self.connections):
            try:
                socket.socket.shutdown(each, socket.SHUT_RDWR)
            except OSError:
                pass  # it has just ended

    def handle_error(self, request, client_address):
        pass  # a client that left, or that does not trust us


class KubernetesServer:
    HANDLER = Handler

    def __init__(self, pki, rules, tokens, certificate=None):
        """rules: user → set of (verb, resource); tokens: token → user. `make_objects` may give more than nodes and events."""
        self.pki, self.objects, self.rules, self.tokens = pki, self.make_objects(), rules, tokens
        self.certificate = certificate or pki.sign("server")
        self.requests, self.faults, self.lock = [], [], threading.Lock()
        self.port, self.listener = 0, None
        self.start()

    def make_objects(self):
        return Objects()

    def attach(self, listener):
        """What its requests are answered from."""
        for name in ("objects", "rules", "tokens", "log", "next_fault"):
            setattr(listener, name, getattr(self, name))

    def close(self):
        self.stop()

    def start(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, self.certificate))
        context.load_verify_locations(str(self.pki.authority))
        context.verify_mode = ssl.CERT_OPTIONAL
        self.listener = Listener(("127.0.0.1", self.port), self.HANDLER)
        self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True,
                                                   do_handshake_on_connect=False)
        self.attach(self.listener)
        self.port = self.listener.server_address[1]
        threading.Thread(target=self.listener.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        """Refuses connections until `start`; those that stand are cut."""
        self.listener.cut()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def log(self, entry):
        with self.lock:
            self.requests.append({**entry, "time": time.monotonic()})

    def fault(self, *arguments, **more):
        with self.lock:
            self.faults.append(Fault(*arguments, **more))

    def next_fault(self, verb, resource):
        with self.lock:
            for fault in self.faults:
                if (fault.verb, fault.resource) == (verb, resource) and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None
