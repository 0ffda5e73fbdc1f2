// Which nodes are probed for a job, and when that is ordered without anybody asking.
#include "collector/evaluate/probe_trigger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "fathom/v1/agent.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

using diagnosis::Cause;
using testing::ElementsAre;

struct Channel final : RowsChannel {
  bool Pass(v1::CollectorMessage message) override {
    if (!message.has_probe()) return false;
    ++sent;
    return true;
  }
  int sent = 0;
};

struct ProbeTriggerTest : testing::Test {
  void SetUp() override {
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::string node = "n" + std::to_string(i);
      registry.Connect(i + 1, HelloFrom(node).hello(), channel);
      job.Apply(RankOf(i, 4), node, 10);
    }
  }

  void Convict(const std::string& node, Cause cause, diagnosis::Grade grade) {
    diagnosis::Verdict verdict;
    verdict.grade = grade;
    verdict.cause = cause;
    verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
    verdict.entity.node = node;
    Episode episode;
    episode.id = "v0123456789" + node;
    episode.job = job.name();
    episode.verdict = verdict;
    ledger.Adopt(episode);
  }

  ProbeTrigger Trigger(const std::string& mode) {
    return ProbeTrigger({mode}, {probes, ledger, registry,
                                 [this](const std::string& line) { said.push_back(line); }, clock});
  }

  std::vector<std::string> Nodes(std::size_t peers, bool only_hardware) const {
    const auto nodes = SuspectsAndPeers(job.name(), &job, ledger, registry, peers, only_hardware);
    return nodes.ok() ? *nodes : std::vector<std::string>();
  }

  FakeClock clock;
  SessionRegistry registry{clock};
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();
  JobState job{"train", clock};
  VerdictLedger ledger{[](VerdictChange, const Episode&) {}};
  ProbeRequests probes{registry, clock,
                       [](const std::string&) { return std::vector<v1::NodeProbe>(); },
                       [](const ProbeRequest&) {}};
  std::vector<std::string> said;
};

TEST_F(ProbeTriggerTest, SuspectsComeFirstAndPeersAreOfTheJob) {
  EXPECT_TRUE(Nodes(3, false).empty());
  Convict("n2", Cause::kComputeSlow, diagnosis::Grade::kEstablished);
  EXPECT_THAT(Nodes(2, true), ElementsAre("n2", "n0", "n1"));
  EXPECT_THAT(Nodes(0, true), ElementsAre("n2"));
}

TEST_F(ProbeTriggerTest, ByItselfOnlyWhereANodeIsConvictedOfItsOwnHardware) {
  Convict("n1", Cause::kComputeSlow, diagnosis::Grade::kHypothesis);
  Convict("n2", Cause::kDataLoader, diagnosis::Grade::kEstablished);
  EXPECT_TRUE(Nodes(3, true).empty());
  EXPECT_EQ(Nodes(1, false).size(), 3u);
}

TEST_F(ProbeTriggerTest, OnceAJobHasEndedAndOncePerHour) {
  Convict("n2", Cause::kComputeSlow, diagnosis::Grade::kEstablished);
  ProbeTrigger trigger = Trigger("after_jobs");
  trigger.Ended(job);
  EXPECT_EQ(channel->sent, 4);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], testing::HasSubstr("job train ended; probe of n2, n0, n1, n3: order "));
  trigger.Ended(job);
  EXPECT_EQ(channel->sent, 4);
  clock.AdvanceSeconds(3601);
  trigger.Ended(job);
  EXPECT_EQ(channel->sent, 8);
}

TEST_F(ProbeTriggerTest, NothingUnlessTheOperatorAllowsIt) {
  Convict("n2", Cause::kComputeSlow, diagnosis::Grade::kEstablished);
  Trigger("asked").Ended(job);
  EXPECT_EQ(channel->sent, 0);
}

}  // namespace
}  // namespace fathom::collector
