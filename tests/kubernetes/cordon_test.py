#!/usr/bin/python3
"""fathom-cordon against a real kube-apiserver: all tests of tests/integration/cordon_kubernetes_test.py, with the real
authoriser, conflicts, patches, watch and 410, and what only a real one shows. Skips (77) where none was made.
"""
import api_server  # first: it knows where the others are
import cordon_kubernetes_test as shared
import harness
import relay

RBAC = harness.ROOT / "deploy/k8s/cordon/rbac.yaml"
SPACES = [harness.ROOT / "deploy/k8s" / part / "namespace.yaml" for part in ("collector", "agent")]
API = None


def setUpModule():
    global API
    API = api_server.for_module([*SPACES, RBAC])


class RealServer:
    """Goes before a class of the shared tests."""

    @classmethod
    def setUpClass(cls):
        cls.pki, cls.certificate = API.pki, API.certificate

    @classmethod
    def tearDownClass(cls):
        pass

    def make_server(self, rules, tokens):
        server = relay.Relay(API, self.pki, rules, tokens, self.certificate)
        server.rules[shared.OURS]._write()
        return server


class ServerTest(RealServer, shared.ServerTest):
    """The stand-in of the other tests answers as this one does: the same test."""


class CordonTest(RealServer, shared.CordonKubernetesTest):
    test_an_expired_certificate_is_not_spoken_to = None  # never reaches a server

    def test_a_client_certificate_instead_of_a_token(self):
        certificate, key = self.pki.sign("cordon-by-certificate")
        API.must("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "by-certificate"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fathom-cordon"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "cordon-by-certificate"}]})
        self.BACKEND = self.BACKEND.replace(self.server.url, API.url)
        self.BACKEND += f"kubernetes_cert_file: {certificate}\nkubernetes_key_file: {key}\n"
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        self.assertIn(("patch", "nodes", 200), [(a["verb"], a["resource"], a["code"]) for a in API.audit("cordon-by-certificate")])

    def test_what_the_server_itself_writes_down(self):
        """Its audit log: every right that is granted is used, nothing is asked for that is forbidden."""
        before = len(API.audit(shared.OURS))
        self.start("auto", "--kubernetes-watch")
        harness.wait_for(lambda: self.ours("watch"))
        self.collector.accuse("n2", "v1")
        self.fathom("action", "undo", self.wait_phase("acted")["id"])
        self.wait_phase("undone")
        harness.wait_for(lambda: len(self.server.objects.events) == 2)
        asked = API.audit(shared.OURS)[before:]
        self.assertEqual({a["decision"] for a in asked}, {"allow"})
        self.assertEqual({(a["verb"], a["resource"]) for a in asked}, shared.CLUSTER_RULES)

    def test_a_verdict_that_closes_while_nodes_are_read_holds_nothing(self):
        """In a look: the verdict is read, open; then, while nodes are read, it is approved and closes."""
        self.start("approve")
        self.collector.accuse("n1", "v1")
        action, done = self.wait_phase("advised"), []

        def approve_and_close():
            done.append(self.fathom("action", "approve", action["id"]).returncode)
            self.collector.verdicts[0]["until"] = 1
        self.server.fault("list", "nodes", "before", then=approve_and_close)
        harness.wait_for(lambda: done)
        self.assertEqual(done, [0])
        harness.wait_for(lambda: '"declined"' in (self.folder / "audit.jsonl").read_text())
        self.looks(0.5)
        self.assertEqual(self.ours("patch"), [])
        self.assertFalse(self.cordoned("n1"))

    def test_after_a_reset_with_the_right_back_it_acts(self):
        self.LIMITS += "max_per_window: 10\n"
        self.server.rules[shared.OURS].discard(("patch", "nodes"))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("breaker")
        self.server.rules[shared.OURS].add(("patch", "nodes"))
        self.assertEqual(self.fathom("action", "reset").returncode, 0)
        self.wait_phase("acted")
        self.assertTrue(self.cordoned("n1"))

    def test_events_that_are_forbidden_are_told_and_the_hold_stands(self):
        binding = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/fathom-cordon"
        API.must("DELETE", binding)
        self.addCleanup(lambda: self.assertEqual(API.kubectl("apply", "-f", str(RBAC)).returncode, 0))
        harness.wait_for(lambda: not API.allowed(shared.OURS, "create", "events", namespace="default"))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        self.assertTrue(self.cordoned("n1"))
        self.problem("event for n1")
        self.wait_plan("cannot create resource")

    def test_a_list_that_is_forbidden_is_told_as_such(self):
        self.server.rules[shared.OURS].discard(("list", "nodes"))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("cannot list resource")
        self.assertNotIn("does not answer", self.fathom("action", "plan").stdout)
        self.server.rules[shared.OURS].add(("list", "nodes"))
        self.wait_phase("acted")

    def test_a_server_that_is_started_again_has_what_was_held(self):
        self.start("auto")
        self.collector.accuse("n1", "v1")
        action = self.wait_phase("acted")
        API.stop()
        self.wait_plan("the back-end gives no answer")
        API.start()
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertFalse(self.cordoned("n1"))


class WatchTest(RealServer, shared.CordonKubernetesWatchTest):
    def test_a_server_that_is_started_again_is_watched_again(self):
        self.start("auto")
        self.wait_watches(1)
        API.stop()
        harness.wait_for(lambda: "nodes" in (self.folder / "log").read_text())
        API.start()
        self.as_person("n3", {"spec": {"unschedulable": True}})
        self.wait_watches(2)
        self.collector.accuse("n3", "v3")
        self.wait_plan("somebody else")
        self.collector.verdicts.clear()  # the stand-in puts all nodes that are accused into one job
        self.collector.accuse("n4", "v4")
        harness.wait_for(lambda: [a for a in self.actions() if (a["node"], a["phase"]) == ("n4", "acted")])


if __name__ == "__main__":
    api_server.main()
