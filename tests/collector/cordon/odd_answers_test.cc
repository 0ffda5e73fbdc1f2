// Back-ends whose servers answer oddly: what is then believed, and what is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "collector/cordon/backend/webhook.h"
#include "tests/collector/cordon/scripted_slurm.h"

namespace fathom::cordon {
namespace {

using collector::CommandResult;
using testing::ElementsAre;
using testing::HasSubstr;

const Hold kWanted{"n1", "a1", "compute_slow", "v1", "rank 1 is \"slow\""};

TEST(SlurmOddTest, DrainsWithOurReasonAndBelievesOnlyWhatItReadsAfter) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|idle|p|(null)|none"),
                       ScriptedSlurm::Line("n1|drained|p|(null)|fathom:a1 compute_slow v1")}};
  EXPECT_TRUE(slurm.Backend().HoldBack(kWanted).ok());
  ASSERT_EQ(slurm.asked.size(), 3u);
  EXPECT_THAT(slurm.asked[1], ElementsAre("scontrol", "update", "NodeName=n1", "State=DRAIN",
                                          "Reason=fathom:a1 compute_slow v1"));
}

TEST(SlurmOddTest, WhatIsOursAlreadyIsNotAskedForAgain) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|drained|p|(null)|fathom:a1 compute_slow v1")}};
  EXPECT_TRUE(slurm.Backend().HoldBack(kWanted).ok());
  EXPECT_EQ(slurm.asked.size(), 1u);
}

TEST(SlurmOddTest, SomebodyFasterIsSeenAfterTheChange) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|idle|p|(null)|none"),
                       ScriptedSlurm::Line("n1|drained|p|(null)|ops: disk")}};
  const absl::Status status = slurm.Backend().HoldBack(kWanted);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("ops: disk"));
}

TEST(SlurmOddTest, AfterAChangeWithoutAnAnswerItIsNotKnownAndBeforeItIs) {
  ScriptedSlurm silent{{ScriptedSlurm::Line("n1|idle|p|(null)|none")}};
  silent.scontrol = absl::DeadlineExceededError("10 s");
  EXPECT_FALSE(Certain(silent.Backend().HoldBack(kWanted)));
  ScriptedSlurm gone{
      {ScriptedSlurm::Line("n1|idle|p|(null)|none"), absl::UnavailableError("sinfo died")}};
  EXPECT_FALSE(Certain(gone.Backend().HoldBack(kWanted))) << "it may carry our tag";
  ScriptedSlurm never{{absl::UnavailableError("sinfo died")}};
  EXPECT_TRUE(Certain(never.Backend().HoldBack(kWanted))) << "nothing was asked for";
  EXPECT_EQ(never.asked.size(), 1u);
}

TEST(SlurmOddTest, AnUnreadableLineMakesTheWholeListUnknown) {
  for (const char* text : {"n1|idle|p|(null)|none\nslurm_load_partitions: error\n",
                           "|idle|p|f|none\n", "n1|idle|p\n", "garbage"}) {
    ScriptedSlurm slurm{{CommandResult{0, text, ""}}};
    std::map<std::string, NodeFact> nodes;
    EXPECT_TRUE(absl::IsUnavailable(slurm.Backend().Nodes(nodes))) << text;
  }
  ScriptedSlurm failed{{CommandResult{1, "n1|idle|p|(null)|none\n", "sinfo: error: no\nmore"}}};
  std::map<std::string, NodeFact> nodes;
  EXPECT_EQ(failed.Backend().Nodes(nodes).message(), "sinfo: sinfo: error: no");
}

TEST(SlurmOddTest, OnlyStatesThatAreUpAreHealthy) {
  const std::pair<const char*, bool> states[] = {
      {"idle", true},       {"idle~", true},      {"mixed", true},      {"mixed-", true},
      {"allocated", true},  {"allocated+", true}, {"completing", true}, {"draining", true},
      {"drained", true},    {"reserved", true},   {"planned", true},    {"idle*", false},
      {"drained*", false},  {"down", false},      {"down*", false},     {"fail", false},
      {"failing", false},   {"maint", false},     {"unknown", false},   {"inval", false},
      {"rebooting", false}, {"", false},          {"*", false},         {"future", false}};
  for (const auto& [state, healthy] : states) {
    std::map<std::string, NodeFact> nodes;
    ASSERT_TRUE(ReadSinfoLine("n1|" + std::string(state) + "|p|(null)|none", "rack", nodes));
    EXPECT_EQ(nodes["n1"].healthy, healthy) << state;
    EXPECT_EQ(nodes["n1"].withheld, std::string(state).starts_with("drain")) << state;
  }
}

