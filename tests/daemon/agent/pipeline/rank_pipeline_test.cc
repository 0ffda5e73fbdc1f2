#include "daemon/agent/pipeline/rank_pipeline.h"

#include <gtest/gtest.h>

#include "daemon/abi/device_calls.h"
#include "daemon/abi/products.h"
#include "proto/types/message_anchors.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using fakes::FakeOp;
using fakes::RecordsOf;

constexpr std::int64_t kMs = 1'000'000;

GroupFacts GroupOf(const std::string& name, std::vector<std::uint32_t> members) {
  GroupFacts group;
  group.ready = true;
  group.name = name;
  group.size = static_cast<std::uint32_t>(members.size());
  group.members = std::move(members);
  return group;
}

// A rank that does a bucket and a loss all-reduce a step.
class RankPipelineTest : public testing::Test {
 protected:
  RankPipelineTest() : pipeline_(PipelineSettings{}) {
    pipeline_.TakeGroups(std::vector{GroupOf("0", {0, 1})}, 2);
  }

  void Collective(std::uint64_t bytes, std::int64_t lasts) {
    const FakeOp op{.op_id = ++ids_,
                    .sequence = sequence_++,
                    .bytes = bytes,
                    .enter_ns = now_,
                    .end_ns = now_ + lasts};
    pipeline_.Take(RecordsOf(op));
    now_ += lasts;
  }
  void Step(std::int64_t compute = 60 * kMs) {
    now_ += compute;
    Collective(1 << 20, 30 * kMs);
    Collective(4, 10 * kMs);
  }
  std::vector<IterationSummary> Closed() {
    pipeline_.Close();
    std::vector<IterationSummary> all;
    for (auto run = pipeline_.TakeClosed(); !run.summaries.empty(); run = pipeline_.TakeClosed()) {
      relearned_ += run.relearned;
      all.insert(all.end(), run.summaries.begin(), run.summaries.end());
    }
    return all;
  }

  RankPipeline pipeline_;
  std::int64_t now_ = 1000 * kMs;
  std::uint64_t ids_ = 0;
  std::uint64_t sequence_ = 0;
  int relearned_ = 0;
};

TEST_F(RankPipelineTest, SummarisesEveryStepFromTheFirst) {
  for (int i = 0; i < 30; ++i) Step();
  const auto closed = Closed();
  ASSERT_EQ(closed.size(), 30u);
  EXPECT_EQ(closed[0].span.number, 0);
  EXPECT_EQ(closed[29].span.number, 29);
  const IterationSummary& s = closed[20];
  EXPECT_EQ(s.span.end_ns - s.span.begin_ns, 100 * kMs);
  EXPECT_EQ(s.ops, 2u);
  const GroupSummary& g = s.groups.at(0);
  EXPECT_EQ(g.count, 2u);
  EXPECT_EQ(g.elapsed_ns, 40 * kMs);
  EXPECT_EQ(g.first_ns, 30 * kMs);
  EXPECT_EQ(g.shortest_ns, 10 * kMs);
  EXPECT_EQ(g.longest_ns, 30 * kMs);
  // Waits are recorded from 40 ns after entry to 10 ns after the end.
  EXPECT_NEAR(static_cast<double>(s.blocked_ns), 40e6, 1e3);
  EXPECT_EQ(pipeline_.typical_iteration_ns(), 100 * kMs);
}

TEST_F(RankPipelineTest, TheSlowStepIsSlow) {
  for (int i = 0; i < 30; ++i) Step(i == 25 ? 160 * kMs : 60 * kMs);
  const auto closed = Closed();
  EXPECT_EQ(closed[25].span.end_ns - closed[25].span.begin_ns, 200 * kMs);
  EXPECT_EQ(closed[26].span.end_ns - closed[26].span.begin_ns, 100 * kMs);
}

