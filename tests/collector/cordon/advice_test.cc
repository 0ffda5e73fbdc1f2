// What fathom-cordon makes of a collector's answers, odd ones above all: no doubt lets it act.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "collector/cordon/advice/advice_source.h"

namespace fathom::cordon {
namespace {

constexpr char kOpen[] = "/api/v1/verdicts?active=1&limit=1000";
constexpr char kAll[] = "/api/v1/verdicts?limit=1000";

struct FakeCollector final : collector::HttpTransport {
  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override {
    calls.push_back(call);
    const auto at = answers.find(call.url.substr(std::string("http://c:1").size()));
    if (at == answers.end()) return collector::HttpAnswer{404, "{}", 0};
    if (at->second.status == 0) return absl::UnavailableError("no answer in time");
    return at->second;
  }
  void Say(const std::string& path, const std::string& body, int status = 200) {
    answers[path] = {status, body, 0};
  }
  std::map<std::string, collector::HttpAnswer> answers;
  std::vector<collector::HttpCall> calls;
};

nlohmann::json Told(const std::string& id, const std::string& job) {
  return {{"id", id},
          {"job", job},
          {"grade", "established"},
          {"cause", "compute_slow"},
          {"entity", {{"type", "rank"}, {"ranks", {1}}, {"node", "n1"}}}};
}

std::string ListOf(const std::vector<nlohmann::json>& verdicts) {
  return nlohmann::json{{"verdicts", verdicts}}.dump();
}

class AdviceSourceTest : public ::testing::Test {
 protected:
  AdviceSourceTest() {
    collector_.Say(kOpen, ListOf({Told("v1", "train")}));
    collector_.Say(kAll, ListOf({Told("v1", "train")}));
    collector_.Say(
        "/api/v1/jobs/train",
        R"({"state":"running","rank_info":[{"node":"n2"},{"node":"n1"},{"node":"n1"}]})");
  }
  absl::Status Read() {
    view_ = View();
    return AdviceSource("http://c:1", "", collector_).Read(view_);
  }

  FakeCollector collector_;
  View view_;
};

TEST_F(AdviceSourceTest, ReadsVerdictsAndTheNodesOfTheirJobs) {
  ASSERT_TRUE(Read().ok());
  EXPECT_TRUE(view_.verdicts_known);
  ASSERT_EQ(view_.verdicts.size(), 1u);
  EXPECT_TRUE(view_.verdicts[0].job_runs);
  EXPECT_EQ(view_.job_nodes["train"], (std::vector<std::string>{"n1", "n2"}));
  for (const auto& call : collector_.calls) EXPECT_EQ(call.method, "GET");
}

TEST_F(AdviceSourceTest, OfAJobThatTheCollectorDoesNotKnowOrCallsEndedNothingRuns) {
  collector_.answers.erase("/api/v1/jobs/train");
  ASSERT_TRUE(Read().ok());
  EXPECT_FALSE(view_.verdicts[0].job_runs);
  EXPECT_TRUE(view_.job_nodes.empty());
  for (const char* state : {R"("ended")", R"("")", "null", "7"}) {
    collector_.Say("/api/v1/jobs/train", std::string(R"({"rank_info":[],"state":)") + state + "}");
    ASSERT_TRUE(Read().ok()) << state;
    EXPECT_FALSE(view_.verdicts[0].job_runs) << state;
  }
}

TEST_F(AdviceSourceTest, OneThatClosesBetweenTheTwoAnswersIsClosed) {
  auto closed = Told("v1", "train");
  closed["closed_because"] = "recovered";
  collector_.Say(kAll, ListOf({closed, Told("v2", "train")}));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(view_.verdicts.size(), 1u) << "an open one counts only if it is in the list of those";
  EXPECT_FALSE(view_.verdicts[0].open);
  EXPECT_EQ(view_.verdicts[0].closed_because, "recovered");
}

TEST_F(AdviceSourceTest, AnyAnswerThatIsNoneMakesAllOfItUnknown) {
  const auto whole = collector_.answers;
  for (const auto& [path, right] : whole) {
    for (const collector::HttpAnswer& wrong :
         {collector::HttpAnswer{0, "", 0}, collector::HttpAnswer{500, right.body, 0},
          collector::HttpAnswer{302, right.body, 0}, collector::HttpAnswer{200, "", 0},
          collector::HttpAnswer{200, "<html>", 0}, collector::HttpAnswer{200, "[]", 0},
          collector::HttpAnswer{200, right.body.substr(0, right.body.size() - 2), 0},
          collector::HttpAnswer{200, R"({"verdicts":{},"rank_info":{}})", 0},
          collector::HttpAnswer{200, R"({"verdicts":[7],"rank_info":[7]})", 0}}) {
      collector_.answers = whole;
      collector_.answers[path] = wrong;
      EXPECT_FALSE(Read().ok()) << path << " " << wrong.status << " " << wrong.body;
      EXPECT_FALSE(view_.verdicts_known) << path << " " << wrong.status << " " << wrong.body;
    }
  }
}

TEST_F(AdviceSourceTest, AMissingListOfVerdictsIsNoEmptyOne) {
  collector_.answers.erase(kOpen);
  EXPECT_FALSE(Read().ok());
  EXPECT_FALSE(view_.verdicts_known);
}

TEST_F(AdviceSourceTest, ALoginThatIsAskedForIsSaidWithoutThePassword) {
  struct Refusing final : collector::HttpTransport {
    absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall&) override {
      return collector::HttpAnswer{401, "", 0};
    }
  } transport;
  View view;
  const absl::Status status = AdviceSource("http://ann:secret@c:1", "", transport).Read(view);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find("collector_token_file"), status.message().npos);
  EXPECT_EQ(status.message().find("secret"), status.message().npos) << status.message();
}

