#include "daemon/agent/uplink/outbox.h"

#include <gtest/gtest.h>

#include "daemon/agent/uplink/backoff.h"

namespace fathom::agent {
namespace {

using Clock = std::chrono::steady_clock;

v1::AgentMessage Summary(std::int64_t iteration, std::size_t padding = 0) {
  v1::AgentMessage message;
  message.mutable_summary()->set_first_iteration(iteration);
  message.mutable_summary()->set_job(std::string(padding, 'x'));
  return message;
}
v1::AgentMessage Rank(std::uint32_t rank) {
  v1::AgentMessage message;
  message.mutable_rank()->set_rank(rank);
  return message;
}
v1::AgentMessage Health() {
  v1::AgentMessage message;
  message.mutable_health();
  return message;
}

v1::AgentMessage Ops(std::uint64_t serial, std::size_t bytes) {
  v1::AgentMessage message;
  message.mutable_ops()->set_serial(serial);
  message.mutable_ops()->set_columns(std::string(bytes, 'x'));
  return message;
}

class OutboxTest : public testing::Test {
 protected:
  std::vector<v1::AgentMessage> TakeAll() {
    std::vector<v1::AgentMessage> all;
    while (auto message = box_.Next(Clock::now())) all.push_back(*message);
    return all;
  }
  Outbox box_{1 << 20};
};

TEST_F(OutboxTest, NumbersFromOneAndSaysHelloFirst) {
  box_.PutDurable(Summary(1));
  box_.BeginStream({});
  const auto sent = TakeAll();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(sent[0].has_hello());
  EXPECT_EQ(sent[0].number(), 1u);
  EXPECT_TRUE(sent[1].has_summary());
  EXPECT_EQ(sent[1].number(), 2u);
}

TEST_F(OutboxTest, WhatWaitsGoesTogetherOnceTheCollectorTakesIt) {
  box_.BeginStream({});
  ASSERT_EQ(TakeAll().size(), 1u);  // hello
  box_.SendTogether();
  for (int i = 1; i <= 100; ++i) box_.PutDurable(Summary(i));
  const auto sent = TakeAll();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].more_size(), Outbox::kMostTogether);
  EXPECT_EQ(sent[0].number(), 2u);
  EXPECT_EQ(sent[0].more(0).number(), 3u);
  EXPECT_EQ(sent[0].more(0).summary().first_iteration(), 2);
  ASSERT_EQ(sent[1].more_size(), 34);
  EXPECT_EQ(sent[1].more(33).number(), 101u);
  box_.Acknowledge(100);  // all but the last
  EXPECT_EQ(box_.counters().waiting, 1u);
  // A collector of another version may be next.
  box_.EndStream();
  box_.BeginStream({});
  EXPECT_EQ(TakeAll().size(), 2u);
}

TEST_F(OutboxTest, LargeOnesGoAlone) {
  box_.BeginStream({});
  ASSERT_EQ(TakeAll().size(), 1u);
  box_.SendTogether();
  box_.PutDurable(Summary(1));
  box_.PutDurable(Summary(2, Outbox::kBytesTogether));
  box_.PutDurable(Summary(3));
  EXPECT_EQ(TakeAll().size(), 3u);
}

TEST_F(OutboxTest, SendsAgainWhatWasNotAcknowledged) {
  box_.BeginStream({});
  for (int i = 1; i <= 3; ++i) box_.PutDurable(Summary(i));
  TakeAll();
  box_.Acknowledge(2);  // hello and the first summary
  box_.EndStream();
  box_.BeginStream({});
  const auto again = TakeAll();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1].summary().first_iteration(), 2);
  EXPECT_EQ(again[2].summary().first_iteration(), 3);
  EXPECT_EQ(again[2].number(), 3u);
}

TEST_F(OutboxTest, StandingMessagesOpenEveryStreamInOrderOfTheirKeys) {
  box_.PutStanding("2group/a", Health());
  box_.PutStanding("1rank/a", Rank(4));
  for (int stream = 0; stream < 2; ++stream) {
    box_.BeginStream({});
    const auto sent = TakeAll();
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(sent[1].rank().rank(), 4u);
    EXPECT_TRUE(sent[2].has_health());
    box_.Acknowledge(3);
    box_.EndStream();
  }
  box_.RetireStanding("1rank/a");
  box_.BeginStream({});
  EXPECT_EQ(TakeAll().size(), 2u);
}