TEST_F(RankPipelineTest, RowsCarryTheirIteration) {
  for (int i = 0; i < 30; ++i) Step();
  const OpLog& log = pipeline_.log();
  for (std::uint64_t i = 0; i < log.next(); ++i) {
    EXPECT_EQ(log.At(i).iteration, static_cast<std::int64_t>(i / 2));
  }
}

TEST_F(RankPipelineTest, StartUpOpsBelongToTheFirstIteration) {
  Collective(123, kMs);
  Collective(456, kMs);
  for (int i = 0; i < 30; ++i) Step();
  const auto closed = Closed();
  ASSERT_EQ(closed.size(), 30u);
  EXPECT_EQ(closed[0].ops, 4u);
  EXPECT_EQ(closed[0].span.anchor_sequence, 3u);
  EXPECT_EQ(closed[1].span.anchor_sequence, 5u);
}

TEST_F(RankPipelineTest, OfMessagesAloneEachRankCountsItsOwn) {
  const auto message = [&](CollectiveKind kind) {
    const FakeOp op{.op_id = ++ids_,
                    .sequence = abi::kNoSequence64,
                    .kind = kind,
                    .bytes = 1 << 20,
                    .enter_ns = now_,
                    .end_ns = now_ + 20 * kMs};
    pipeline_.Take(RecordsOf(op));
    now_ += 20 * kMs;
  };
  for (int i = 0; i < 40; ++i) {
    now_ += 60 * kMs;
    message(CollectiveKind::kSend);
    message(CollectiveKind::kRecv);
  }
  pipeline_.Close();
  const auto run = pipeline_.TakeClosed();
  ASSERT_EQ(run.summaries.size(), 40u);
  EXPECT_EQ(run.anchor_group, kMessageAnchors);
  EXPECT_EQ(run.summaries[7].span.anchor_sequence, 7u);
  EXPECT_EQ(run.summaries[7].span.end_ns - run.summaries[7].span.begin_ns, 100 * kMs);
}

TEST_F(RankPipelineTest, AMissingStartIsNumberedFromTheSequence) {
  sequence_ = 200;  // a hundred steps came before
  pipeline_.StartIsMissing();
  for (int i = 0; i < 30; ++i) Step();
  const auto closed = Closed();
  ASSERT_FALSE(closed.empty());
  EXPECT_EQ(closed[0].span.number, 100);
}

TEST_F(RankPipelineTest, AnIterationThatNeverEndsIsNotClosed) {
  for (int i = 0; i < 30; ++i) Step();
  Closed();
  pipeline_.Take(RecordsOf({.op_id = ++ids_, .sequence = sequence_++, .enter_ns = now_}));
  EXPECT_TRUE(Closed().empty());
  EXPECT_EQ(pipeline_.joiner().OpenRows().size(), 1u);
  EXPECT_EQ(pipeline_.iteration_in_progress(), 30);
}

TEST_F(RankPipelineTest, CpuTimeComesFromTheThreadsThatCallTheApi) {
  for (int i = 0; i < 25; ++i) {
    Step();
    pipeline_.clock().Add(7, {now_, now_ / 2, now_ / 10});
  }
  const auto closed = Closed();
  EXPECT_NEAR(static_cast<double>(closed[20].cpu_ns), 50e6, 1e3);
  EXPECT_NEAR(static_cast<double>(closed[20].runqueue_ns), 10e6, 1e3);
}

// The host waits for its GPU for 40 ms in each step, for 75 in one.
TEST_F(RankPipelineTest, WaitsForTheDeviceBelongToTheStepBetweenTwoAnchors) {
  for (int i = 0; i < 30; ++i) {
    abi::EventRecord wait{};
    wait.thread_id = 7;
    wait.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kSyncStart);
    wait.time_ns = now_;
    pipeline_.Take(std::vector{wait});
    wait.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kSyncEnd);
    wait.time_ns = now_ + (i == 20 ? 75 : 40) * kMs;
    pipeline_.Take(std::vector{wait});
    Step(i == 20 ? 90 * kMs : 60 * kMs);
  }
  const auto closed = Closed();
  EXPECT_EQ(closed[19].device_wait_ns, 40 * kMs);
  EXPECT_EQ(closed[20].device_wait_ns, 75 * kMs);
  EXPECT_EQ(closed[21].device_wait_ns, 40 * kMs);
}

