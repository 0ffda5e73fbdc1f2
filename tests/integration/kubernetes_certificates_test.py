#!/usr/bin/python3
"""deploy/k8s without --insecure: its scripts against a local API server make certificates and tokens, the real
programs start with the arguments of the manifests, and an agent speaks for the node of its pod alone.

Run as root or not; of the machine it needs openssl, curl and jq.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import unittest
import urllib.error
import urllib.request

import yaml

import daemon_case
import harness
from fakes.kubernetes_authority import AuthorityServer, rights_of
from pki import Pki

K8S = harness.ROOT / "deploy/k8s"
SCRIPTS = K8S / "authority"
MAKER, SIGNER, AGENT = ("system:serviceaccount:" + n for n in ("fathom:fathom-authority", "fathom:fathom-signer",
                                                               "fathom-agent:fathomd"))


def manifest(path, kind):
    return next(d for d in yaml.safe_load_all((K8S / path).read_text()) if d["kind"] == kind)


def arguments(path, kind):
    return manifest(path, kind)["spec"]["template"]["spec"]["containers"][0]["args"]


class KubernetesCertificatesTest(daemon_case.DaemonCase):
    def setUp(self):
        missing = [tool for tool in ("openssl", "curl", "jq") if not shutil.which(tool)]
        if missing:
            self.skipTest(f"{', '.join(missing)} not installed")
        super().setUp()
        self.server = AuthorityServer(Pki(self.folder), rights_of([SCRIPTS]))
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.account("maker", MAKER)
        self.account("signer", SIGNER)

    def account(self, name, user, **extra):
        """A folder as the kubelet mounts it, with a token of its own."""
        folder = self.folder / name
        folder.mkdir()
        shutil.copy(self.folder / "ca.crt", folder)
        (folder / "token").write_text(f"secret-of-{name}")
        self.server.tokens[f"secret-of-{name}"] = {"username": user, "extra": {
            f"authentication.kubernetes.io/{key.replace('_', '-')}": [value] for key, value in extra.items()}}

    def pod(self, name, node, uid=None):
        """A pod of the agent on that node, and the account that it has; `uid`: another than its token's."""
        self.server.put(("pods", "fathom-agent", name), {"metadata": {"name": name, "uid": uid or f"uid-{name}"},
                                                         "spec": {"nodeName": node}})
        self.account(name, AGENT, pod_name=name, pod_uid=f"uid-{name}")

    def environment(self, account):
        return {**os.environ, "FATHOM_API": self.server.url, "FATHOM_ACCOUNT": str(self.folder / account),
                "POD_UID": f"uid-{account}", "FATHOM_WATCH_SECONDS": "5", "FATHOM_PATIENCE_S": "30"}

    def script(self, name, account, *more):
        return subprocess.run(["/bin/bash", SCRIPTS / name, *more], env=self.environment(account), capture_output=True,
                              text=True, timeout=60)

    def make(self):
        run = self.script("make_authority", "maker")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def mount(self, kind, name, space="fathom"):
        """The files of a Secret or ConfigMap, in a folder."""
        folder = self.folder / f"{kind}-{name}"
        folder.mkdir(exist_ok=True)
        thing = self.server.objects[(kind, space, name)]
        for key, text in thing["stringData" if kind == "secrets" else "data"].items():
            (folder / key).write_text(text)
            (folder / key).chmod(0o440)
        return folder

    def sign(self):
        """fathom-signer, until the test ends."""
        log = open(self.folder / "signer.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(["/bin/bash", SCRIPTS / "sign_agents", self.mount("secrets", "fathom-signer")],
                                   env=self.environment("signer"), stdout=log, stderr=log)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.send_signal, signal.SIGTERM)

    def said(self):
        return (self.folder / "signer.log").read_text()

    def collector(self):
        places = {"/etc/fathom-authority": self.mount("configmaps", "fathom-authority"), "0.0.0.0:707": "127.0.0.1:0#",
                  "/etc/fathom": self.mount("secrets", "fathom-collector"), "/var/lib/fathom": self.folder}
        return self.start("fathom-collector", *self.placed(arguments("collector/statefulset.yaml", "StatefulSet"), places))

    def agent(self, collector, pod, node):
        places = {"fathom-collector.fathom.svc:7071": "localhost:" + collector.where["grpc"].rsplit(":", 1)[1],
                  "/run/fathom-certificate": self.folder / f"certificate-{pod}", "$(NODE_NAME)": node, ":7072": ":0",
                  "/etc/fathom/authority": self.mount("configmaps", "fathom-authority", "fathom-agent")}
        return self.start("fathomd", *self.placed(arguments("agent/daemonset.yaml", "DaemonSet"), places))

    @staticmethod
    def placed(words, places):
        for old, new in places.items():
            words = [w.replace(old, str(new)) for w in words]
        return [w.split("#")[0] for w in words if w != "--shared"]

    def request(self, name, pod, request):
        """Hands in a request for a certificate that no script of ours made, with the token of that pod."""
        self.server.put(("certificatesigningrequests", None, name), {"metadata": {"name": name}, "spec": {
            "signerName": "fathom.dev/agents", "request": request, **self.server.tokens[f"secret-of-{pod}"]}})

    def ask(self, pod):
        return self.script("ask_certificate", pod, self.folder / f"certificate-{pod}")

    def test_an_agent_speaks_for_the_node_of_its_pod_alone(self):
        self.make()
        self.sign()
        self.pod("fathomd-x", "n1")
        run = self.ask("fathomd-x")
        self.assertEqual((run.returncode, run.stderr), (0, ""), self.said())
        self.assertIn("for node n1", self.said())
        collector = self.collector()
        self.wait_log(self.agent(collector, "fathomd-x", "n1"), "connected to collector")
        stranger = self.agent(collector, "fathomd-x", "n2")
        self.wait_log(stranger, "speaks for n1 and not for node n2")
        self.assertEqual(stranger.log().count("connected to collector"), 0, stranger.log())
        self.assertEqual([w for w in arguments("agent/daemonset.yaml", "DaemonSet") +
                          arguments("collector/statefulset.yaml", "StatefulSet") if "insecure" in w], [])

    def test_who_is_no_agent_gets_no_certificate(self):
        self.make()
        self.sign()
        self.pod("gone", "n1", uid="another pod of that name")
        self.account("foreign", "system:serviceaccount:default:somebody", pod_name="gone", pod_uid="uid-gone")
        self.server.granted["system:serviceaccount:default:somebody"] = self.server.granted[AGENT]
        self.account("unbound", AGENT)
        self.pod("elsewhere", "n1,DNS:n2")
        for pod, why in (("gone", "there is no pod gone with that token"), ("unbound", "its token is bound to no pod"),
                         ("foreign", "it was asked for by system:serviceaccount:default:somebody"),
                         ("elsewhere", "pod elsewhere is on no node")):
            with self.subTest(pod):
                run = self.ask(pod)
                self.assertEqual(run.returncode, 1)
                self.assertIn(f"the certificate was denied: {why}", run.stderr)
                self.assertFalse((self.folder / f"certificate-{pod}/current").exists())

    def test_a_request_may_ask_for_nothing_but_its_key(self):
        """Names, and that it be an authority: none of it stands in the certificate."""
        self.make()
        self.sign()
        self.pod("fathomd-x", "n1")
        (self.folder / "wish").write_text("[req]\ndistinguished_name=d\nreq_extensions=e\n[d]\n[e]\n"
                                          "subjectAltName=DNS:n2\nbasicConstraints=CA:TRUE\n")
        subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=n2", "-keyout", "k", "-out",
                        "r", "-config", "wish"], cwd=self.folder, check=True, capture_output=True)
        self.request("mine", "fathomd-x", base64.b64encode((self.folder / "r").read_bytes()).decode())
        key = ("certificatesigningrequests", None, "mine")
        harness.wait_for(lambda: "certificate" in self.server.objects[key].get("status", {}))
        text = base64.b64decode(self.server.objects[key]["status"]["certificate"])
        shown = subprocess.run(["openssl", "x509", "-noout", "-text"], input=text, capture_output=True, check=True).stdout.decode()
        self.assertIn("DNS:n1", shown)
        self.assertNotIn("n2", shown)
        self.assertNotIn("CA:TRUE", shown)

    def test_it_is_made_once_and_every_right_is_needed(self):
        self.make()
        first = dict(self.server.objects)
        self.make()
        self.assertEqual({k: v for k, v in self.server.objects.items() if k[2] != "fathom-authority"},
                         {k: v for k, v in first.items() if k[2] != "fathom-authority"})
        del self.server.objects[("configmaps", "fathom", "fathom-authority")]  # what an operator does to renew all
        self.make()
        self.assertNotEqual(self.server.objects[("secrets", "fathom", "fathom-signer")],
                            first[("secrets", "fathom", "fathom-signer")])
        self.sign()
        self.pod("fathomd-x", "n1")
        self.assertEqual(self.ask("fathomd-x").returncode, 0)
        self.assertEqual(self.server.used, self.server.granted)

    def test_a_certificate_that_lasts_is_kept(self):
        self.make()
        self.sign()
        self.pod("fathomd-x", "n1")
        self.ask("fathomd-x")
        current = self.folder / "certificate-fathomd-x/current"
        before = os.readlink(current)
        self.ask("fathomd-x")
        self.assertEqual(os.readlink(current), before)
        self.assertEqual(stat_of(current / "agent.key"), 0o600)

    def test_cordon_reads_the_collector(self):
        self.make()
        collector = self.collector()
        text = manifest("cordon/configmap.yaml", "ConfigMap")["data"]["cordon.yaml"]
        for old, new in {"fathom-collector.fathom.svc:7070": "localhost:" + collector.where["http"].rsplit(":", 1)[1],
                         "/etc/fathom-secrets": self.mount("secrets", "fathom-cordon"), "0.0.0.0:7073": "127.0.0.1:0",
                         "/etc/fathom-authority": self.mount("configmaps", "fathom-authority"),
                         "/var/lib/fathom-cordon": self.folder, "poll_s: 10": "poll_s: 0.2"}.items():
            self.assertIn(old, text)
            text = text.replace(old, str(new))
        (self.folder / "cordon.yaml").write_text(text)
        self.settings = lambda program, old=self.settings: {"FATHOM_HTTP": "127.0.0.1:0"} if program == "fathom-cordon" else old(program)
        cordon = self.start("fathom-cordon", "--config", self.folder / "cordon.yaml", "--kubernetes-server", self.server.url,
                            "--kubernetes-ca-file", self.folder / "ca.crt", "--kubernetes-token-file", self.folder / "signer/token")
        people, ca = self.mount("secrets", "fathom-people"), self.mount("configmaps", "fathom-authority") / "ca.crt"
        address = "https://localhost:" + cordon.where["http"].rsplit(":", 1)[1]
        token = (people / "operator.token").read_text()
        context = ssl.create_default_context(cafile=str(ca))

        def problems():
            request = urllib.request.Request(address + "/api/v1/plan", headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(request, context=context, timeout=10) as answer:
                return json.load(answer)["problems"]

        # Of nodes the signer's account may see none; of the collector there is nothing to say.
        said = harness.wait_for(problems)
        self.assertIn("cannot", str(said))
        self.assertNotIn("collector", str(said))
        self.assertEqual(self.code(address + "/api/v1/plan", context), 401)

    def test_people_come_with_the_tokens_that_were_made(self):
        self.make()
        collector = self.collector()
        people = self.mount("secrets", "fathom-people")
        ca = self.mount("configmaps", "fathom-authority") / "ca.crt"
        address = "https://localhost:" + collector.where["http"].rsplit(":", 1)[1]
        run = self.fathom("get", "jobs", "--collector-http", address, FATHOM_CA_FILE=str(ca))
        self.assertNotEqual(run.returncode, 0)
        (people / "operator.token").chmod(0o400)
        run = self.fathom("get", "jobs", "--collector-http", address, FATHOM_CA_FILE=str(ca),
                          FATHOM_TOKEN_FILE=str(people / "operator.token"))
        self.assertEqual(run.returncode, 0, run.stderr)
        # The probes of the kubelet show nothing, and check nothing.
        anybody = ssl._create_unverified_context()
        for path in ("/healthz", "/readyz"):
            harness.wait_for(lambda: self.code(address + path, anybody) == 200)
        self.assertEqual(self.code(address + "/metrics", anybody), 401)

    @staticmethod
    def code(url, context):
        try:
            with urllib.request.urlopen(url, context=context, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code


def stat_of(path):
    return pathlib.Path(path).stat().st_mode & 0o777


if __name__ == "__main__":
    unittest.main()