TEST(SlurmOddTest, ATagInTheReasonOfANodeThatIsNotDrainedIsNoHold) {
  std::map<std::string, NodeFact> nodes;
  ASSERT_TRUE(ReadSinfoLine("n1|idle|p|(null)|fathom:a1 compute_slow v1", "", nodes));
  EXPECT_EQ(nodes["n1"].owner, "");
  EXPECT_EQ(OwnerOfReason("fathom:a1"), "a1");
  EXPECT_EQ(OwnerOfReason("fathom:"), "");
  EXPECT_EQ(OwnerOfReason("Fathom:a1 x"), "");
  EXPECT_EQ(OwnerOfReason("see fathom:a1"), "");
}

TEST(SlurmOddTest, ReleasesOnlyWhatCarriesTheTagOfThatAction) {
  for (const char* line : {"n1|drained|p|(null)|fathom:a2 compute_slow v2", "n1|idle|p|(null)|none",
                           "n1|drained|p|(null)|ops: fathom:a1"}) {
    ScriptedSlurm slurm{{ScriptedSlurm::Line(line)}};
    EXPECT_TRUE(absl::IsFailedPrecondition(slurm.Backend().Release("n1", "a1"))) << line;
    EXPECT_EQ(slurm.asked.size(), 1u) << line;
  }
  const std::string ours = "n1|drained|p|(null)|fathom:a1 compute_slow v1";
  ScriptedSlurm stuck{{ScriptedSlurm::Line(ours)}};
  EXPECT_TRUE(absl::IsUnavailable(stuck.Backend().Release("n1", "a1"))) << "still drained";
  EXPECT_THAT(stuck.asked[1], ElementsAre("scontrol", "update", "NodeName=n1", "State=UNDRAIN"));
  ScriptedSlurm lost{{ScriptedSlurm::Line(ours), ScriptedSlurm::Line("n1|idle|p|(null)|none")}};
  lost.scontrol = absl::DeadlineExceededError("10 s");
  EXPECT_TRUE(lost.Backend().Release("n1", "a1").ok()) << "it is free, whatever was answered";
}

TEST(SlurmOddTest, WordsOfACommandAreSplitAndAMissingProgramIsCertain) {
  ScriptedSlurm slurm{{ScriptedSlurm::Line("n1|idle|p|(null)|none")}};
  slurm.scontrol = absl::NotFoundError("no such program");
  SlurmOptions options;
  options.scontrol = "sudo -n  scontrol";
  const absl::Status status = slurm.Backend(options).HoldBack(kWanted);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(slurm.asked[1][0], "sudo");
  EXPECT_EQ(slurm.asked[1][2], "scontrol");
}

TEST(PlainNodeNameTest, WhatGoesOntoACommandLineOrIntoAPathIsPlain) {
  for (const char* name : {"n1", "gpu-07.rack_3", "A", "1", "All", "a..b"}) {
    EXPECT_TRUE(PlainNodeName(name)) << name;
  }
  const std::string longest(253, 'n');
  EXPECT_TRUE(PlainNodeName(longest));
  for (const std::string& name :
       {std::string(), std::string("ALL"), std::string("all"), std::string("-n"), std::string(".."),
        std::string("a/b"), std::string("a b"), std::string("n[1-2]"), std::string("n1,n2"),
        std::string("n1\n"), std::string("n\0x", 3), std::string("n;x"), std::string("$(x)"),
        std::string("n\xc3\xa9"), longest + "n"}) {
    EXPECT_FALSE(PlainNodeName(name)) << name;
  }
}

struct ScriptedHook final : collector::HttpTransport {
  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override {
    calls.push_back(call);
    return answer;
  }
  absl::StatusOr<collector::HttpAnswer> answer = collector::HttpAnswer{204, "", 0};
  std::vector<collector::HttpCall> calls;
};

