// A whole job as a trace: its verdicts, clocks, flows and limit, in memory and in a file.
#include "collector/export/perfetto/job_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/collector/export/perfetto/trace_read.h"

namespace fathom::collector {
namespace {

using diagnosis::JobView;
using perfetto::ReadTrace;
using perfetto::SliceRead;
using perfetto::TraceRead;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t kIterationNs = 1'000'000;
constexpr std::int64_t kAhead = 700'000'000;  // the clock of the second node

// Two ranks on two nodes, an all-reduce at the end of each iteration: the ends are one moment.
JobView TwoNodes(std::int64_t iterations) {
  JobView view;
  view.world_size = 2;
  view.groups.push_back({GroupId(7), "0", "default_pg", 2, {RankId(0), RankId(1)}, false});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto& facts = view.ranks.emplace_back();
    facts.rank = RankId(rank);
    facts.node = rank == 0 ? "a" : "b";
  }
  for (std::int64_t i = 0; i < iterations; ++i) {
    auto& summary = view.window.emplace_back();
    summary.index = Iteration(i);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::int64_t begin = (i + 1) * kIterationNs + (rank == 0 ? 0 : kAhead);
      auto& row = summary.ranks.emplace_back();
      row.rank = RankId(rank);
      row.begin = MonoNs(begin);
      row.duration = Nanos(kIterationNs);
      auto& op = view.rows[RankId(rank)].ops.emplace_back();
      op.group = GroupId(7);
      op.sequence = Sequence(static_cast<std::uint64_t>(i));
      op.kind = CollectiveKind::kAllReduce;
      op.iteration = Iteration(i);
      op.enter = MonoNs(begin + (rank == 0 ? 100'000 : 600'000));
      op.end = MonoNs(begin + 900'000);
    }
  }
  return view;
}

TraceRead TraceOf(const TraceInput& input) {
  const auto bytes = PerfettoBytes(input);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  TraceRead read = ReadTrace(bytes.value_or(""));
  EXPECT_THAT(read.wrong, IsEmpty());
  return read;
}

Episode Sentence(const std::string& sentence, std::int64_t since) {
  Episode episode;
  episode.verdict.sentence = sentence;
  episode.verdict.grade = diagnosis::Grade::kSupported;
  episode.verdict.cause = diagnosis::Cause::kGc;
  episode.verdict.since_iteration = Iteration(since);
  return episode;
}

TEST(JobTraceTest, AJobOfNoRankIsATraceWithoutTracks) {
  const TraceRead read = TraceOf({JobView(), {}});
  EXPECT_THAT(read.tracks, IsEmpty());
  EXPECT_THAT(read.slices, IsEmpty());
}

TEST(JobTraceTest, RanksOfTwoNodesAreDrawnOnOneClockAndTheirCollectivesJoined) {
  const JobView view = TwoNodes(5);
  const TraceRead read = TraceOf({view, {}});
  const auto ops = read.On("communicator default_pg");
  ASSERT_EQ(ops.size(), 10u);
  std::set<std::uint64_t> flows;
  for (std::size_t i = 0; i < 5; ++i) {
    const SliceRead &early = ops[i], &late = ops[5 + i];
    EXPECT_EQ(early.end, late.end) << "members leave together";
    EXPECT_EQ(late.begin - early.begin, 500'000);
    ASSERT_EQ(early.flows.size(), 1u);
    EXPECT_EQ(late.ended_flows, early.flows) << "the last to come ends it";
    flows.insert(early.flows[0]);
  }
  EXPECT_EQ(flows.size(), 5u);
}

TEST(JobTraceTest, ClocksThatAreGivenAreTakenInsteadOfThoseThatRowsTell) {
  const JobView view = TwoNodes(5);
  const diagnosis::ClockAlignment none;
  const auto ops = TraceOf({view, {}, nullptr, &none}).On("communicator default_pg");
  ASSERT_EQ(ops.size(), 10u);
  EXPECT_EQ(ops[5].end - ops[0].end, kAhead);
}

TEST(JobTraceTest, AVerdictLastsFromItsOnsetToItsEnd) {
  const JobView view = TwoNodes(8);
  std::vector<Episode> verdicts = {Sentence("goes on", 5), Sentence("is over", 2),
                                   Sentence("was replaced", 1)};
  verdicts[0].verdict.evidence = {{"first", 1, "", 0, ""}, {"second", 2, "", 0, ""}};
  verdicts[1].closed = WallNs(9);
  verdicts[1].until_iteration = Iteration(3);
  verdicts[2].superseded = true;
  const auto drawn = TraceOf({view, verdicts}).On("fathom's verdicts");
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].name, "is over");
  EXPECT_EQ(drawn[0].begin, 3 * kIterationNs);
  EXPECT_EQ(drawn[0].end, 5 * kIterationNs) << "iterations 2 and 3";
  EXPECT_EQ(drawn[1].name, "goes on");
  EXPECT_EQ(drawn[1].begin, 6 * kIterationNs);
  EXPECT_EQ(drawn[1].end, 9 * kIterationNs) << "to the last iteration";
  EXPECT_THAT(drawn[1].notes, ElementsAre(Pair("grade", "supported"), Pair("cause", "gc"),
                                          Pair("evidence", "first"), Pair("evidence", "second")));
}

