// What is drawn of one rank: its iterations, ops, threads, Python and streams.
#include "collector/export/perfetto/rank_tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/collector/export/perfetto/trace_read.h"

namespace fathom::collector::perfetto {
namespace {

using diagnosis::CommOp;
using diagnosis::DeviceTimeline;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr std::int32_t kNextThread = 1000;

// A rank 4 that trains in thread 71, and what a test adds to it.
struct OneRank {
  OneRank() {
    view.groups.push_back({GroupId(0xab), "7", "mesh_dp", 2, {}, false});
    view.groups.push_back({GroupId(0xcd), "name only", "", 2, {}, false});
    auto& facts = view.ranks.emplace_back();
    facts.rank = RankId(4);
    facts.node = "n1";
  }

  CommOp& Op(std::int64_t enter, std::int64_t end) {
    CommOp& op = view.rows[RankId(4)].ops.emplace_back();
    op.group = GroupId(0xab);
    op.kind = CollectiveKind::kAllReduce;
    op.thread = 71;
    op.enter = MonoNs(enter);
    op.end = MonoNs(end);
    return op;
  }

  void Iterate(std::int64_t index, std::int64_t begin, std::int64_t duration) {
    auto& summary = view.window.emplace_back();
    summary.index = Iteration(index);
    auto& row = summary.ranks.emplace_back();
    row.rank = RankId(4);
    row.begin = MonoNs(begin);
    row.duration = Nanos(duration);
  }

  TraceRead Draw(std::uint64_t most = 1000) {
    const diagnosis::DeviceTimelines timelines{{RankId(4), windows}};
    const auto parts = PartsOf(view, windows.empty() ? nullptr : &timelines, nullptr, most);
    char* bytes = nullptr;
    std::size_t size = 0;
    const auto writer = TraceWriter::Into(open_memstream(&bytes, &size), "memory");
    std::int32_t next_thread = kNextThread;
    EXPECT_EQ(WriteRank(view, parts, 0, Flows(parts), next_thread, *writer), 0u);
    EXPECT_TRUE(writer->Close().ok());
    TraceRead read = ReadTrace(std::string(bytes, size));
    std::free(bytes);
    EXPECT_THAT(read.wrong, IsEmpty());
    return read;
  }

  diagnosis::JobView view;
  std::vector<DeviceTimeline> windows;
};

std::string NoteOf(const SliceRead& slice, std::string_view name) {
  for (const auto& [key, value] : slice.notes) {
    if (key == name) return value;
  }
  return "none";
}

TEST(RankTracksTest, ARankOfWhichNothingIsKnownIsAProcessWithoutSlices) {
  const TraceRead read = OneRank().Draw();
  EXPECT_THAT(read.Named("rank 4 on n1"), Not(IsEmpty()));
  EXPECT_THAT(read.slices, IsEmpty());
  OneRank nowhere;
  nowhere.view.ranks[0].node = "";
  EXPECT_THAT(nowhere.Draw().Named("rank 4"), Not(IsEmpty()));
}

TEST(RankTracksTest, IterationsStandWhereTheyBeganAndThoseWithoutABeginAreLeftOut) {
  OneRank rank;
  rank.Iterate(8, 100, 50);
  rank.Iterate(9, 0, 50);
  rank.Iterate(10, 200, 0);
  const auto drawn = rank.Draw().On("iterations");
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].name, "iteration 8");
  EXPECT_EQ(drawn[0].begin, 100);
  EXPECT_EQ(drawn[0].end, 150);
  EXPECT_EQ(drawn[1].name, "iteration 10");
  EXPECT_EQ(drawn[1].end, 200);
}