TEST(WebhookOddTest, SaysAllOfAHoldWithWhatNeedsEscapingEscaped) {
  ScriptedHook hook;
  WebhookBackend backend("http://h:1/x", "", hook);
  EXPECT_TRUE(backend.HoldBack(kWanted).ok());
  EXPECT_TRUE(backend.Release("n1", "a1").ok());
  ASSERT_EQ(hook.calls.size(), 2u);
  EXPECT_EQ(hook.calls[0].method + " " + hook.calls[0].url, "POST http://h:1/x/hold");
  EXPECT_EQ(nlohmann::json::parse(hook.calls[0].body),
            (nlohmann::json{{"node", "n1"},
                            {"action", "a1"},
                            {"cause", "compute_slow"},
                            {"verdict", "v1"},
                            {"sentence", "rank 1 is \"slow\""}}));
  EXPECT_EQ(hook.calls[1].url, "http://h:1/x/release");
  EXPECT_EQ(nlohmann::json::parse(hook.calls[1].body),
            (nlohmann::json{{"node", "n1"}, {"action", "a1"}}));
}

TEST(WebhookOddTest, ItIsKnownThatNothingWasDoneByClearRefusalsAlone) {
  ScriptedHook hook;
  WebhookBackend backend("http://h:1", "", hook);
  for (const int status : {400, 401, 403, 404, 409, 422, 429}) {
    hook.answer = collector::HttpAnswer{status, "no", 0};
    EXPECT_TRUE(Certain(backend.HoldBack(kWanted))) << status;
  }
  for (const int status : {0, 100, 301, 302, 408, 410, 500, 502, 503, 504, 999}) {
    hook.answer = collector::HttpAnswer{status, "?", 0};
    const absl::Status said = backend.HoldBack(kWanted);
    EXPECT_FALSE(said.ok()) << status;
    EXPECT_FALSE(Certain(said)) << status;
  }
  hook.answer = absl::UnavailableError("no answer");
  EXPECT_FALSE(Certain(backend.HoldBack(kWanted)));
}

TEST(WebhookOddTest, TheTokenIsReadAtEachCallAndNeverSaidAgain) {
  const std::string file = ::testing::TempDir() + "fathom-hook-token-" + std::to_string(getpid());
  ScriptedHook hook;
  WebhookBackend backend("http://h:1", file, hook);
  EXPECT_TRUE(absl::IsFailedPrecondition(backend.HoldBack(kWanted))) << "no token, no call";
  EXPECT_TRUE(hook.calls.empty());
  std::ofstream(file) << "first-0123456789\n";
  EXPECT_TRUE(backend.HoldBack(kWanted).ok());
  std::ofstream(file) << "second-0123456789\n";
  hook.answer = collector::HttpAnswer{500, "you sent second-0123456789", 0};
  const absl::Status status = backend.HoldBack(kWanted);
  EXPECT_THAT(hook.calls[0].headers, testing::Contains("Authorization: Bearer first-0123456789"));
  EXPECT_THAT(hook.calls[1].headers, testing::Contains("Authorization: Bearer second-0123456789"));
  EXPECT_THAT(std::string(status.message()), testing::Not(HasSubstr("second-0123456789")));
  std::ofstream(file) << "\n";
  EXPECT_TRUE(absl::IsFailedPrecondition(backend.HoldBack(kWanted))) << "an empty line is none";
  std::filesystem::remove(file);
}

TEST(WebhookOddTest, OneNodeThatCannotBeReadMakesTheListUnknown) {
  const std::string good = R"({"name":"n1","withheld":false,"healthy":true})";
  for (const char* bad : {"7", "null", R"({"withheld":false,"healthy":true})",
                          R"({"name":"","withheld":false,"healthy":true})",
                          R"({"name":3,"withheld":false,"healthy":true})",
                          R"({"name":"n2","withheld":"no","healthy":true})",
                          R"({"name":"n2","withheld":0,"healthy":true})",
                          R"({"name":"n2","withheld":false})", R"({"name":"n2","healthy":true})"}) {
    std::map<std::string, NodeFact> nodes;
    EXPECT_FALSE(ReadWebhookNodes("{\"nodes\":[" + good + "," + bad + "]}", nodes).ok()) << bad;
  }
  std::map<std::string, NodeFact> nodes;
  ASSERT_TRUE(ReadWebhookNodes(
                  R"({"nodes":[{"name":"n1","withheld":true,"healthy":true,"owner":"a1","note":"x",
                  "rack":"r","partitions":["p",3,"q"]}]})",
                  nodes)
                  .ok());
  EXPECT_EQ(nodes["n1"].owner, "a1");
  EXPECT_EQ(nodes["n1"].rack, "r");
  EXPECT_THAT(nodes["n1"].partitions, ElementsAre("p", "q"));
  EXPECT_FALSE(nodes["n1"].available());
}

}  // namespace
}  // namespace fathom::cordon
