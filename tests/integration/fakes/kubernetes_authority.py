"""A local Kubernetes API server for what deploy/k8s/authority asks of one: Secrets, ConfigMaps, pods, requests for
certificates, and RBAC as the manifests grant it.

    with AuthorityServer(pki, rights_of([FOLDER])) as server:
        server.tokens["secret"] = {"username": "system:serviceaccount:…", "extra": {…}}

`granted` are the rights of each account, `used` those that were needed: none may be left over.
"""
import http.server
import json
import re
import ssl
import threading
import time
import urllib.parse

import yaml

PATH = re.compile(r"^/(?:api|apis/([^/]+))/v1/(?:namespaces/([^/]+)/)?([a-z]+)(?:/([^/]+))?(?:/([a-z]+))?$")
SIGNER = "fathom.dev/agents"


def rights_of(folders):
    """account → set of (namespace or None, group, resource, name or None, verb) that the manifests there grant."""
    things = [d for f in folders for p in f.glob("*.yaml") for d in yaml.safe_load_all(p.read_text()) if d]
    roles = {(t["kind"], t["metadata"].get("namespace"), t["metadata"]["name"]): t["rules"] for t in things if "rules" in t}
    granted = {}
    for thing in things:
        if not thing["kind"].endswith("RoleBinding"):
            continue
        space = thing["metadata"].get("namespace")
        for subject in thing["subjects"]:
            account = f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
            for rule in roles[(thing["roleRef"]["kind"], space, thing["roleRef"]["name"])]:
                granted.setdefault(account, set()).update(
                    (space, group, resource, name, verb) for group in rule["apiGroups"] for resource in rule["resources"]
                    for name in rule.get("resourceNames", [None]) for verb in rule["verbs"])
    return granted


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.serve("get")

    def do_PUT(self):
        self.serve("update")

    def do_POST(self):
        self.serve("create")

    def serve(self, verb):
        where = urllib.parse.urlsplit(self.path)
        group, space, kind, name, part = PATH.match(where.path).groups()
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        query = dict(urllib.parse.parse_qsl(where.query))
        verb = "watch" if query.get("watch") else verb
        user = self.server.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        resource = f"{kind}/{part}" if part else kind
        if user is None:
            return self.answer(401, {"message": "Unauthorized"})
        wanted = [(space, group or "", resource, name, verb)]
        if part:  # the signer itself is a right as well
            wanted.append((None, group, "signers", SIGNER, {"approval": "approve", "status": "sign"}[part]))
        for right in wanted:
            if not self.server.allows(user["username"], right):
                return self.answer(403, {"kind": "Status", "message": f"{user['username']} cannot {right}"})
        if verb == "watch":
            return self.watch(float(query["timeoutSeconds"]))
        return self.answer(*getattr(self, verb)(kind, space, name, part, body, user))

    def get(self, kind, space, name, *_):
        found = self.server.objects.get((kind, space, name))
        return (200, found) if found else (404, {"message": f"{kind} {name} not found"})

    def create(self, kind, space, _, part, body, user):
        key = (kind, space, body["metadata"]["name"])
        if key in self.server.objects:
            return 409, {"message": f"{key} already exists"}
        if kind == "certificatesigningrequests":
            body["spec"].update(user)  # the server says who asks, whatever the request says
        self.server.put(key, body)
        return 201, body

    def update(self, kind, space, name, part, body, _):
        key = (kind, space, name)
        if key not in self.server.objects:
            return 404, {"message": f"{key} not found"}
        if part == "status" and not any(c["type"] == "Approved" for c in body["status"].get("conditions", [])):
            return 422, {"message": "it is not approved"}
        self.server.put(key, body)
        return 200, body

    def watch(self, seconds):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        shown, until = set(), time.monotonic() + seconds
        while time.monotonic() < until and not self.server.stopping.wait(0.1):
            for key, body in list(self.server.objects.items()):
                if key[0] == "certificatesigningrequests" and key not in shown and body["spec"]["signerName"] == SIGNER:
                    shown.add(key)
                    self.wfile.write(json.dumps({"type": "ADDED", "object": body}).encode() + b"\n")

    def answer(self, code, content):
        text = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class AuthorityServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, pki, granted):
        super().__init__(("127.0.0.1", 0), Handler)
        self.granted, self.used = granted, {}
        self.objects, self.tokens, self.lock, self.stopping = {}, {}, threading.Lock(), threading.Event()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, pki.sign("api")))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # a client that left

    def allows(self, user, right):
        space, group, resource, name, verb = right
        for granted in self.granted.get(user, ()):
            of, *what, named, how = granted
            if of in (None, space) and what == [group, resource] and named in (None, name) and how == verb:
                with self.lock:
                    self.used.setdefault(user, set()).add(granted)
                return True
        return False

    def put(self, key, body):
        with self.lock:
            self.objects[key] = body
