#!/usr/bin/python3
"""fathom-cordon against a local Kubernetes API server (fakes/kubernetes_server.py) over TLS.

What it cordons, what it leaves alone, what it undoes, and how it bears a server that is slow, gone,
expired, forbids, or answers wrongly. Every version of every node is watched: at no instant may a
foreign taint be missing.
"""
import json
import resource
import shutil
import subprocess
import sys
import unittest

import cordon_case
import harness
from fakes.kubernetes_objects import JSON_PATCH, MERGE_PATCH, STRATEGIC
from fakes.kubernetes_server import KubernetesServer, rules_of
from pki import WithPki

OURS, ADMIN = "system:serviceaccount:fathom:fathom-cordon", "admin"
# The rights that are shipped: too few or too many fail a test.
CLUSTER_RULES = rules_of(harness.ROOT / "deploy/k8s/cordon/rbac.yaml")
WATCH = ("watch", "nodes")
EVERYTHING = CLUSTER_RULES | {("delete", "nodes")}
FOREIGN = {"key": "site/rack-work", "effect": "NoExecute"}
NODES = ["n1", "n2", "n3", "n4"]


class KubernetesCase(WithPki, cordon_case.CordonCase):
    def setUp(self):
        super().setUp()
        self.server = self.make_server({OURS: set(CLUSTER_RULES), ADMIN: EVERYTHING},
                                       {"secret-of-cordon": OURS, "secret-of-admin": ADMIN})
        self.addCleanup(self.server.close)
        for name in NODES:
            self.server.objects.create(name, [FOREIGN])
        (self.folder / "token").write_text("secret-of-cordon\n")
        self.BACKEND = (f"backend: kubernetes\nkubernetes_server: {self.server.url}\n"
                        f"kubernetes_ca_file: {self.pki.authority}\nkubernetes_token_file: {self.folder}/token\n")

    def make_server(self, rules, tokens):
        return KubernetesServer(self.pki, rules, tokens, self.certificate)

    def node(self, name):
        return self.server.objects.get(name)

    def cordoned(self, name):
        return self.node(name)["spec"].get("unschedulable", False)

    def taints(self, name):
        return {t["key"] for t in self.node(name)["spec"].get("taints", [])}

    def as_person(self, name, patch, form=MERGE_PATCH):
        self.server.objects.patch(name, None, form, patch)

    def ask(self, method, path, body=None, form=MERGE_PATCH, token="secret-of-admin"):
        """Over the wire, as kubectl would: (code, answer)."""
        connection = self.pki.connect(f"127.0.0.1:{self.server.port}")
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": f"Bearer {token}", "Content-Type": form})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def ours(self, *verbs):
        with self.server.lock:
            return [r for r in self.server.requests if r["user"] == OURS and (not verbs or r["verb"] in verbs)]

    def problem(self, words):
        harness.wait_for(lambda: words in (self.folder / "log").read_text())


class ServerTest(KubernetesCase):
    """The server itself answers as a real 1.20.2 was measured to."""

    def test_conflicts_replaced_lists_and_dry_runs(self):
        version = self.node("n1")["metadata"]["resourceVersion"]
        path = "/api/v1/nodes/n1"
        ask = self.ask
        self.assertEqual(ask("GET", path, token="wrong")[0], 401)
        self.assertEqual(ask("GET", "/api/v1/nodes/nx")[0], 404)
        self.assertEqual(ask("DELETE", path, token="secret-of-cordon")[0], 403)
        self.assertEqual(ask("PATCH", path + "?dryRun=All", {"spec": {"unschedulable": True}})[0], 200)
        self.assertFalse(self.cordoned("n1"))
        taint = {"spec": {"taints": [{"key": "ours", "effect": "NoSchedule"}]}}
        self.assertEqual(ask("PATCH", path, taint, STRATEGIC)[0], 200)
        self.assertEqual(self.taints("n1"), {"ours"})  # the whole list is replaced: the foreign one is gone
        stale = {"metadata": {"resourceVersion": version, "annotations": {"a": "b"}}}
        self.assertEqual(ask("PATCH", path, stale)[0], 409)
        test = [{"op": "test", "path": "/metadata/annotations/a", "value": "b"}]
        self.assertEqual(ask("PATCH", path, test, JSON_PATCH)[0], 422)
        twice = [{"op": "add", "path": "/spec/taints/-", "value": {"key": "ours", "effect": "NoSchedule"}}]
        self.assertEqual(ask("PATCH", path, twice, JSON_PATCH)[0], 422)
        self.assertEqual(ask("PATCH", path, twice, "text/plain")[0], 415)
        ask("PATCH", path + "/status", {"spec": {"unschedulable": True}})
        self.assertFalse(self.cordoned("n1"))  # a subresource takes only its own part

    def test_a_watch_tells_changes_and_410_when_they_are_forgotten(self):
        version = int(self.node("n4")["metadata"]["resourceVersion"])
        self.as_person("n1", {"metadata": {"annotations": {"a": "b"}}})
        changes = self.watch(version, 1)
        self.assertEqual([(c["type"], c["object"]["metadata"]["name"]) for c in changes], [("MODIFIED", "n1")])
        self.server.objects.keep = 2
        for value in "123":
            self.as_person("n1", {"metadata": {"annotations": {"a": value}}})
        gone = self.watch(version, 1)[0]
        self.assertEqual((gone["type"], gone["object"]["code"]), ("ERROR", 410))

    def watch(self, version, count):
        connection = self.pki.connect(f"127.0.0.1:{self.server.port}")
        connection.request("GET", f"/api/v1/nodes?watch=1&resourceVersion={version}",
                           headers={"Authorization": "Bearer secret-of-admin"})
        answer = connection.getresponse()
        lines = [json.loads(answer.readline()) for _ in range(count)]
        connection.close()
        return lines


