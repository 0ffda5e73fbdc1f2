#include "daemon/agent/session/switch_watch.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using fakes::RingFolder;
using fakes::RingWriter;

class SwitchWatchTest : public testing::Test {
 protected:
  SwitchWatchTest() : ring_(folder_.path(), {.pid = 42}) {
    region_.emplace(*RegionReader::Open(ring_.path()));
  }
  ControlSnapshot Control() { return *region_->ReadControl(); }
  absl::Status Ask(std::uint64_t id, const SwitchWords& words = {}) {
    return watch_.Ask(*region_, Control(), id, words, 1'000);
  }
  std::vector<SwitchOutcome> Look(std::int64_t now = 10) { return watch_.Look(Control(), now); }
  // As the tracer tells it.
  void TakeHold(std::uint64_t at) {
    ring_.control().switch_state.at_sequence.store(at);
    ring_.control().switch_state.ticket.store(ring_.control().switch_order.ticket.load());
  }

  RingFolder folder_;
  RingWriter ring_;
  std::optional<RegionReader> region_;
  SwitchWatch watch_;
};

TEST_F(SwitchWatchTest, TheOrderStandsInTheControlBlockAndIsToldOnce) {
  ASSERT_TRUE(Ask(7, {3, 100, abi::kSourceCuda, abi::kPluginMaskSet | 2}).ok());
  const abi::SwitchOrder& order = ring_.control().switch_order;
  EXPECT_EQ(order.ticket.load(), 1u);
  EXPECT_EQ(order.group_slot.load(), 3u);
  EXPECT_EQ(order.at_sequence.load(), 100u);
  EXPECT_EQ(order.sources_disabled.load(), std::uint32_t{abi::kSourceCuda});
  EXPECT_EQ(order.plugin_mask.load(), abi::kPluginMaskSet | 2);
  EXPECT_TRUE(Look().empty());
  TakeHold(104);
  const auto news = Look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].request_id, 7u);
  EXPECT_EQ(news[0].state, "done");
  EXPECT_EQ(news[0].at_sequence, 104u);
  EXPECT_TRUE(Look().empty());
}

TEST_F(SwitchWatchTest, OneThatDoesNotComeToItsOpWaitsAndMayBeDoneLater) {
  ASSERT_TRUE(Ask(7).ok());
  const auto waits = Look(1'001);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].state, "waits");
  EXPECT_TRUE(Look(2'000).empty()) << "said once";
  TakeHold(9);
  EXPECT_EQ(Look(3'000).at(0).state, "done");
}

TEST_F(SwitchWatchTest, ANewerOrderTakesThePlaceOfOneThatWaits) {
  ASSERT_TRUE(Ask(7).ok());
  ASSERT_TRUE(Ask(8).ok());
  EXPECT_EQ(ring_.control().switch_order.ticket.load(), 2u);
  const auto news = Look();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].request_id, 7u);
  EXPECT_EQ(news[0].reason, "replaced");
  TakeHold(1);
  EXPECT_EQ(Look().at(0).request_id, 8u);
}

TEST_F(SwitchWatchTest, TicketsGoOnWhereAnotherAgentLeftOff) {
  ring_.control().switch_order.ticket.store(41);
  ring_.control().switch_state.ticket.store(41);
  ASSERT_TRUE(Ask(7).ok());
  EXPECT_EQ(ring_.control().switch_order.ticket.load(), 42u);
  EXPECT_TRUE(Look().empty()) << "what took hold was the one before";
}

TEST_F(SwitchWatchTest, AProcessThatEndsIsTold) {
  EXPECT_TRUE(watch_.Abandon().empty());
  ASSERT_TRUE(Ask(7).ok());
  const auto news = watch_.Abandon();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].reason, "process_gone");
}

TEST_F(SwitchWatchTest, AnOlderTracerIsNotOrdered) {
  ring_.header().version_minor = 3;
  region_.emplace(*RegionReader::Open(ring_.path()));
  EXPECT_EQ(Ask(7).message(), "old_tracer");
  EXPECT_EQ(ring_.control().switch_order.ticket.load(), 0u);
}

TEST_F(SwitchWatchTest, ARegionThatWasCutShortIsAnErrorAndNothingIsAwaited) {
  const ControlSnapshot control = Control();
  ring_.Truncate(100);
  EXPECT_FALSE(watch_.Ask(*region_, control, 7, {}, 1'000).ok());
  EXPECT_TRUE(watch_.Abandon().empty());
}

}  // namespace
}  // namespace fathom::agent