TEST_F(AdviceSourceTest, NamesOfJobsAreEscapedAndAskedForOnceAndOnlyWhereNeeded) {
  auto supported = Told("v3", "quiet");
  supported["grade"] = "supported";
  const std::string list =
      ListOf({Told("v1", "a/b?c=1#d e"), Told("v2", "a/b?c=1#d e"), supported});
  collector_.Say(kOpen, list);
  collector_.Say(kAll, list);
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(collector_.calls.size(), 3u);
  EXPECT_EQ(collector_.calls[2].url, "http://c:1/api/v1/jobs/a%2Fb%3Fc%3D1%23d%20e");
}

TEST_F(AdviceSourceTest, NoMoreJobsAreAskedForThanTheBoundAndTheRestDoesNotRun) {
  std::vector<nlohmann::json> many;
  for (std::size_t i = 0; i < AdviceSource::kMaxJobs + 5; ++i) {
    const std::string job = "job" + std::to_string(i);
    many.push_back(Told("v" + std::to_string(i), job));
    collector_.Say("/api/v1/jobs/" + job, R"({"state":"running","rank_info":[]})");
  }
  collector_.Say(kOpen, ListOf(many));
  collector_.Say(kAll, ListOf(many));
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(collector_.calls.size(), 2 + AdviceSource::kMaxJobs);
  const auto run = std::count_if(view_.verdicts.begin(), view_.verdicts.end(),
                                 [](const VerdictFact& each) { return each.job_runs; });
  EXPECT_EQ(static_cast<std::size_t>(run), AdviceSource::kMaxJobs);
}

TEST_F(AdviceSourceTest, ANodeThatIsNoTextIsNoNode) {
  auto odd = Told("v1", "train");
  odd["entity"]["node"] = {"n1"};
  odd["entity"]["ranks"] = {3, "x", nullptr};
  odd["authenticated"] = "true";
  odd["proof"] = "confirmed";
  collector_.Say(kOpen, ListOf({odd}));
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(view_.verdicts[0].node, "");
  EXPECT_EQ(view_.verdicts[0].entity, "rank 3 ? ?");
  EXPECT_FALSE(view_.verdicts[0].authenticated) << "only the word true is";
  EXPECT_EQ(view_.verdicts[0].proof, "");
}

}  // namespace
}  // namespace fathom::cordon