// 60 ms between two steps, of which two products take 20 and 10 ms of a stretch of 40.
TEST_F(RankPipelineTest, ProductsBelongToTheStepThatTellsThem) {
  for (int i = 0; i < 30; ++i) {
    abi::EventRecord record{};
    record.thread_id = 7;
    record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kProducts);
    record.time_ns = now_ + 60 * kMs;
    const auto ms = static_cast<std::uint32_t>(kMs);
    abi::PackProducts(
        {FlopClass::kFp32, i == 20 ? 9'000'000u : 8'000'000u, 2, 30 * ms, 45 * ms, 5 * ms}, record);
    pipeline_.Take(std::vector{record});
    Step();
  }
  const auto closed = Closed();
  ASSERT_EQ(closed.size(), 30u);
  constexpr auto kSingle = static_cast<std::size_t>(FlopClass::kFp32);
  EXPECT_EQ(closed[19].flop[kSingle], 8e6);
  EXPECT_EQ(closed[20].flop[kSingle], 9e6);
  EXPECT_EQ(closed[21].flop[kSingle], 8e6);
  // 15 ms before the first product, 10 within the stretch, 5 behind it.
  ASSERT_TRUE(closed[20].void_time.known);
  EXPECT_NEAR(static_cast<double>(closed[20].void_time.between_ns), 15e6, 1e4);
  EXPECT_NEAR(static_cast<double>(closed[20].void_time.within_ns), 15e6, 1e4);
}

TEST_F(RankPipelineTest, NothingIsVoidWhereNoProductWasSeen) {
  for (int i = 0; i < 30; ++i) Step();
  const auto closed = Closed();
  EXPECT_FALSE(closed[20].void_time.known);
  EXPECT_EQ(closed[20].flop, FlopByClass{});
}

// Their products are no calls of the library: what a step takes is not known.
TEST_F(RankPipelineTest, GraphsLeaveOperationsOpen) {
  for (int i = 0; i < 30; ++i) {
    abi::EventRecord record{};
    record.thread_id = 7;
    record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kProducts);
    record.flags = abi::kFlagDevice;
    record.time_ns = now_;
    abi::PackProducts({FlopClass::kFp16, 8'000'000}, record);
    pipeline_.Take(std::vector{record});
    record = {};
    record.thread_id = 7;
    record.time_ns = now_;
    record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kDeviceCalls);
    abi::PackDeviceCalls({.graphs = static_cast<std::uint16_t>(i == 20 ? 1 : 0)}, record);
    pipeline_.Take(std::vector{record});
    Step();
  }
  const auto closed = Closed();
  constexpr auto kHalf = static_cast<std::size_t>(FlopClass::kFp16);
  EXPECT_EQ(closed[19].flop[kHalf], 8e6);
  EXPECT_EQ(closed[20].flop[kHalf], 0);
  EXPECT_EQ(closed[21].flop[kHalf], 8e6);
}

// A job of very many ops: the oldest rows go before their iteration is summed up.
TEST(IterationSummaryTest, RowsThatAreGoneAreLeftOut) {
  OpLog log({.max_rows = 2});
  for (int i = 0; i < 5; ++i) log.Add(OpRow());
  const IterationSpan span{.first_row = 0, .anchor_row = 1, .begin_ns = 0, .end_ns = kMs};
  const IterationSummary all_gone = Summarise(log, ProductLog(), ThreadClock(), HeldBack(), span);
  EXPECT_EQ(all_gone.ops, 0u);
  EXPECT_EQ(all_gone.device_wait_ns, 0);
  const IterationSpan later{.first_row = 1, .anchor_row = 4, .begin_ns = 0, .end_ns = kMs};
  EXPECT_EQ(Summarise(log, ProductLog(), ThreadClock(), HeldBack(), later).ops, 2u);
}