class CordonKubernetesTest(KubernetesCase):
    def tearDown(self):
        for _, _, node in self.server.objects.history:
            if node["metadata"]["name"] in NODES:
                self.assertIn(FOREIGN, node["spec"].get("taints", []), "a foreign taint was lost")
        self.assertEqual({r["code"] for r in self.ours() if r["verb"] == "delete"}, set())

    def test_auto_holds_with_all_marks_and_undo_takes_all_away(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("acted")
        node = self.node("n2")
        self.assertTrue(self.cordoned("n2"))
        self.assertEqual(node["metadata"]["annotations"]["fathom.dev/held-by"], action["id"])
        self.assertIn("fathom.dev/suspect", self.taints("n2"))
        condition = {c["type"]: c for c in node["status"]["conditions"]}["FathomSuspect"]
        self.assertEqual((condition["status"], condition["reason"]), ("True", "Verdict"))
        self.assertEqual([e["reason"] for e in self.server.objects.events], ["FathomCordoned"])
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertFalse(self.cordoned("n2"))
        self.assertEqual(self.taints("n2"), {FOREIGN["key"]})
        self.assertNotIn("annotations", self.node("n2")["metadata"])
        harness.wait_for(lambda: len(self.server.objects.events) == 2)
        self.assertEqual({c["type"]: c["status"] for c in self.node("n2")["status"]["conditions"]},
                         {"Ready": "True", "FathomSuspect": "False"})
        self.assertTrue(all(r["agent"].startswith("fathom-cordon/") for r in self.ours()))
        used = {(r["verb"], r["resource"]) for r in self.ours()}
        self.assertEqual(used, CLUSTER_RULES - {WATCH})  # every right is needed, and no other was asked for

    def test_somebody_faster_is_seen_and_left_alone(self):
        self.server.fault("patch", "nodes", "before", then=lambda: self.as_person("n1", {"spec": {"unschedulable": True}}))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("somebody else")
        self.assertEqual(self.taints("n1"), {FOREIGN["key"], "node.kubernetes.io/unschedulable"})
        self.assertNotIn("annotations", self.node("n1")["metadata"])

    def test_a_harmless_race_is_tried_again_at_once(self):
        beat = {"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "now"}]}}
        self.server.fault("patch", "nodes", "before",
                          then=lambda: self.server.objects.patch("n1", "status", STRATEGIC, beat))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        self.assertEqual([r["code"] for r in self.ours("patch") if r["resource"] == "nodes"], [422, 200])

    def test_recreated_between_look_and_change(self):
        def recreate():
            self.server.objects.delete("n1")
            self.server.objects.create("n1", [FOREIGN])
            self.as_person("n1", {"spec": {"unschedulable": True}})
        self.server.fault("patch", "nodes", "before", then=recreate)
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("somebody else")
        self.assertNotIn("annotations", self.node("n1")["metadata"])

    def test_a_held_node_that_is_recreated_is_a_new_node(self):
        self.start("auto")
        self.collector.accuse("n1", "v1")
        action = self.wait_phase("acted")
        self.server.objects.delete("n1")
        self.server.objects.create("n1", [FOREIGN])
        self.wait_phase("relinquished")
        self.looks(0.5)
        self.assertFalse(self.cordoned("n1"))
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 1)

    def test_a_persons_uncordon_ends_it_and_our_taint_goes(self):
        self.start("auto")
        self.collector.accuse("n3", "v1")
        self.wait_phase("acted")
        self.as_person("n3", {"spec": {"unschedulable": None}})
        self.wait_phase("relinquished")
        harness.wait_for(lambda: self.taints("n3") == {FOREIGN["key"]})
        self.looks(0.5)
        self.assertFalse(self.cordoned("n3"))

    def test_somebody_elses_taint_beside_ours_outlives_the_undo(self):
        self.start("auto")
        self.collector.accuse("n1", "v1")
        action = self.wait_phase("acted")
        taints = [{"key": "site/late", "effect": "NoSchedule"}] + self.node("n1")["spec"]["taints"]
        self.as_person("n1", {"spec": {"taints": taints}})
        self.fathom("action", "undo", action["id"])
        self.wait_phase("undone")
        self.assertEqual(self.taints("n1"), {FOREIGN["key"], "site/late"})

    def test_an_answer_that_was_lost_after_the_write(self):
        for name, kind in (("n1", "lost"), ("n2", "error")):
            self.server.fault("patch", "nodes", kind)
            process = self.start("auto")
            self.collector.accuse(name, "v-" + kind)
            # A later look, or the next try, finds our tag.
            harness.wait_for(lambda: [a for a in self.actions() if (a["node"], a["phase"]) == (name, "acted")])
            self.assertNotIn("failed", [a["phase"] for a in self.actions()])
            self.assertEqual(len([t for t in self.node(name)["spec"]["taints"] if "fathom" in t["key"]]), 1)
            process.terminate()
            process.wait(timeout=10)
            self.collector.verdicts.clear()

    def test_too_many_requests_are_answered_with_patience(self):
        self.server.fault("list", "nodes", "status", code=429, retry_after=1)
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        looks = [r["time"] for r in self.ours("list")]
        self.assertGreater(looks[1] - looks[0], 0.95)

    def test_revoked_rights_are_a_clear_failure_and_the_breaker_opens(self):
        self.LIMITS += "max_per_window: 10\n"
        self.server.rules[OURS].discard(("patch", "nodes"))
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("breaker")
        self.assertIn("cannot patch resource", (self.folder / "audit.jsonl").read_text())
        self.looks(0.4)
        self.assertEqual(len(self.ours("patch")), 3)  # breaker_failures; then nothing more
        self.assertFalse(self.cordoned("n1"))

    def test_a_token_that_is_renewed_in_its_file(self):
        self.start("auto")
        harness.wait_for(lambda: self.ours("list"))
        self.server.tokens.pop("secret-of-cordon")
        self.problem("HTTP status 401")
        self.server.tokens["renewed"] = OURS
        (self.folder / "token").write_text("renewed\n")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")

    def test_a_client_certificate_instead_of_a_token(self):
        certificate, key = self.pki.sign("cordon-by-certificate")
        self.server.rules["cordon-by-certificate"] = set(CLUSTER_RULES)
        self.BACKEND += f"kubernetes_cert_file: {certificate}\nkubernetes_key_file: {key}\n"
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        self.assertEqual(self.ours(), [])

    def test_an_expired_certificate_is_not_spoken_to(self):
        self.server.stop()
        expired = KubernetesServer(self.pki, self.server.rules, self.server.tokens, self.pki.sign("old", days=-1))
        self.addCleanup(expired.stop)
        self.BACKEND = self.BACKEND.replace(self.server.url, expired.url)
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_plan("the back-end gives no answer")
        self.problem("certificate has expired")
        self.assertEqual(expired.requests, [])  # no token left the house

    def test_gone_for_long_and_nothing_stale_is_replayed(self):
        self.LIMITS += "approval_ttl_s: 1\n"
        self.start("approve")
        self.collector.accuse("n1", "v1")
        action = self.wait_phase("advised")
        self.server.stop()
        self.wait_plan("the back-end gives no answer")
        self.assertEqual(self.fathom("action", "approve", action["id"]).returncode, 0)
        self.looks(1.3)
        self.server.start()
        harness.wait_for(lambda: "approval_expired" in (self.folder / "audit.jsonl").read_text())
        self.looks(0.4)
        self.assertEqual(self.ours("patch"), [])

    def test_two_that_do_not_share_a_log_hold_one_node_once(self):
        self.LIMITS += "max_nodes: 1\n"
        self.start("auto")
        self.start("auto", audit="other.jsonl")
        self.collector.accuse("n1", "v1")
        self.collector.accuse("n2", "v2")
        harness.wait_for(lambda: any(map(self.cordoned, NODES)))
        self.looks(0.8)
        self.assertEqual(len([r for r in self.ours("patch") if r["code"] == 200 and r["resource"] == "nodes"]), 1)

    def test_a_full_disk_under_the_log_and_it_does_not_act(self):
        # restore_signals=False keeps Python's ignored SIGXFSZ: then a write beyond the limit is an error.
        process = self.start("auto", restore_signals=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY)))
        self.collector.accuse("n1", "v1")
        harness.wait_for(lambda: "audit log cannot be written" in self.fathom("action", "plan", "-o", "json").stdout)
        self.assertEqual(self.ours("patch"), [])
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.wait_phase("acted")
        verify = subprocess.run([harness.BUILD / "fathom-cordon", "--verify-audit", "--audit",
                                 self.folder / "audit.jsonl"], capture_output=True)
        self.assertEqual(verify.returncode, 0)