TEST(JobTraceTest, AVerdictOfWhichNoIterationIsKnownStandsAtTheTimeOfTheWall) {
  JobView view;
  view.now = WallNs(5'000);
  std::vector<Episode> verdicts = {Sentence("stuck at once", 0)};
  verdicts[0].verdict.since_time = WallNs(7'000);
  auto drawn = TraceOf({view, verdicts}).On("fathom's verdicts");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].begin, 7'000);
  view.now = WallNs();
  verdicts[0].verdict.since_time = WallNs();
  drawn = TraceOf({view, verdicts}).On("fathom's verdicts");
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_GT(drawn[0].begin, 0) << "a time of 0 is none";
}

TEST(JobTraceTest, TheLimitIsKeptAndWhatIsLeftOutIsCounted) {
  const JobView view = TwoNodes(50);  // of each rank 50 iterations and 50 ops
  const std::string path = testing::TempDir() + "limited.pftrace";
  for (const std::uint64_t most : {0u, 1u, 2u, 99u, 199u, 200u, 5'000u}) {
    const auto written = WritePerfetto({view, {}, nullptr, nullptr, most}, path);
    ASSERT_TRUE(written.ok()) << written.status();
    EXPECT_LE(written->slices, most);
    EXPECT_EQ(written->slices + written->left_out, 200u) << "at most " << most;
    EXPECT_EQ(written->ranks_cut, most < 200 ? 2u : 0u) << "at most " << most;
  }
}

TEST(JobTraceTest, TheFileHoldsWhatMemoryHoldsEachTime) {
  const JobView view = TwoNodes(20);
  const std::vector<Episode> verdicts = {Sentence("\"<\n\xC3\xA9", 3)};
  const std::string path = testing::TempDir() + "job.pftrace";
  std::ofstream(path) << "something longer than nothing that was there before";
  const auto written = WritePerfetto({view, verdicts}, path);
  ASSERT_TRUE(written.ok()) << written.status();
  std::ifstream in(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = PerfettoBytes({view, verdicts});
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(file, *bytes);
  const TraceRead read = ReadTrace(file);
  EXPECT_EQ(read.slices.size(), written->slices);
  EXPECT_EQ(read.On("fathom's verdicts").at(0).name, "\"<\n\xC3\xA9");
}

TEST(JobTraceTest, AFileThatCannotBeWrittenIsSaid) {
  const JobView view = TwoNodes(1);
  for (const char* path : {"/proc/no/trace", "/dev/full"}) {
    const auto written = WritePerfetto({view, {}}, path);
    EXPECT_TRUE(absl::IsUnavailable(written.status())) << path;
    EXPECT_THAT(std::string(written.status().message()), HasSubstr(path));
  }
}

}  // namespace
}  // namespace fathom::collector