// The op that ends an iteration is over before whoever waits for it has woken up.
TEST(IterationSummaryTest, AWaitForTheLastOpThatIsNotOverYetBlocksToTheEnd) {
  OpLog log({});
  OpRow early, last;
  early.wait_start_ns = kMs;  // its end was lost
  last.enter_ns = last.wait_start_ns = 6 * kMs;
  last.end_ns = 10 * kMs;
  log.Add(early);
  log.Add(last);
  const IterationSpan span{.first_row = 0, .anchor_row = 1, .begin_ns = 0, .end_ns = 10 * kMs};
  EXPECT_EQ(Summarise(log, ProductLog(), ThreadClock(), HeldBack(), span).blocked_ns, 4 * kMs);
  log.At(1).wait_end_ns = 11 * kMs;
  EXPECT_EQ(Summarise(log, ProductLog(), ThreadClock(), HeldBack(), span).blocked_ns, 4 * kMs);
}

// What its CPU limit holds a rank back for is its own doing, also where its thread waits for an op.
TEST(IterationSummaryTest, WhoIsHeldBackWithinAnOpWasNotWaitingForOthers) {
  OpLog log({});
  OpRow op;
  op.group_slot = 0;
  op.enter_ns = op.wait_start_ns = 10 * kMs;
  op.end_ns = op.wait_end_ns = 100 * kMs;
  log.Add(op);
  HeldBack held;
  held.Throttled(0, 0);
  held.Throttled(95 * kMs, 75 * kMs);
  const IterationSpan span{.first_row = 0, .anchor_row = 0, .begin_ns = 0, .end_ns = 100 * kMs};
  IterationSummary summary = Summarise(log, ProductLog(), ThreadClock(), held, span);
  EXPECT_EQ(summary.blocked_ns, 15 * kMs);
  EXPECT_EQ(summary.groups[0].longest_ns, 15 * kMs);
  summary = Summarise(log, ProductLog(), ThreadClock(), HeldBack(), span);
  EXPECT_EQ(summary.blocked_ns, 90 * kMs);
  EXPECT_EQ(summary.groups[0].longest_ns, 90 * kMs);
}

TEST_F(RankPipelineTest, MarksAreClippedToTheirIteration) {
  for (int i = 0; i < 30; ++i) {
    abi::EventRecord mark{};
    mark.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kMark);
    mark.thread_id = 7;
    mark.op_id = ++ids_;
    mark.time_ns = now_ + kMs;
    mark.extra = static_cast<std::uint64_t>(abi::MarkKind::kDataLoaderBegin);
    pipeline_.Take(std::vector{mark});
    mark.time_ns = now_ + 9 * kMs;
    mark.extra = static_cast<std::uint64_t>(abi::MarkKind::kDataLoaderEnd);
    mark.bytes = i == 12 ? 900 : 300;
    pipeline_.Take(std::vector{mark});
    Step();
  }
  const auto closed = Closed();
  EXPECT_EQ(closed[10].dataloader_ns, 8 * kMs);
  EXPECT_EQ(closed[10].batch_elements, 300u);
  EXPECT_EQ(closed[12].batch_elements, 900u);
  EXPECT_EQ(closed[10].gc_ns, 0);
}

TEST_F(RankPipelineTest, NumbersGoOnWhenThePatternChanges) {
  for (int i = 0; i < 30; ++i) Step();
  const std::int64_t before = Closed().back().span.number;
  for (int i = 0; i < 300; ++i) {
    now_ += 50 * kMs;
    Collective(3 << 20, 20 * kMs);
    Collective(5 << 20, 20 * kMs);
    Collective(16, 10 * kMs);
  }
  const auto closed = Closed();
  ASSERT_FALSE(closed.empty());
  EXPECT_EQ(relearned_, 1);
  EXPECT_EQ(closed.front().span.number, before + 1);
  for (std::size_t i = 1; i < closed.size(); ++i) {
    EXPECT_EQ(closed[i].span.number, closed[i - 1].span.number + 1);
  }
}