class CordonKubernetesWatchTest(KubernetesCase):
    """Looks that ask for changes instead of all nodes."""

    def start(self, mode, *more, **options):
        return super().start(mode, "--kubernetes-watch", *more, **options)

    def watches(self):
        return len(self.ours("watch"))

    def wait_watches(self, more):
        count = self.watches() + more
        harness.wait_for(lambda: self.watches() >= count)

    def test_holds_and_lets_go_by_what_it_watched_and_lists_after_its_own_changes(self):
        self.start("auto")
        self.wait_watches(2)
        self.assertEqual(len(self.ours("list")), 1)
        self.collector.accuse("n2", "v1")
        action = self.wait_phase("acted")
        self.wait_watches(2)
        self.assertEqual(len(self.ours("list")), 2)
        self.assertEqual(self.fathom("action", "undo", action["id"]).returncode, 0)
        self.wait_phase("undone")
        self.assertFalse(self.cordoned("n2"))
        self.assertEqual({(r["verb"], r["resource"]) for r in self.ours()}, CLUSTER_RULES)

    def test_what_people_do_is_seen_in_the_watch(self):
        self.start("auto")
        self.collector.accuse("n2", "v1")
        self.wait_phase("acted")
        self.wait_watches(2)
        before = len(self.ours())
        self.as_person("n2", {"spec": {"unschedulable": None}})
        self.wait_phase("relinquished")
        asked = [r["verb"] for r in self.ours()[before:]]
        self.assertNotIn("list", asked[:asked.index("get")])  # what is left of ours goes away only then
        self.server.objects.delete("n1")
        self.as_person("n3", {"spec": {"unschedulable": True}})
        self.wait_watches(3)
        for node, name in (("n1", "v2"), ("n3", "v3")):
            self.collector.accuse(node, name)
        self.looks(3)
        self.assertEqual([a["node"] for a in self.actions() if a["phase"] == "acted"], [])

    def test_a_forgotten_version_is_listed_anew_at_once(self):
        def forget():
            self.server.objects.keep = 1
            for value in "123":
                self.as_person("n1", {"metadata": {"annotations": {"a": value}}})
        self.start("auto")
        self.wait_watches(1)
        self.server.fault("watch", "nodes", "before", then=forget)  # an ERROR of code 410 in the stream
        harness.wait_for(lambda: len(self.ours("list")) == 2)
        self.server.fault("watch", "nodes", "status", code=410)
        harness.wait_for(lambda: len(self.ours("list")) == 3)
        self.assertNotIn("Expired", (self.folder / "log").read_text())
        self.wait_watches(2)
        self.server.objects.keep = 1000
        self.collector.accuse("n4", "v1")
        self.wait_phase("acted")

    def test_an_error_is_said_and_listed_after(self):
        self.start("auto")
        self.wait_watches(1)
        self.server.fault("watch", "nodes", "status", code=500)
        harness.wait_for(lambda: len(self.ours("list")) == 2)
        self.problem("HTTP status 500")

    def test_without_the_right_to_watch_every_look_lists(self):
        self.server.rules[OURS].discard(WATCH)
        self.start("auto")
        self.collector.accuse("n1", "v1")
        self.wait_phase("acted")
        self.assertEqual(self.watches(), 1)
        self.assertIn("nodes are listed at each look", (self.folder / "log").read_text())


if __name__ == "__main__":
    if not shutil.which("openssl"):
        print("skipped: no openssl here")
        sys.exit(harness.SKIPPED)
    unittest.main()
