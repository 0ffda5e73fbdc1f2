// What the back-ends read and the changes they ask for, against answers written down from real
// servers. The real Slurm is tested in tests/integration.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "collector/cordon/advice/advice_source.h"
#include "collector/cordon/backend/kubernetes.h"
#include "collector/cordon/backend/webhook.h"
#include "tests/collector/cordon/scripted_slurm.h"
#include "tests/collector/fake_clock.h"

namespace fathom::cordon {
namespace {

const Hold kHold{"n1", "a0123456789ab", "compute_slow", "v1", "rank 1 is slow"};

TEST(SlurmTest, ReadsSinfo) {
  std::map<std::string, NodeFact> nodes;
  EXPECT_TRUE(ReadSinfoLine("n1|idle|debug|gpu,rack7|none", "rack", nodes));
  EXPECT_TRUE(ReadSinfoLine("n1|idle|long|gpu,rack7|none", "rack", nodes));
  EXPECT_TRUE(
      ReadSinfoLine("n2|draining|debug|(null)|fathom:a1 gc v1 : reboot issued", "rack", nodes));
  EXPECT_TRUE(ReadSinfoLine("n3|down*|debug|(null)|Not responding", "rack", nodes));
  EXPECT_TRUE(ReadSinfoLine("n4|drained|debug|(null)|ops: a|b", "rack", nodes));
  EXPECT_FALSE(ReadSinfoLine("sinfo: error", "rack", nodes));
  EXPECT_TRUE(nodes["n1"].available());
  EXPECT_EQ(nodes["n1"].partitions, (std::vector<std::string>{"debug", "long"}));
  EXPECT_EQ(nodes["n1"].rack, "rack7");
  EXPECT_EQ(nodes["n2"].owner, "a1");
  EXPECT_TRUE(nodes["n2"].healthy && nodes["n2"].withheld);
  EXPECT_FALSE(nodes["n3"].healthy);
  EXPECT_EQ(nodes["n4"].owner, "");
  EXPECT_EQ(nodes["n4"].note, "ops: a|b");
}

TEST(SlurmTest, LeavesAReasonOfSomebodyElseAlone) {
  for (const char* line : {"n1|drained|debug|(null)|ops: disk", "n1|idle|debug|(null)|NHC: look"}) {
    ScriptedSlurm slurm{{ScriptedSlurm::Line(line)}};
    SlurmBackend backend = slurm.Backend();
    EXPECT_TRUE(absl::IsFailedPrecondition(backend.HoldBack(kHold)));
    EXPECT_TRUE(absl::IsFailedPrecondition(backend.Release("n1", "a0123456789ab")));
    EXPECT_EQ(slurm.updates(), 0);
  }
}

TEST(SlurmTest, NeverAsksForMoreThanOneNode) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|idle|debug|(null)|none")}};
  SlurmBackend backend = slurm.Backend();
  for (const char* name : {"ALL", "n[1-4]", "n1,n2", "", "-n1", "n1 State=DOWN"}) {
    Hold hold = kHold;
    hold.node = name;
    EXPECT_TRUE(absl::IsInvalidArgument(backend.HoldBack(hold))) << name;
  }
  EXPECT_EQ(slurm.updates(), 0);
}

TEST(SlurmTest, RevokedRightsAreCertainlyNotDone) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|idle|debug|(null)|none")}};
  slurm.scontrol = collector::CommandResult{1, "", "scontrol: error: Access/permission denied\n"};
  SlurmBackend backend = slurm.Backend();
  const auto status = backend.HoldBack(kHold);
  EXPECT_TRUE(Certain(status)) << status.message();
  EXPECT_NE(std::string(status.message()).find("permission denied"), std::string::npos);
}

const char kNode[] = R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7",
  "annotations":{"x":"y"}},"spec":{"taints":[{"key":"other","effect":"NoExecute"}]}})";

TEST(KubernetesTest, AppendsToTaintsAndTestsWhatItRead) {
  const auto patch = nlohmann::json::parse(*HoldPatch(kNode, kHold));
  EXPECT_EQ(patch[0]["op"], "test");
  EXPECT_EQ(patch[0]["path"], "/metadata/resourceVersion");
  EXPECT_EQ(patch[0]["value"], "7");
  EXPECT_EQ(patch[1]["value"], "u1");
  for (const auto& operation : patch) EXPECT_NE(operation["path"], "/spec/taints");
  EXPECT_EQ(patch.back()["path"], "/spec/taints/-");
}