TEST_F(RankPipelineTest, PeersAreGlobalWhereMembersAreKnown) {
  GroupFacts pair;
  pair.ready = true;
  pair.size = 2;
  pair.members = {6, 9};
  pipeline_.TakeGroups(std::vector{GroupFacts{}, pair}, 16);
  EXPECT_EQ(pipeline_.PeerToGlobal(1, 1), 9u);
  EXPECT_EQ(pipeline_.PeerToGlobal(1, 2), abi::kNoPeer);
  EXPECT_EQ(pipeline_.PeerToGlobal(77, 0), abi::kNoPeer);
  EXPECT_EQ(pipeline_.PeerToGlobal(0, abi::kNoPeer), abi::kNoPeer);
}

TEST_F(RankPipelineTest, APeerInAGroupWithoutMembersIsToldByItsPlace) {
  struct {
    void set_peer(std::uint32_t rank) { peer = rank; }
    void set_place_of_peer(std::uint32_t at) { place = at; }
    std::uint32_t peer = 0, place = 0;
  } told;
  GroupFacts pair, split;
  pair.ready = split.ready = true;
  pair.size = split.size = 2;
  pair.members = {6, 9};
  split.name = "nccl-1";
  pipeline_.TakeGroups(std::vector{GroupFacts{}, pair, split}, 16);
  OpRow row;
  row.group_slot = 1;
  row.peer = 1;
  pipeline_.TellPeer(row, told);
  EXPECT_EQ(std::pair(told.peer, told.place), std::pair(9u, 0u));
  row.group_slot = 2;
  pipeline_.TellPeer(row, told);
  EXPECT_EQ(std::pair(told.peer, told.place), std::pair(abi::kNoPeer, 2u));
  told.place = 0;
  row.peer = abi::kNoPeer;
  pipeline_.TellPeer(row, told);
  EXPECT_EQ(std::pair(told.peer, told.place), std::pair(abi::kNoPeer, 0u));
}

TEST_F(RankPipelineTest, AJobThatEndsEarlyIsClosedByFinish) {
  for (int i = 0; i < 5; ++i) Step();
  EXPECT_TRUE(Closed().empty());  // fewer than ten repeats: no period, no summary
  pipeline_.Finish();
  EXPECT_TRUE(pipeline_.TakeClosed().summaries.empty());
}

// A thread that beats on a communicator of its own every 30 ms.
class HeartbeatTest : public RankPipelineTest {
 protected:
  HeartbeatTest() {
    pipeline_.TakeGroups(std::vector{GroupOf("0", {0, 1}), GroupOf("1", {0, 1})}, 2);
    pipeline_.SetMainThread(7);
  }
  void Beat(std::int64_t at) {
    const FakeOp op{.op_id = ++ids_,
                    .group = 1,
                    .sequence = beats_++,
                    .bytes = 8,
                    .enter_ns = at,
                    .end_ns = at + kMs,
                    .thread = 9};
    pipeline_.Take(RecordsOf(op));
  }
  void BeatingStep(int i) {
    const std::int64_t before = now_;
    Step();
    if (i % 3 != 0) Beat(before + 30 * kMs);
  }

  std::uint64_t beats_ = 0;
};

TEST_F(HeartbeatTest, ItIsNoProgressOfTheTraining) {
  for (int i = 0; i < 30; ++i) BeatingStep(i);
  const std::int64_t trained = pipeline_.newest_op_ns();
  for (int i = 0; i < 30; ++i) Beat(now_ + i * 30 * kMs);
  EXPECT_EQ(pipeline_.newest_op_ns(), trained);
  ASSERT_TRUE(pipeline_.newest_training_op().has_value());
  EXPECT_EQ(pipeline_.newest_training_op()->thread_id, 7u);
  EXPECT_EQ(pipeline_.newest_training_op()->group_slot, 0);
}