TEST(RankTracksTest, AnOpIsOnItsCommunicatorWithWhatItWas) {
  OneRank rank;
  CommOp& op = rank.Op(100, 130);
  op.bytes = 4096;
  op.sequence = Sequence(0);
  op.iteration = Iteration(3);
  CommOp& send = rank.Op(140, 150);
  send.kind = CollectiveKind::kSend;
  send.group = GroupId(0xcd);
  send.peer = RankId(5);
  send.failed = true;
  CommOp& stranger = rank.Op(160, 170);
  stranger.group = GroupId(0xef01);
  const TraceRead read = rank.Draw();
  const auto reduce = read.On("communicator mesh_dp");
  ASSERT_EQ(reduce.size(), 1u);
  EXPECT_EQ(reduce[0].name, "all_reduce");
  EXPECT_EQ(reduce[0].category, "communication");
  EXPECT_EQ(reduce[0].begin, 100);
  EXPECT_EQ(reduce[0].end, 130);
  EXPECT_THAT(reduce[0].notes,
              ElementsAre(Pair("bytes", "4096"), Pair("sequence", "0"), Pair("iteration", "3")));
  const auto sent = read.On("communicator name only");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_THAT(sent[0].notes,
              ElementsAre(Pair("bytes", "0"), Pair("peer", "5"), Pair("state", "failed")));
  EXPECT_EQ(read.On("communicator ef01").size(), 1u) << "a communicator without a name";
}

TEST(RankTracksTest, AnOpInFlightLastsToTheRanksLastMoment) {
  OneRank rank;
  rank.Op(100, 0);
  rank.Op(120, 400);
  auto drawn = rank.Draw().On("communicator mesh_dp");
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].end, 400);
  EXPECT_EQ(NoteOf(drawn[0], "state"), "in flight");
  EXPECT_EQ(NoteOf(drawn[1], "state"), "none");
  OneRank alone;
  alone.Op(100, 0);
  drawn = alone.Draw().On("communicator mesh_dp");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].end, 100) << "nothing later is known";
}

TEST(RankTracksTest, AnOpOfADeviceBeginsWhereItsKernelDoesAndNotWhereItWasLaunched) {
  OneRank rank;
  CommOp& op = rank.Op(100, 400);
  op.on_device = true;
  op.exec_start = MonoNs(300);
  const auto drawn = rank.Draw().On("communicator mesh_dp");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].begin, 300);
}

TEST(RankTracksTest, TheCallingThreadHasTheCallAndTheWait) {
  OneRank rank;
  CommOp& op = rank.Op(100, 180);
  op.api_return = MonoNs(110);
  op.wait_start = MonoNs(120);
  op.wait_end = MonoNs(185);
  CommOp& never_waited = rank.Op(200, 210);
  never_waited.api_return = MonoNs(205);
  CommOp& not_back = rank.Op(300, 0);
  not_back.wait_start = MonoNs(310);
  const TraceRead read = rank.Draw();
  const auto drawn = read.On("training thread 71");
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0].name, "call all_reduce");
  EXPECT_EQ(drawn[0].end, 110);
  EXPECT_EQ(drawn[1].name, "wait for all_reduce");
  EXPECT_EQ(drawn[1].begin, 120);
  EXPECT_EQ(drawn[1].end, 185);
  EXPECT_EQ(drawn[2].begin, 200);
  const TrackRead& thread = read.tracks.at(read.Named("training thread 71").at(0));
  EXPECT_EQ(thread.thread, thread.process) << "the main thread of its process";
}

TEST(RankTracksTest, OfTwoThreadsNoneIsSaidToTrainAndTheirNumbersAreUnlikeAnyOther) {
  OneRank rank;
  rank.Op(100, 180).api_return = MonoNs(110);
  rank.Op(300, 310).api_return = MonoNs(305);
  rank.view.rows[RankId(4)].ops[1].thread = 72;
  const TraceRead read = rank.Draw();
  ASSERT_THAT(read.Named("thread 71"), Not(IsEmpty()));
  ASSERT_THAT(read.Named("thread 72"), Not(IsEmpty()));
  EXPECT_EQ(read.tracks.at(read.Named("thread 71")[0]).thread, kNextThread);
  EXPECT_EQ(read.tracks.at(read.Named("thread 72")[0]).thread, kNextThread + 1);
}