TEST(KubernetesTest, ReleaseTestsTheAnnotationAndTakesOnlyOurTaint) {
  const std::string held =
      R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"8",
      "annotations":{"fathom.dev/held-by":"a0123456789ab"}},"spec":{"unschedulable":true,
      "taints":[{"key":"other"},{"key":"fathom.dev/suspect","effect":"NoSchedule"}]}})";
  const auto patch = nlohmann::json::parse(*ReleasePatch(held, "a0123456789ab"));
  EXPECT_EQ(patch[2]["op"], "test");
  EXPECT_EQ(patch[2]["value"], "a0123456789ab");
  EXPECT_EQ(patch[5]["op"], "remove");
  EXPECT_EQ(patch[5]["path"], "/spec/taints/1");
  EXPECT_EQ(patch.back()["path"], "/spec/unschedulable");
  EXPECT_TRUE(absl::IsFailedPrecondition(ReleasePatch(held, "a1").status()));
  const auto forget = nlohmann::json::parse(*ForgetPatch(held, "a0123456789ab"));
  for (const auto& operation : forget) EXPECT_NE(operation["path"], "/spec/unschedulable");
}

TEST(KubernetesTest, OurTaintIsNeverThereTwice) {
  const std::string left =
      R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7","annotations":{}},"spec":{
      "taints":[{"key":"other"},{"key":"fathom.dev/suspect","effect":"NoSchedule"}]}})";
  const auto patch = nlohmann::json::parse(*HoldPatch(left, kHold));
  EXPECT_EQ(patch.back()["op"], "replace");
  EXPECT_EQ(patch.back()["path"], "/spec/taints/1");
}

TEST(KubernetesTest, LeavesANodeThatSomebodyElseCordonedAlone) {
  const std::string theirs =
      R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"7"},"spec":{"unschedulable":true}})";
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldPatch(theirs, kHold).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(HoldPatch("<html>", kHold).status()));
}

// Asks to be left alone for longer than 64 bits count nanoseconds.
struct BusyServer final : collector::HttpTransport {
  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall&) override {
    ++calls;
    return collector::HttpAnswer{429, "", 1e12};
  }
  int calls = 0;
};

TEST(KubernetesTest, LeavesABusyServerAloneForAMinuteAtMost) {
  BusyServer server;
  collector::FakeClock clock;
  KubernetesBackend backend({}, server, clock);
  std::map<std::string, NodeFact> nodes;
  EXPECT_FALSE(backend.Nodes(nodes).ok());
  clock.AdvanceSeconds(59);
  EXPECT_FALSE(backend.Nodes(nodes).ok());
  EXPECT_EQ(server.calls, 1);
  clock.AdvanceSeconds(2);
  EXPECT_FALSE(backend.Nodes(nodes).ok());
  EXPECT_EQ(server.calls, 2);
}

std::string Event(const std::string& type, const std::string& name, int version,
                  const std::string& spec = "{}") {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name +
         R"(","resourceVersion":")" + std::to_string(version) + R"("},"spec":)" + spec + "}}\n";
}

TEST(KubernetesTest, AWatchIsFoldedIntoWhatWasListed) {
  std::map<std::string, NodeFact> nodes;
  std::string version;
  ASSERT_TRUE(ReadKubernetesNodes(R"({"metadata":{"resourceVersion":"5"},"items":[
      {"metadata":{"name":"n1"}},{"metadata":{"name":"n2"}}]})",
                                  "rack", nodes, version)
                  .ok());
  EXPECT_EQ(version, "5");
  const std::string lines = Event("MODIFIED", "n1", 6, R"({"unschedulable":true})") +
                            Event("DELETED", "n2", 7) + Event("ADDED", "n3", 8) +
                            Event("BOOKMARK", "", 11);
  ASSERT_TRUE(ReadKubernetesEvents(lines, "rack", nodes, version).ok());
  EXPECT_EQ(version, "11");
  EXPECT_TRUE(nodes["n1"].withheld);
  EXPECT_EQ(nodes.size(), 2u);
  EXPECT_TRUE(nodes.contains("n3"));
  ASSERT_TRUE(ReadKubernetesEvents("", "rack", nodes, version).ok()) << "nothing has changed";
  const std::string gone =
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})";
  EXPECT_TRUE(absl::IsOutOfRange(ReadKubernetesEvents(gone, "rack", nodes, version)));
  const std::string broken = R"({"type":"ERROR","object":{"kind":"Status","code":500}})";
  EXPECT_TRUE(absl::IsUnavailable(ReadKubernetesEvents(broken, "rack", nodes, version)));
  for (const std::string& text :
       {std::string("<html>"), Event("ADDED", "", 12), Event("SOMETHING", "n1", 12),
        std::string(R"({"type":"ADDED","object":{"metadata":{"name":"n1"}}})")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadKubernetesEvents(text, "rack", nodes, version)))
        << text;
  }
}

// Lists nodes, and refuses what it is told to.
struct Rights final : collector::HttpTransport {
  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override {
    calls.push_back(call.method + " " + call.url);
    for (const std::string& path : forbidden) {
      if (call.url.find(path) != std::string::npos) {
        return collector::HttpAnswer{403, "forbidden: " + path, 0};
      }
    }
    if (call.url.find("watch=1") != std::string::npos) return collector::HttpAnswer{200, "", 0};
    const bool one = call.url.find("/nodes/") != std::string::npos;
    return collector::HttpAnswer{
        200,
        one ? R"({"metadata":{"name":"n1","resourceVersion":"5","uid":"u"},"spec":{}})"
            : R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"n1"}}]})",
        0};
  }
  std::size_t Watched() const {
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const auto& call) {
      return call.find("watch=1") != std::string::npos;
    }));
  }
  std::vector<std::string> forbidden;
  std::vector<std::string> calls;
};