TEST_F(HeartbeatTest, ItDoesNotDisturbThePattern) {
  for (int i = 0; i < 30; ++i) BeatingStep(i);
  EXPECT_EQ(pipeline_.typical_iteration_ns(), (Closed(), 100 * kMs));
}

TEST_F(HeartbeatTest, WhereItsThreadTrainsItCounts) {
  pipeline_.SetMainThread(9);
  for (int i = 0; i < 30; ++i) BeatingStep(i);
  Beat(now_ + kMs);
  EXPECT_GT(pipeline_.newest_op_ns(), now_) << "that is the main thread, whatever it sends";
}

// A process on its own on a GPU: a step of its optimizer each 100 ms, before it a wait for the GPU.
class AloneTest : public testing::Test {
 protected:
  AloneTest() : pipeline_(PipelineSettings{}) {
    pipeline_.TakeGroups(std::vector{GroupOf("optimizer", {0})}, 1);
  }

  void Take(abi::RecordKind kind, std::int64_t time, std::uint64_t extra) {
    abi::EventRecord record{};
    record.record_kind = static_cast<std::uint8_t>(kind);
    record.group_slot = abi::kNoGroupSlot;
    record.thread_id = 7;
    record.time_ns = time;
    record.extra = extra;
    pipeline_.Take(std::vector{record});
  }
  void Step(std::int64_t wait) {
    now_ += 100 * kMs;
    const auto device = static_cast<std::uint64_t>(abi::SyncKind::kDevice);
    Take(abi::RecordKind::kSyncStart, now_ - wait - kMs, device);
    Take(abi::RecordKind::kSyncEnd, now_ - kMs, device);
    abi::EventRecord step{};
    step.collective_kind = static_cast<std::uint8_t>(CollectiveKind::kStep);
    step.op_id = ++ids_;
    step.sequence = sequence_++;
    step.bytes = 1 << 20;
    step.time_ns = now_;
    step.thread_id = 7;
    for (const auto kind : {abi::RecordKind::kOpEnter, abi::RecordKind::kOpReturn}) {
      step.record_kind = static_cast<std::uint8_t>(kind);
      pipeline_.Take(std::vector{step});
    }
  }

  RankPipeline pipeline_;
  std::int64_t now_ = 1000 * kMs;
  std::uint64_t ids_ = 0;
  std::uint64_t sequence_ = 0;
};

TEST_F(AloneTest, StepsOfTheOptimizerAreIterations) {
  for (int i = 0; i < 30; ++i) Step(40 * kMs);
  pipeline_.Close();
  const ClosedIterations run = pipeline_.TakeClosed();
  ASSERT_EQ(run.summaries.size(), 30u);
  const IterationSummary& tenth = run.summaries[10];
  EXPECT_EQ(tenth.span.end_ns - tenth.span.begin_ns, 100 * kMs);
  EXPECT_EQ(tenth.device_wait_ns, 40 * kMs);
  EXPECT_FALSE(tenth.issued.known());
  EXPECT_EQ(pipeline_.sources_seen(), abi::kSourcePython | abi::kSourceCuda);
}

TEST_F(AloneTest, BatchesAreProgressAndCollectionsOfGarbageAreNot) {
  Step(0);
  const auto mark = [&](abi::MarkKind kind) {
    now_ += 100 * kMs;
    Take(abi::RecordKind::kMark, now_, static_cast<std::uint64_t>(kind));
    return pipeline_.newest_op_ns() == now_;
  };
  EXPECT_TRUE(mark(abi::MarkKind::kDataLoaderBegin));
  EXPECT_TRUE(mark(abi::MarkKind::kDataLoaderEnd));
  EXPECT_FALSE(mark(abi::MarkKind::kGcBegin));
}

}  // namespace
}  // namespace fathom::agent