TEST(RankTracksTest, PythonShowsMarksAndLongFunctions) {
  OneRank rank;
  rank.Iterate(1, 100, 900);
  auto& rows = rank.view.rows[RankId(4)];
  rows.marks.push_back({diagnosis::MarkKind::kGc, MonoNs(200), MonoNs(250), 71, Iteration(1)});
  rows.marks.push_back({diagnosis::MarkKind::kDataLoader, MonoNs(300), MonoNs(0), 71, {}});
  rows.functions.push_back({"a.py(3): f", MonoNs(210), MonoNs(220), 71, Iteration(1)});
  rows.functions.push_back({"runs back", MonoNs(230), MonoNs(220), 71, Iteration(1)});
  const auto drawn = rank.Draw().On("Python");
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[0].name, "garbage collection");
  EXPECT_EQ(drawn[0].end, 250);
  EXPECT_EQ(drawn[1].name, "a.py(3): f");
  EXPECT_EQ(drawn[1].track_id, drawn[0].track_id) << "it is inside";
  EXPECT_EQ(drawn[2].name, "data loading");
  EXPECT_EQ(drawn[2].end, 1000) << "still open: to the last moment known";
}

TEST(RankTracksTest, StreamsHaveTheirWorkByNameAndSayWhetherTheyCommunicate) {
  using diagnosis::WorkKind;
  OneRank rank;
  DeviceTimeline& window = rank.windows.emplace_back();
  window.base = 1000;
  window.thread = 71;
  window.work.streams = {7, 20};
  window.work.names = {"gemm", "ncclKernel_AllReduce", "Memcpy HtoD", "aten::mm"};
  const auto add = [&window](std::int64_t begin, std::uint32_t name, std::uint16_t stream,
                             WorkKind kind) {
    auto& work = window.work.device.emplace_back();
    work.begin = begin;
    work.end = begin + 10;
    work.name = name;
    work.stream = stream;
    work.kind = kind;
  };
  add(0, 0, 0, WorkKind::kCompute);
  add(20, 2, 0, WorkKind::kCopy);
  add(40, 1, 1, WorkKind::kCommunication);
  add(60, 1, 0, WorkKind::kCommunication);
  window.work.host_ops.push_back({5, 50, 3});
  const TraceRead read = rank.Draw();
  const auto stream = read.On("stream 7");
  ASSERT_EQ(stream.size(), 3u);
  EXPECT_EQ(stream[0].name, "gemm");
  EXPECT_EQ(stream[0].category, "kernel");
  EXPECT_EQ(stream[0].begin, 1000);
  EXPECT_EQ(stream[0].end, 1010);
  EXPECT_EQ(stream[1].category, "copy");
  EXPECT_EQ(stream[2].category, "communication");
  const auto nccl = read.On("stream 20, communication");
  ASSERT_EQ(nccl.size(), 1u);
  EXPECT_EQ(nccl[0].name, "ncclKernel_AllReduce");
  const auto host = read.On("training thread 71");
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(host[0].name, "aten::mm");
  EXPECT_EQ(host[0].begin, 1005);
  EXPECT_EQ(host[0].end, 1050);
}

TEST(RankTracksTest, WhatIsPastTheShareOfARankIsToldOnItsProcess) {
  OneRank rank;
  for (std::int64_t i = 1; i <= 5; ++i) rank.Op(100 * i, 100 * i + 10);
  const TraceRead read = rank.Draw(3);
  EXPECT_EQ(read.slices.size(), 3u);
  ASSERT_EQ(read.instants.size(), 1u);
  EXPECT_EQ(read.instants[0].track, "rank 4 on n1");
  EXPECT_EQ(read.instants[0].begin, 400);
  EXPECT_EQ(read.instants[0].name.substr(0, 17), "2 slices left out");
  EXPECT_THAT(rank.Draw(5).instants, IsEmpty());
}

}  // namespace
}  // namespace fathom::collector::perfetto