TEST(KubernetesTest, AWatchThatWasForbiddenIsTriedAgainLater) {
  Rights server;
  collector::FakeClock clock;
  KubernetesBackend backend({.server = "", .token_file = "", .rack_label = "", .watch = true},
                            server, clock);
  std::map<std::string, NodeFact> nodes;
  server.forbidden = {"watch=1"};
  for (int look = 0; look < 5; ++look) EXPECT_TRUE(backend.Nodes(nodes).ok());
  EXPECT_EQ(server.Watched(), 1u) << "every look lists";
  server.forbidden.clear();
  clock.Advance(KubernetesBackend::kRelist);
  for (int look = 0; look < 3; ++look) EXPECT_TRUE(backend.Nodes(nodes).ok());
  EXPECT_EQ(server.Watched(), 3u) << "the right was given back";
}

TEST(KubernetesTest, AnEventThatIsForbiddenIsToldAndTheHoldStands) {
  Rights server;
  collector::FakeClock clock;
  KubernetesBackend backend({}, server, clock);
  server.forbidden = {"/events"};
  EXPECT_TRUE(backend.HoldBack({"n1", "a1", "compute_slow", "v1", "slow"}).ok());
  EXPECT_NE(backend.Ailing().find("event for n1: HTTP status 403"), std::string::npos)
      << backend.Ailing();
  server.forbidden.clear();
  EXPECT_TRUE(backend.HoldBack({"n1", "a1", "compute_slow", "v1", "slow"}).ok());
  EXPECT_EQ(backend.Ailing(), "");
}

TEST(WebhookTest, AnAnswerThatCannotBeReadIsNoEmptyCluster) {
  std::map<std::string, NodeFact> nodes;
  for (const char* text : {"", "{}", "[]", R"({"nodes":[{"name":"n1"}]})", "\xff"}) {
    EXPECT_FALSE(ReadWebhookNodes(text, nodes).ok()) << text;
  }
  EXPECT_TRUE(
      ReadWebhookNodes(R"({"nodes":[{"name":"n1","withheld":false,"healthy":true}]})", nodes).ok());
  EXPECT_TRUE(nodes["n1"].available());
}

TEST(AdviceTest, ReadsVerdictsAndRefusesWhatIsNone) {
  View view;
  EXPECT_TRUE(ReadVerdictsJson(
                  R"({"verdicts":[{"id":"v1","job":"j","grade":"established","cause":"gc",
                  "entity":{"type":"rank","ranks":[3],"node":"n3"}},
                  {"id":"v2","entity":{"type":"job"},"until":{"iteration":"3"},
                  "closed_because":"recovered"}]})",
                  view)
                  .ok());
  ASSERT_EQ(view.verdicts.size(), 2u);
  EXPECT_EQ(view.verdicts[0].entity, "rank 3");
  // A collector that tells neither is not believed.
  EXPECT_FALSE(view.verdicts[0].authenticated);
  EXPECT_FALSE(view.verdicts[0].unseen_s < 1e9);
  View deep;
  const std::string brackets = std::string(2'000'000, '[') + std::string(2'000'000, ']');
  EXPECT_TRUE(
      ReadVerdictsJson(R"({"verdicts":[{"id":"v1","entity":{"ranks":[)" + brackets + "]}}]}", deep)
          .ok());
  EXPECT_TRUE(view.verdicts[0].open);
  EXPECT_FALSE(view.verdicts[1].open);
  for (const char* text : {"{}", "null", R"({"verdicts":[{}]})", R"({"verdicts":[3]})"}) {
    View other;
    EXPECT_FALSE(ReadVerdictsJson(text, other).ok()) << text;
  }
}

TEST(AdviceTest, ReadsWhetherAVerdictIsFreshByTheCollectorsClockAlone) {
  const auto unseen = [](const std::string& now, const std::string& seen) {
    View view;
    const std::string text = R"({"now_unix_ns":)" + now +
                             R"(,"verdicts":[{"id":"v1","entity":{"type":"rank"},)" +
                             R"("authenticated":true,"seen_unix_ns":)" + seen + "}]}";
    EXPECT_TRUE(ReadVerdictsJson(text, view).ok()) << text;
    EXPECT_TRUE(view.verdicts.at(0).authenticated);
    return view.verdicts.at(0).unseen_s;
  };
  EXPECT_EQ(unseen("90000000000", R"("80000000000")"), 10);
  EXPECT_EQ(unseen("80000000001", R"("80000000500")"), 0);
  for (const char* seen : {"0", R"("")", R"("x")", "null", "[]", "-5", R"("200000000000")"}) {
    EXPECT_GT(unseen("90000000000", seen), 1e9) << seen;
  }
  EXPECT_GT(unseen("0", "5"), 1e9);
}

}  // namespace
}  // namespace fathom::cordon
