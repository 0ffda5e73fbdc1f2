// Which ops of different ranks are linked in a trace for Perfetto.
#include "collector/export/perfetto/flows.h"

#include <gtest/gtest.h>

#include <vector>

namespace fathom::collector::perfetto {
namespace {

using diagnosis::CommOp;
using diagnosis::RankRows;

constexpr GroupId kGroup{7};

CommOp Collective(std::uint64_t sequence, std::int64_t at) {
  CommOp op;
  op.group = kGroup;
  op.sequence = Sequence(sequence);
  op.kind = CollectiveKind::kAllReduce;
  op.enter = MonoNs(at);
  op.end = MonoNs(at + 10);
  return op;
}

CommOp Message(CollectiveKind kind, std::uint32_t peer, std::int64_t at, std::uint64_t bytes = 64) {
  CommOp op;
  op.group = kGroup;
  op.kind = kind;
  op.peer = RankId(peer);
  op.bytes = bytes;
  op.iteration = Iteration(3);
  op.enter = MonoNs(at);
  op.end = MonoNs(at + 10);
  return op;
}

CommOp Send(std::uint32_t to, std::int64_t at, std::uint64_t bytes = 64) {
  return Message(CollectiveKind::kSend, to, at, bytes);
}

CommOp Receive(std::uint32_t from, std::int64_t at, std::uint64_t bytes = 64) {
  return Message(CollectiveKind::kRecv, from, at, bytes);
}

class Job {
 public:
  explicit Job(std::vector<std::vector<CommOp>> ops) : rows_(ops.size()), parts_(ops.size()) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      rows_[i].ops = std::move(ops[i]);
      parts_[i].rank = RankId(static_cast<std::uint32_t>(i));
      parts_[i].rows = &rows_[i];
    }
  }
  std::vector<RankPart>& parts() { return parts_; }

 private:
  std::vector<RankRows> rows_;
  std::vector<RankPart> parts_;
};

TEST(Flows, LinkTheMembersOfACollectiveAndEndAtTheLatest) {
  Job job({{Collective(0, 100)}, {Collective(0, 300)}, {Collective(0, 200)}});
  const Flows flows(job.parts());
  EXPECT_NE(flows.Of(0, 0).id, 0u);
  EXPECT_EQ(flows.Of(0, 0).id, flows.Of(1, 0).id);
  EXPECT_EQ(flows.Of(0, 0).id, flows.Of(2, 0).id);
  EXPECT_FALSE(flows.Of(0, 0).last);
  EXPECT_TRUE(flows.Of(1, 0).last);
  EXPECT_FALSE(flows.Of(2, 0).last);
}

TEST(Flows, TheLatestIsTheLatestOnOneClock) {
  Job job({{Collective(0, 100)}, {Collective(0, 5'000)}});
  job.parts()[1].shift = 4'950;
  const Flows flows(job.parts());
  EXPECT_TRUE(flows.Of(0, 0).last);
  EXPECT_FALSE(flows.Of(1, 0).last);
}

TEST(Flows, AmongEqualTimesTheLastWrittenEndsIt) {
  Job job({{Collective(0, 100)}, {Collective(0, 100)}});
  const Flows flows(job.parts());
  EXPECT_FALSE(flows.Of(0, 0).last);
  EXPECT_TRUE(flows.Of(1, 0).last);
}

// Coalesced collectives bear one number.
TEST(Flows, OpsOfOneNumberAreToldApartByTheirPlace) {
  Job job({{Collective(0, 100), Collective(0, 110)}, {Collective(0, 100), Collective(0, 110)}});
  const Flows flows(job.parts());
  EXPECT_EQ(flows.Of(0, 0).id, flows.Of(1, 0).id);
  EXPECT_EQ(flows.Of(0, 1).id, flows.Of(1, 1).id);
  EXPECT_NE(flows.Of(0, 0).id, flows.Of(0, 1).id);
}

TEST(Flows, WhoIsAloneHasNone) {
  Job job({{Collective(0, 100), Collective(1, 200)}, {Collective(0, 100)}});
  job.parts().push_back({RankId(2)});  // of which no rows came
  const Flows flows(job.parts());
  EXPECT_NE(flows.Of(0, 0).id, 0u);
  EXPECT_EQ(flows.Of(0, 1).id, 0u);
  EXPECT_EQ(flows.Of(2, 0).id, 0u);
}

TEST(Flows, WhatIsCutOffDoesNotCount) {
  Job job({{Collective(0, 100)}, {Collective(0, 300)}});
  job.parts()[1].until = 300;
  EXPECT_EQ(Flows(job.parts()).Of(0, 0).id, 0u);
}

TEST(Flows, LinkTheKthSendWithTheKthReceive) {
  Job job({{Send(1, 100), Send(1, 200, 128)}, {Receive(0, 90), Receive(0, 210, 128)}});
  const Flows flows(job.parts());
  EXPECT_EQ(flows.Of(0, 0).id, flows.Of(1, 0).id);
  EXPECT_EQ(flows.Of(0, 1).id, flows.Of(1, 1).id);
  EXPECT_NE(flows.Of(0, 0).id, flows.Of(0, 1).id);
  EXPECT_TRUE(flows.Of(0, 0).last);  // the receive waited for it
  EXPECT_TRUE(flows.Of(1, 1).last);
}

TEST(Flows, MessagesBothWaysAreNotOne) {
  Job job({{Send(1, 100), Receive(1, 200)}, {Send(0, 100), Receive(0, 200)}});
  const Flows flows(job.parts());
  EXPECT_EQ(flows.Of(0, 0).id, flows.Of(1, 1).id);
  EXPECT_EQ(flows.Of(0, 1).id, flows.Of(1, 0).id);
  EXPECT_NE(flows.Of(0, 0).id, flows.Of(0, 1).id);
}

TEST(Flows, MessagesThatDoNotMatchAreNotLinked) {
  Job lost({{Send(1, 100), Send(1, 200)}, {Receive(0, 210)}});
  Job unequal({{Send(1, 100, 64)}, {Receive(0, 110, 128)}});
  Job sizes_not_told({{Send(1, 100, 64)}, {Receive(0, 110, 0)}});
  EXPECT_EQ(Flows(lost.parts()).Of(0, 0).id, 0u);
  EXPECT_EQ(Flows(unequal.parts()).Of(0, 0).id, 0u);
  EXPECT_NE(Flows(sizes_not_told.parts()).Of(0, 0).id, 0u);
}

TEST(Flows, AMessageOfNoIterationOrToNobodyIsNotLinked) {
  Job job({{Send(1, 100)}, {Receive(0, 110)}});
  std::vector<RankRows> rows(2);
  rows[0].ops = {Send(1, 100)};
  rows[1].ops = {Receive(0, 110)};
  rows[0].ops[0].iteration = rows[1].ops[0].iteration = Iteration(-1);
  job.parts()[0].rows = &rows[0];
  job.parts()[1].rows = &rows[1];
  EXPECT_EQ(Flows(job.parts()).Of(0, 0).id, 0u);
  Job nobody({{Send(kNoRank.value, 100)}, {Receive(kNoRank.value, 110)}});
  EXPECT_EQ(Flows(nobody.parts()).Of(0, 0).id, 0u);
}

}  // namespace
}  // namespace fathom::collector::perfetto
