#include "collector/evaluate/hand_captures.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collector/evaluate/hand_capture_json.h"
#include "fathom/v1/agent.pb.h"
#include "fathom/v1/capture.pb.h"
#include "tests/collector/captured_job.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

struct HandCapturesTest : testing::Test {
  static constexpr std::uint32_t kRanks = kCapturedRanks;

  void SetUp() override {
    registry.Connect(1, HelloFrom("n0").hello(), channel);
    TellCapturedRanks(job);
  }

  HandCaptures Made() {
    return HandCaptures(
        settings, {captures, ledger, [this](const std::string& line) { said.push_back(line); },
                   [](std::string_view) { return true; }, clock});
  }
  Rejection Answer(std::uint32_t rank, std::uint32_t asleep) {
    const std::uint64_t request = channel->sent.back().request_id();
    return captures.OnReply("n0", CaptureReplyOf(request, CapturedStacks(rank, asleep)));
  }
  nlohmann::json Json(const HandCaptures& by_hand, bool stacks) const {
    return nlohmann::json::parse(CaptureJson("train", by_hand.Read(job), stacks));
  }

  FakeClock clock;
  SessionRegistry registry{clock};
  JobState job{"train", clock};
  std::shared_ptr<CaptureChannel> channel = std::make_shared<CaptureChannel>();
  CaptureRequests captures{registry, clock};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  std::vector<std::string> said;
  CaptureSettings settings;
};

TEST_F(HandCapturesTest, AllRanksRecordTheSameIterationsAndTheFunctionIsTold) {
  HandCaptures by_hand = Made();
  CaptureWish wish;
  wish.iterations = 7;
  ASSERT_TRUE(by_hand.Ask(job, wish, "ann").ok());
  ASSERT_EQ(channel->sent.size(), 1u);
  const v1::CaptureRequest& request = channel->sent[0];
  EXPECT_EQ(request.ranks_size(), 4);
  ASSERT_EQ(request.cues_size(), 4);
  for (const v1::CaptureCue& cue : request.cues()) {
    EXPECT_EQ(cue.open_sequence(), request.cues(0).open_sequence());
    EXPECT_EQ(cue.close_sequence(), request.cues(0).close_sequence());
    EXPECT_EQ(cue.close_sequence() - cue.open_sequence() + 1, 7u * 5u);  // five ops each
  }
  EXPECT_GT(request.patience_ns(), 0);
  EXPECT_NE(said.at(0).find("for 7 iterations, by hand of ann: asked for"), std::string::npos);
  auto json = Json(by_hand, false);
  EXPECT_EQ(json["state"], "under way");
  EXPECT_EQ(json["iterations"], 7);
  EXPECT_EQ(json["ranks"][0]["state"], "asked");
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_FALSE(Answer(r, r == 2 ? 220 : 0));
  json = Json(by_hand, true);
  EXPECT_EQ(json["state"], "over");
  EXPECT_EQ(json["functions"][0]["rank"], 2);
  EXPECT_EQ(json["functions"][0]["function"], "write_metrics");
  EXPECT_EQ(json["functions"][0]["line"], 85);
  EXPECT_EQ(json["functions"][1]["function"], "");
  EXPECT_EQ(json["ranks"][2]["stacks"][1]["samples"], 220);
  EXPECT_FALSE(Json(by_hand, false)["ranks"][2].contains("stacks"));
}

TEST_F(HandCapturesTest, StayToBeShownAfterTheVerdictsTookThem) {
  HandCaptures by_hand = Made();
  ASSERT_TRUE(by_hand.Ask(job, {}, "").ok());
  EXPECT_EQ(channel->sent[0].cues_size(), 0);  // at once
  for (std::uint32_t r = 0; r < kRanks; ++r) Answer(r, 0);
  EXPECT_NE(captures.TakeFinished("train"), nullptr);
  EXPECT_EQ(captures.TakeFinished("train"), nullptr);
  EXPECT_EQ(Json(by_hand, false)["ranks"].size(), 4u);
}

TEST_F(HandCapturesTest, TheLimitOfAnHourIsThatOfTheAutomaticOnes) {
  settings.per_hour = 2;
  HandCaptures by_hand = Made();
  CaptureWish automatic;
  automatic.ranks = {RankId(0)};
  ASSERT_TRUE(captures.Ask(job, automatic).ok());
  EXPECT_EQ(by_hand.Ask(job, {}, "ann").message(),
            "a capture is under way; ask again when it is over");
  clock.AdvanceSeconds(60);
  ASSERT_TRUE(by_hand.Ask(job, {}, "ann").ok());
  clock.AdvanceSeconds(60);
  const absl::Status third = by_hand.Ask(job, {}, "ann");
  EXPECT_TRUE(absl::IsResourceExhausted(third));
  EXPECT_NE(std::string(third.message()).find("captures_per_hour is 2"), std::string::npos);
  EXPECT_NE(said.back().find("by hand of ann: this job was captured 2 times"), std::string::npos);
  clock.AdvanceSeconds(3600);
  EXPECT_TRUE(by_hand.Ask(job, {}, "ann").ok());
}

TEST_F(HandCapturesTest, SaysWhyARankWasLeftAlone) {
  HandCaptures by_hand = Made();
  ASSERT_TRUE(by_hand.Ask(job, {}, "").ok());
  v1::CaptureReply reply;
  reply.set_request_id(channel->sent.back().request_id());
  reply.set_job("train");
  v1::RankCapture& refused = *reply.add_ranks();
  refused.set_rank(1);
  refused.set_state("refused");
  refused.set_reason("another tool watches this process: gdb (pid 99)");
  ASSERT_FALSE(captures.OnReply("n0", reply));
  for (const std::uint32_t r : {0u, 2u}) Answer(r, 0);
  clock.AdvanceSeconds(60);
  const auto json = Json(by_hand, false);
  EXPECT_EQ(json["ranks"][1]["reason"], "another tool watches this process: gdb (pid 99)");
  EXPECT_EQ(json["ranks"][3]["reason"], "no answer came from node n0");
}

TEST_F(HandCapturesTest, IterationsThatNobodyKnowsOrTooManyAreRefused) {
  HandCaptures by_hand = Made();
  CaptureWish wish;
  wish.iterations = 10'000'000;
  EXPECT_TRUE(absl::IsInvalidArgument(by_hand.Ask(job, wish, "")));
  JobState young{"young", clock};
  young.Apply(RankOf(0, kRanks), "n0", 10);
  wish.iterations = 3;
  EXPECT_TRUE(absl::IsFailedPrecondition(by_hand.Ask(young, wish, "")));
  EXPECT_TRUE(channel->sent.empty());
}

TEST(ParseCapture, RefusesWhatIsNoSuchNumber) {
  Request request;
  EXPECT_EQ(ParseCapture(request, {})->seconds, 4);
  EXPECT_TRUE(ParseCapture(request, {})->workers);
  for (const auto& [name, value] : {std::pair{"seconds", "31"},
                                    {"seconds", "0"},
                                    {"iterations", "-1"},
                                    {"rate", "201"},
                                    {"native", "2"},
                                    {"seconds", "x"}}) {
    Request bad;
    bad.parameters[name] = value;
    EXPECT_FALSE(ParseCapture(bad, {}).ok()) << name << " " << value;
  }
}

}  // namespace
}  // namespace fathom::collector