// Ops are worth least of what waits: a verdict needs them least.
TEST_F(OutboxTest, BlocksOfOpsGoFirstWhereThereIsNoRoom) {
  box_.BeginStream({});
  box_.PutDurable(Summary(1, 300'000));
  box_.PutBulk(Ops(1, 300'000));
  box_.PutMomentary(Health());
  box_.PutBulk(Ops(2, 300'000));
  box_.PutDurable(Summary(2, 300'000));
  std::vector<std::uint64_t> serials;
  bool health = false;
  for (const auto& message : TakeAll()) {
    if (message.has_ops()) serials.push_back(message.ops().serial());
    health = health || message.has_health();
  }
  EXPECT_EQ(serials, std::vector<std::uint64_t>({2}));
  EXPECT_TRUE(health);
  EXPECT_EQ(box_.counters().dropped_by_kind.at("ops"), 1u);
  EXPECT_FALSE(box_.counters().dropped_by_kind.contains("summary"));
}

TEST_F(OutboxTest, BlocksOfOpsAreSentAgainUntilTheyAreAcknowledged) {
  box_.BeginStream({});
  box_.PutBulk(Ops(1, 10));
  box_.PutBulk(Ops(2, 10));
  EXPECT_EQ(TakeAll().size(), 3u);
  box_.Acknowledge(2);
  box_.EndStream();
  box_.PutBulk(Ops(3, 10));
  box_.BeginStream({});
  const auto again = TakeAll();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1].ops().serial(), 2u);
  EXPECT_EQ(again[2].ops().serial(), 3u);
}

// A collector that comes back knowing nothing must be able to place what was kept.
TEST_F(OutboxTest, WhoIsGoneStandsUntilAllThatWasKeptOfItIsAcknowledged) {
  box_.PutStanding("1rank/a", Rank(4));
  box_.PutDurable(Summary(1));
  box_.RetireStanding("1rank/a");
  box_.PutDurable(Summary(2));  // of another
  for (int stream = 0; stream < 2; ++stream) {
    box_.BeginStream({});
    const auto sent = TakeAll();
    ASSERT_EQ(sent.size(), 4u) << stream;
    EXPECT_TRUE(sent[1].has_rank());
    EXPECT_EQ(sent[2].summary().first_iteration(), 1);
    box_.EndStream();
  }
  box_.BeginStream({});
  TakeAll();
  box_.Acknowledge(3);  // hello, the rank, the first summary
  box_.EndStream();
  box_.BeginStream({});
  EXPECT_EQ(TakeAll().size(), 2u);
}

TEST_F(OutboxTest, WhoTakesPartIsNeverShed) {
  Outbox box(4096);
  box.PutStanding("1rank/a", Rank(4));
  for (int i = 0; i < 10; ++i) box.PutDurable(Summary(i, 500));
  box.BeginStream({});
  for (int i = 0; i < 10; ++i) box.PutMomentary(Health());
  box.PutDurable(Summary(10, 500));
  std::vector<v1::AgentMessage> sent;
  while (auto message = box.Next(Clock::now())) sent.push_back(*message);
  ASSERT_GE(sent.size(), 3u);
  EXPECT_TRUE(sent[0].has_hello());
  EXPECT_TRUE(sent[1].has_rank());
  EXPECT_EQ(sent.back().summary().first_iteration(), 10);
  EXPECT_GT(box.counters().dropped, 0u);
}

v1::AgentMessage Gone(std::uint32_t rank) {
  v1::AgentMessage message;
  message.mutable_gone()->set_rank(rank);
  return message;
}

TEST_F(OutboxTest, DeathsAreNeverShed) {
  Outbox box(4096);
  box.PutDurable(Gone(3));
  for (int i = 0; i < 20; ++i) box.PutDurable(Summary(i, 500));
  box.BeginStream({});
  std::vector<v1::AgentMessage> sent;
  while (auto message = box.Next(Clock::now())) sent.push_back(*message);
  ASSERT_GE(sent.size(), 3u);
  EXPECT_EQ(sent[1].gone().rank(), 3u);
  const OutboxCounters counters = box.counters();
  EXPECT_EQ(counters.dropped, 20u - (sent.size() - 2));
  EXPECT_EQ(counters.dropped_by_kind.at("summary"), counters.dropped);
}

// A stream stands still: nobody takes anything out.
TEST_F(OutboxTest, OfHealthThatWaitsTheNewestAloneIsKept) {
  Outbox box(20'000);
  box.BeginStream({});
  box.Next(Clock::now());
  for (int i = 0; i < 30; ++i) box.PutDurable(Summary(i, 500));
  for (std::uint64_t i = 1; i <= 900; ++i) {
    v1::AgentMessage health;
    health.mutable_health()->add_ranks()->set_job(std::string(400, 'j'));
    health.mutable_health()->mutable_ranks(0)->set_cpu_ns(i);
    box.PutMomentary(std::move(health));
  }
  int summaries = 0;
  std::vector<std::uint64_t> health;
  while (auto message = box.Next(Clock::now())) {
    summaries += message->has_summary() ? 1 : 0;
    if (message->has_health()) health.push_back(message->health().ranks(0).cpu_ns());
  }
  EXPECT_EQ(summaries, 30);
  EXPECT_EQ(health, std::vector<std::uint64_t>{900});
  EXPECT_EQ(box.counters().dropped, 0u);
  EXPECT_EQ(box.counters().dropped_by_kind.at("health"), 899u);
  EXPECT_EQ(box.counters().momentary_lost, 899u);
}

TEST_F(OutboxTest, MomentaryMessagesAreNotKept) {
  box_.PutMomentary(Health());
  box_.BeginStream({});
  EXPECT_EQ(TakeAll().size(), 1u);
  box_.PutMomentary(Health());
  EXPECT_EQ(TakeAll().size(), 1u);
  box_.EndStream();
  EXPECT_EQ(box_.counters().momentary_lost, 1u);
  box_.BeginStream({});
  EXPECT_EQ(TakeAll().size(), 1u);
  EXPECT_EQ(box_.counters().momentary_lost, 2u) << "it was sent, and nobody said that it arrived";
}

TEST_F(OutboxTest, DropsTheOldestBeyondTheLimitAndCounts) {
  Outbox small(1000);
  for (int i = 0; i < 20; ++i) small.PutDurable(Summary(i, 100));
  EXPECT_GT(small.counters().dropped, 5u);
  small.BeginStream({});
  small.Next(Clock::now());
  const auto oldest = small.Next(Clock::now());
  EXPECT_EQ(static_cast<std::uint64_t>(oldest->summary().first_iteration()),
            small.counters().dropped);
}

TEST_F(OutboxTest, AMessageThatIsTooLargeIsDroppedAndCounted) {
  box_.BeginStream({});
  box_.PutDurable(Summary(1, Outbox::kMaxMessageBytes));
  EXPECT_EQ(box_.counters().dropped, 1u);
  EXPECT_EQ(TakeAll().size(), 1u);
}

TEST_F(OutboxTest, TheStreamsEndWakesTheWriter) {
  box_.BeginStream({});
  TakeAll();
  box_.EndStream();
  EXPECT_FALSE(box_.Next(Clock::now() + std::chrono::hours(1)).has_value());
}

TEST_F(OutboxTest, IsEmptyOnceAllIsAcknowledged) {
  box_.BeginStream({});
  box_.PutDurable(Summary(1));
  TakeAll();
  EXPECT_FALSE(box_.WaitUntilEmpty(Clock::now()));
  box_.Acknowledge(100);
  EXPECT_TRUE(box_.WaitUntilEmpty(Clock::now()));
}

TEST(BackoffTest, DoublesWithJitterUpToTheLimitAndResets) {
  Backoff backoff(Nanos(100), Nanos(1000), 7);
  std::int64_t whole = 100;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t wait = backoff.Next().count;
    EXPECT_GE(wait, whole / 2);
    EXPECT_LE(wait, whole);
    whole = std::min<std::int64_t>(1000, whole * 2);
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next().count, 100);
}

}  // namespace
}  // namespace fathom::agent
