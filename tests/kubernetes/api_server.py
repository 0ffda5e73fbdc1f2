"""A real etcd and a real kube-apiserver on this machine: RBAC, tokens of service accounts, an audit log.

    why_not_here()                 why there is none, with the command that makes one; None: there is one
    with ApiServer(pki) as server: server.ask("GET", "/api/v1/nodes")
    for_module(manifests), main()  what the scripts of tests beside this one begin with; importing this finds harness

Made by tests/kubernetes/make_server. There are no controllers and no kubelets: what is asked for is stored and judged,
nothing runs. Every request stands in the audit log (`audit()`), with what the authoriser said.
"""
import json
import pathlib
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
import harness  # noqa: E402
from pki import Pki  # noqa: E402

AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"


def check():
    return subprocess.run([HERE / "make_server", "--check"], capture_output=True, text=True)


def programs():
    """The folder of kube-apiserver, etcd and kubectl, or None."""
    run = check()
    return pathlib.Path(run.stdout.strip()) if run.returncode == 0 else None


def why_not_here():
    run = check()
    return None if run.returncode == 0 else run.stderr.strip()


def for_module(manifests):
    """For setUpModule: a server to which those files were applied; it ends after the module's tests."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-pki-"))
    unittest.addModuleCleanup(shutil.rmtree, folder)
    server = ApiServer(Pki(folder))
    server.__enter__()
    unittest.addModuleCleanup(server.__exit__)
    for file in manifests:
        run = server.kubectl("apply", "-f", str(file))
        assert run.returncode == 0, run.stderr
    return server


def main():
    """Runs the tests of the script; skips all where there is no server."""
    if why := why_not_here():
        print(f"skipped: {why}")
        sys.exit(harness.SKIPPED)
    unittest.main()


class ApiServer:
    def __init__(self, pki):
        self.pki, self.programs = pki, programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-kubernetes-"))
        self.certificate = pki.sign("kube-apiserver")
        subprocess.run(["openssl", "genrsa", "-out", "accounts.key", "2048"], cwd=self.folder, check=True, capture_output=True)
        self.token = secrets.token_hex(16)
        (self.folder / "tokens").write_text(f"{self.token},admin,admin,system:masters\n")
        (self.folder / "audit.yaml").write_text(AUDIT_POLICY)
        self.port, self.etcd_port, self.peer_port = harness.free_ports(3)
        self.server = self.etcd = None
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(
            context=ssl.create_default_context(cafile=str(pki.authority))), urllib.request.ProxyHandler({}))

    def __enter__(self):
        try:
            self.etcd = self.run("etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", self.etcd_url,
                                 "--advertise-client-urls", self.etcd_url, "--listen-peer-urls",
                                 f"http://127.0.0.1:{self.peer_port}", "--log-level", "error")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in (self.server, self.etcd):
            if process:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def run(self, program, *words):
        with open(self.folder / f"{program}.log", "ab") as log:
            return subprocess.Popen([self.programs / program, *map(str, words)], stdout=log, stderr=log, cwd=self.folder)

    def start(self):
        where, key = self.folder, self.folder / "accounts.key"
        self.server = self.run(
            "kube-apiserver", f"--etcd-servers={self.etcd_url}", f"--secure-port={self.port}", "--bind-address=127.0.0.1",
            f"--tls-cert-file={self.certificate[0]}", f"--tls-private-key-file={self.certificate[1]}",
            f"--client-ca-file={self.pki.authority}", "--authorization-mode=RBAC", f"--token-auth-file={where}/tokens",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-signing-key-file={key}",
            f"--service-account-key-file={key}", "--service-cluster-ip-range=10.0.0.0/24", "--endpoint-reconciler-type=none",
            f"--audit-policy-file={where}/audit.yaml", f"--audit-log-path={where}/audit.log", f"--cert-dir={where}",
            # What is forgotten is then what etcd was told to forget.
            "--watch-cache=false", "--profiling=false")
        deadline = time.monotonic() + 120
        while not self.ready():
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("kube-apiserver does not come up:\n" + (where / "kube-apiserver.log").read_text()[-2000:])
            time.sleep(0.2)

    def stop(self):
        """Without etcd, which keeps what is stored."""
        self.server.kill()
        self.server.wait()

    def ready(self):
        try:
            return self.ask("GET", "/readyz", raw=True)[0] == 200 and self.ask("GET", "/api/v1/namespaces/default")[0] == 200
        except OSError:
            return False

    @property
    def etcd_url(self):
        return f"http://127.0.0.1:{self.etcd_port}"

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, form="application/json", token=None, raw=False):
        """(code, answer)."""
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {token or self.token}", "Content-Type": form})
        try:
            with self.opener.open(request, timeout=30) as answer:
                code, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            code, text = error.code, error.read()
        return code, text.decode() if raw else json.loads(text)

    def must(self, method, path, body=None, form="application/json"):
        code, answer = self.ask(method, path, body, form)
        if code >= 300:
            raise AssertionError(f"{method} {path}: {code} {answer.get('message')}")
        return answer

    def minor(self):
        """20 of 1.20."""
        return int("".join(filter(str.isdigit, self.must("GET", "/version")["minor"])))

    def kubectl(self, *words, program=None, text=None):
        """As an administrator; the completed process. `program`: another kubectl than Debian's 1.20."""
        return subprocess.run([program or self.programs / "kubectl", "--server", self.url, "--certificate-authority",
                               self.pki.authority, "--token", self.token, *words], capture_output=True, text=True, input=text,
                              timeout=120, cwd=HERE.parents[1], env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"})

    def account_token(self, namespace, name, bound=None, seconds=3600):
        """A token of a service account; `bound`: {kind, apiVersion, name, uid} of the pod that it goes with."""
        spec = {"expirationSeconds": seconds, **({"boundObjectRef": bound} if bound else {})}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        return self.must("POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                                        "spec": spec})["status"]["token"]

    def allowed(self, user, verb, resource, group="", namespace=None, name=None):
        """What the authoriser says, asked by an administrator."""
        resource, _, part = resource.partition("/")
        at = {"verb": verb, "group": group, "resource": resource, "subresource": part, "namespace": namespace, "name": name}
        groups = ["system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{user.split(':')[-2]}"]
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                  "spec": {"user": user, "groups": groups, "resourceAttributes": {k: v for k, v in at.items() if v}}}
        return self.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]

    def audit(self, user):
        """What `user` asked for, in order: {verb, resource, namespace, name, code, decision}."""
        out = []
        for line in (self.folder / "audit.log").read_text().splitlines():
            event = json.loads(line)
            if event["user"].get("username") != user or "objectRef" not in event:
                continue
            at = event["objectRef"]
            resource = at["resource"] + (f"/{at['subresource']}" if "subresource" in at else "")
            out.append({"verb": event["verb"], "group": at.get("apiGroup", ""), "resource": resource,
                        "namespace": at.get("namespace"), "name": at.get("name"),
                        "code": event.get("responseStatus", {}).get("code"),
                        "decision": event["annotations"].get("authorization.k8s.io/decision")})
        return out

    def forget_the_past(self):
        """Compacts etcd: a watch from an older version is answered with 410."""
        version = self.must("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]
        request = urllib.request.Request(self.etcd_url + "/v3/kv/compaction", method="POST",
                                         data=json.dumps({"revision": version, "physical": True}).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            answer.read()
