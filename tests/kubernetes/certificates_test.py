#!/usr/bin/python3
"""The scripts of deploy/k8s/authority against a real kube-apiserver: tokens of service accounts, bound to real pods,
requests for certificates that its admission judges, and its audit log of which rights were used.

Runs the tests of tests/integration/kubernetes_certificates_test.py that need no forged object. Skips (77) where no
server was made.
"""
import base64
import shutil

import api_server  # first: it knows where the others are
import harness
import kubernetes_certificates_test as shared
from fakes.kubernetes_authority import rights_of

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
API = None


def setUpModule():
    global API
    API = api_server.for_module(shared.K8S / part for part in ("collector/namespace.yaml", "agent/namespace.yaml",
                                                               "agent/serviceaccount.yaml", "authority/rbac.yaml"))


def path_of(key):
    kind, space, name = key
    return CSRS + f"/{name}" if kind == "certificatesigningrequests" else f"/api/v1/namespaces/{space}/{kind}/{name}"


class Things:
    """What is stored, as the stand-in tells it: Secrets with their texts."""

    def __getitem__(self, key):
        thing = API.must("GET", path_of(key))
        if key[0] == "secrets":
            thing["stringData"] = {k: base64.b64decode(v).decode() for k, v in thing["data"].items()}
        return thing

    def __delitem__(self, key):
        """At once, where a pod would have a time to end."""
        API.must("DELETE", path_of(key), {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})


class Server:
    def __init__(self):
        self.url, self.objects, self.tokens = API.url, Things(), {}


class CertificatesTest(shared.KubernetesCertificatesTest):
    test_who_is_no_agent_gets_no_certificate = None  # forges pods; below without
    test_it_is_made_once_and_every_right_is_needed = None

    def setUp(self):
        shared.daemon_case.DaemonCase.setUp(self)
        self.folder.joinpath("ca.crt").write_bytes(API.pki.authority.read_bytes())
        self.server = Server()
        for space in ("fathom", "fathom-agent"):
            for kind in ("secrets", "configmaps", "pods"):
                for thing in API.must("GET", f"/api/v1/namespaces/{space}/{kind}")["items"]:
                    del self.server.objects[(kind, space, thing["metadata"]["name"])]
        API.must("DELETE", CSRS)
        self.account("maker", shared.MAKER)
        self.account("signer", shared.SIGNER)

    def account(self, name, user, bound=None, **_):
        folder = self.folder / name
        folder.mkdir()
        shutil.copy(self.folder / "ca.crt", folder)
        (folder / "token").write_text(API.account_token(*user.split(":")[2:], bound=bound))

    def pod(self, name, node):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "fathom-agent"}, "spec": {
            "nodeName": node, "serviceAccountName": "fathomd", "automountServiceAccountToken": False,
            "containers": [{"name": "fathomd", "image": "fathom"}]}}
        uid = API.must("POST", "/api/v1/namespaces/fathom-agent/pods", pod)["metadata"]["uid"]
        self.account(name, shared.AGENT, {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": uid})

    def request(self, name, pod, request):
        body = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
                "spec": {"signerName": "fathom.dev/agents", "usages": ["client auth"], "request": request}}
        code, answer = API.ask("POST", CSRS, body, token=(self.folder / pod / "token").read_text())
        self.assertEqual(code, 201, answer)

    def test_who_is_not_in_a_pod_of_the_agent_gets_none(self):
        self.make()
        self.sign()
        self.account("unbound", shared.AGENT)
        API.must("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "somebody"}})
        self.account("foreign", "system:serviceaccount:default:somebody")
        binding = {"kind": "ClusterRoleBinding", "metadata": {"name": "foreign"},
                   "subjects": [{"kind": "ServiceAccount", "name": "somebody", "namespace": "default"}],
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fathomd"}}
        API.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
        for account, why in (("unbound", "its token is bound to no pod"),
                             ("foreign", "it was asked for by system:serviceaccount:default:somebody")):
            run = self.ask(account)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"the certificate was denied: {why}", run.stderr)

    def test_the_token_of_a_pod_that_is_gone_asks_for_nothing(self):
        self.make()
        self.sign()
        self.pod("gone", "n1")
        del self.server.objects[("pods", "fathom-agent", "gone")]
        run = self.ask("gone")
        self.assertEqual(run.returncode, 1)
        self.assertIn("401", run.stderr)

    def test_it_is_made_once_and_the_audit_log_has_every_right(self):
        start = {user: len(API.audit(user)) for user in (shared.MAKER, shared.SIGNER, shared.AGENT)}
        self.make()
        signer = self.server.objects[("secrets", "fathom", "fathom-signer")]["stringData"]
        self.make()
        self.assertEqual(self.server.objects[("secrets", "fathom", "fathom-signer")]["stringData"], signer)
        del self.server.objects[("configmaps", "fathom", "fathom-authority")]  # what an operator does to renew all
        self.make()
        self.assertNotEqual(self.server.objects[("secrets", "fathom", "fathom-signer")]["stringData"], signer)
        self.sign()
        self.pod("fathomd-x", "n1")
        self.assertEqual(self.ask("fathomd-x").returncode, 0, self.said())
        for user, rights in rights_of([shared.SCRIPTS]).items():
            # What admission asks for, the right to the signer, is in no request of its own. A watch is written down
            # when it ends.
            wanted = {r for r in rights if r[2] != "signers"}
            harness.wait_for(lambda: all(any(self.fits(r, a) for a in API.audit(user)[start[user]:]) for r in wanted))
            self.assertEqual({a["decision"] for a in API.audit(user)[start[user]:]}, {"allow"}, user)
            for verb in ("approve", "sign"):
                may = any(r[2] == "signers" and r[4] == verb for r in rights)
                self.assertEqual(API.allowed(user, verb, "signers", "certificates.k8s.io", name="fathom.dev/agents"), may)
                self.assertFalse(API.allowed(user, verb, "signers", "certificates.k8s.io", name="kubernetes.io/kubelet-serving"))

    @staticmethod
    def fits(right, asked):
        space, group, resource, name, verb = right
        return ((group, resource, verb) == (asked["group"], asked["resource"], asked["verb"])
                and space in (None, asked["namespace"]) and name in (None, asked["name"]))


if __name__ == "__main__":
    api_server.main()
