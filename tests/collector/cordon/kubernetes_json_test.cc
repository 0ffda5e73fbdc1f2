// What is written to a Kubernetes API server for people, and what of its odd answers is believed.
#include "collector/cordon/backend/kubernetes_json.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "collector/cordon/backend/kubernetes.h"

namespace fathom::cordon {
namespace {

using Json = nlohmann::json;

constexpr WallNs kNewYear{1'893'456'000'999'000'000};  // 2030-01-01, and 999 ms

Hold HoldOf(const std::string& sentence) {
  return {"n1", "a0123456789ab", "compute_slow", "v0123456789ab", sentence};
}

TEST(KubernetesJsonTest, TheConditionSaysWhyAndWhenInWholeSeconds) {
  const Json held = Json::parse(ConditionPatch(HoldOf("Rank 1 is slow."), true, kNewYear));
  EXPECT_EQ(held, Json::parse(R"({"status":{"conditions":[{"type":"FathomSuspect","status":"True",
      "reason":"Verdict","message":"compute_slow v0123456789ab: Rank 1 is slow.",
      "lastTransitionTime":"2030-01-01T00:00:00Z","lastHeartbeatTime":"2030-01-01T00:00:00Z"}]}})"));
  const Json free = Json::parse(ConditionPatch(HoldOf(""), false, kNewYear));
  EXPECT_EQ(free["status"]["conditions"][0]["status"], "False");
  EXPECT_EQ(free["status"]["conditions"][0]["reason"], "Released");
}

TEST(KubernetesJsonTest, TheEventNamesTheNodeAndWarnsOnlyOfAHold) {
  const Json held = Json::parse(EventJson(HoldOf("slow"), true, kNewYear));
  EXPECT_EQ(held["kind"], "Event");
  EXPECT_EQ(held["involvedObject"], Json({{"kind", "Node"}, {"name", "n1"}, {"uid", "n1"}}));
  EXPECT_EQ(held["reason"], "FathomCordoned");
  EXPECT_EQ(held["type"], "Warning");
  EXPECT_EQ(held["message"], "a0123456789ab compute_slow v0123456789ab: slow");
  EXPECT_EQ(held["firstTimestamp"], "2030-01-01T00:00:00Z");
  const Json free = Json::parse(EventJson(HoldOf(""), false, kNewYear));
  EXPECT_EQ(free["reason"], "FathomReleased");
  EXPECT_EQ(free["type"], "Normal");
}

TEST(KubernetesJsonTest, SentencesAreCutAtACharacterAndNeverBreakTheDocument) {
  const std::string quotes = "\"}]}}\\\n\x01";
  const Json quoted = Json::parse(EventJson(HoldOf(quotes), true, kNewYear));
  EXPECT_TRUE(quoted["message"].get<std::string>().ends_with(quotes));
  const std::string longer = std::string(499, 'x') + "\xE2\x82\xAC tail";
  for (const std::string& text : {EventJson(HoldOf(longer), true, kNewYear),
                                  ConditionPatch(HoldOf(longer), true, kNewYear)}) {
    ASSERT_TRUE(Json::accept(text)) << text;
    EXPECT_NE(text.find(std::string(499, 'x') + "\""), std::string::npos) << "the euro is cut off";
  }
  EXPECT_TRUE(Json::accept(ConditionPatch(HoldOf("cut \xC3"), true, kNewYear))) << "no UTF-8";
}

TEST(KubernetesJsonTest, ANodeOfWhichNothingIsToldIsNeitherHealthyNorHeld) {
  std::map<std::string, NodeFact> nodes;
  std::string version = "old";
  ASSERT_TRUE(
      ReadKubernetesNodes(R"({"items":[{"metadata":{"name":"n1"}}]})", "rack", nodes, version)
          .ok());
  EXPECT_EQ(version, "") << "to be listed anew";
  EXPECT_FALSE(nodes["n1"].healthy);
  EXPECT_FALSE(nodes["n1"].withheld);
  EXPECT_EQ(nodes["n1"].owner, "");
  EXPECT_EQ(nodes["n1"].rack, "");
}

TEST(KubernetesJsonTest, AnAnnotationOfOursOnANodeThatIsFreeIsNoHold) {
  const auto owner = [](const char* spec) {
    std::map<std::string, NodeFact> nodes;
    std::string version;
    const std::string text = R"({"items":[{"metadata":{"name":"n1","labels":{"rack":"r7"},)"
                             R"("annotations":{"fathom.dev/held-by":"a1"}},"spec":)" +
                             std::string(spec) +
                             R"(,"status":{"conditions":[{"type":"Ready","status":"True"}]}}]})";
    EXPECT_TRUE(ReadKubernetesNodes(text, "rack", nodes, version).ok());
    EXPECT_TRUE(nodes["n1"].healthy);
    EXPECT_EQ(nodes["n1"].rack, "r7");
    return nodes["n1"].owner;
  };
  EXPECT_EQ(owner(R"({"unschedulable":true})"), "a1");
  EXPECT_EQ(owner(R"({"unschedulable":false})"), "");
  EXPECT_EQ(owner(R"({"unschedulable":"true"})"), "") << "a word is no truth";
  EXPECT_EQ(owner("null"), "");
}

TEST(KubernetesJsonTest, AListThatCannotBeReadWholeIsNone) {
  for (const char* text :
       {"", "null", "[]", "{}", R"({"items":{}})", R"({"items":[{}]})", R"({"items":[3]})",
        R"({"items":[{"metadata":{"name":7}}]})", R"({"items":[{"metadata":{"name":"n1"}})"}) {
    std::map<std::string, NodeFact> nodes;
    std::string version;
    EXPECT_TRUE(absl::IsInvalidArgument(ReadKubernetesNodes(text, "rack", nodes, version))) << text;
  }
}

TEST(KubernetesJsonTest, AWatchThatBreaksOffKeepsWhatCameBefore) {
  std::map<std::string, NodeFact> nodes;
  std::string version = "5";
  const std::string lines =
      "\n"
      R"({"type":"ADDED","object":{"metadata":{"name":"n1","resourceVersion":"6"}}})"
      "\n\n"
      R"({"type":"ADDED","object":{"metadata":{"name":"n2","resou)";
  EXPECT_TRUE(absl::IsInvalidArgument(ReadKubernetesEvents(lines, "rack", nodes, version)));
  EXPECT_EQ(version, "6") << "from here on the changes are asked for again";
  EXPECT_EQ(nodes.size(), 1u);
  const std::string unknown =
      R"({"type":"DELETED","object":{"metadata":{"name":"n9","resourceVersion":"7"}}})";
  EXPECT_TRUE(ReadKubernetesEvents(unknown, "rack", nodes, version).ok());
  EXPECT_EQ(nodes.size(), 1u) << "one that goes without ever having come";
}

}  // namespace
}  // namespace fathom::cordon
