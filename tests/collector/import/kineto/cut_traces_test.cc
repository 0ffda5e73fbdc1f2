// Recordings of real jobs, each cut at many places: what is left of a rank equals what the whole
// file tells of the same iterations. Skips where the recordings are absent.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "collector/import/kineto/rank_rows.h"
#include "collector/import/kineto/trace/whole_steps.h"
#include "collector/import/reading/input_file.h"
#include "tests/collector/import/kineto/trace_text.h"

namespace fathom::collector::kineto {
namespace {

constexpr std::size_t kCuts = 24;  // a file; a third of them near its end

std::filesystem::path DataFolder() {
  const char* given = std::getenv("FATHOM_DATA_DIR");
  if (given != nullptr) return std::filesystem::path(given) / "torch_gloo";
  const char* source = std::getenv("FATHOM_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "../shared/data/torch_gloo";
}

// One rank of each recording is enough: all are written alike.
std::vector<std::filesystem::path> Traces() {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(DataFolder(), error)) {
    const auto path = entry.path() / "kineto" / "rank1.json.gz";
    if (std::filesystem::exists(path)) paths.push_back(path);
  }
  return paths;
}

std::vector<std::size_t> Cuts(std::size_t size) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < kCuts * 2 / 3; ++i) cuts.push_back(size * i * 3 / (kCuts * 2));
  for (std::size_t i = 1; i <= kCuts / 3; ++i) cuts.push_back(size - size * i / (kCuts * 10));
  return cuts;
}

// Iterations that were compared.
std::size_t Compare(const RankIterations& cut, const RankIterations& whole,
                    const std::string& where) {
  std::size_t kept = 0;
  for (const auto& [number, iteration] : cut.iterations) {
    const auto other = whole.iterations.find(number);
    if (other == whole.iterations.end()) {
      ADD_FAILURE() << where << ": no iteration " << number;
      continue;
    }
    EXPECT_EQ(iteration.duration, other->second.duration) << where << ", iteration " << number;
    EXPECT_EQ(iteration.blocked, other->second.blocked) << where << ", iteration " << number;
    EXPECT_EQ(iteration.cpu, other->second.cpu) << where << ", iteration " << number;
    ++kept;
  }
  return kept;
}

TEST(CutTraces, WhatIsLeftEqualsTheWhole) {
  const auto paths = Traces();
  if (paths.empty()) GTEST_SKIP() << "no recordings in " << DataFolder();
  std::size_t kept = 0;
  for (const auto& path : paths) {
    const auto text = ReadWhole(path.string(), {});
    ASSERT_TRUE(text.ok()) << text.status();
    const RankIterations whole = ReadRank(Sift(*text));
    ASSERT_FALSE(whole.iterations.empty()) << path;
    for (const std::size_t at : Cuts(text->size())) {
      const RankTrace trace = Sift(text->substr(0, at));
      if (trace.summary.events == 0) continue;
      EXPECT_TRUE(trace.cut) << path << " at byte " << at;
      const std::string where = path.string() + " cut at byte " + std::to_string(at);
      kept += Compare(ReadRank(trace), whole, where);
    }
  }
  EXPECT_GT(kept, 100U) << "some iterations are whole";
}

std::vector<std::string> StepsOnTwoWorkers(int count) {
  std::vector<std::string> calls, runs[2];
  for (int i = 0; i < count; ++i) {
    const double at = 10'000.0 * i;
    calls.push_back(Step(i, at, 10'000));
    calls.push_back(Event("cpu_op", "aten::mm", 1, at + 100, 1900));
    for (int op = 0; op < 2; ++op) {
      const int worker = (i + op) % 2;  // they take turns
      auto events = GlooAllReduce(at + 2000 + 100 * op, at + 8000 + 100 * op, true, 11 + worker);
      calls.push_back(events[0]);
      runs[worker].push_back(events[1]);
    }
  }
  std::vector<std::string> all = runs[0];
  all.insert(all.end(), calls.begin(), calls.end());
  all.insert(all.end(), runs[1].begin(), runs[1].end());
  return all;
}

RankTrace Without(std::size_t last, int steps) {
  auto events = StepsOnTwoWorkers(steps);
  events.resize(events.size() - last);
  const std::string whole = Trace(Header(0, 2), events);
  return Sift(whole.substr(0, whole.find("\"traceName\"") - 4) + ", {\"ph\": \"X\", \"cat");
}

TEST(CutTraces, StepsWithoutARunAreLeftOutAndTheirFollower) {
  // Of the second worker the runs of the last two of six steps are lost.
  const RankTrace trace = Without(2, 6);
  ASSERT_TRUE(trace.cut);
  const RankIterations read = ReadRank(trace);
  EXPECT_EQ(read.iterations.size(), 4);
  EXPECT_FALSE(read.iterations.contains(4));
  EXPECT_EQ(read.steps_in_part, 2);
}

TEST(CutTraces, NothingIsMadeUpWhereAWorkerIsLost) {
  const RankIterations read = ReadRank(Without(6, 6));
  EXPECT_TRUE(read.iterations.empty());
  EXPECT_EQ(read.steps_in_part, 6);
}

TEST(CutTraces, ARunIsOfTheLatestStepThatCalledIt) {
  const RankTrace trace = Without(6, 6);
  const JoinedOps joined = JoinComms(trace, 1);
  for (const JoinedOp& op : joined.ops) {
    if (op.run_begin == kAbsent) continue;
    EXPECT_EQ(StepAt(trace, op.call.begin), StepAt(trace, op.run_begin));
  }
}

TEST(CutTraces, StepsBeyondTheLastEventOfTheirThreadAreLeftOut) {
  // All of the second worker, and the end of the training thread within the last step.
  RankTrace trace = Without(6, 6);
  const std::int64_t end = trace.steps[4].end - 1;
  trace.last_thread = 1;
  trace.last_begin = end;
  const JoinedOps none;
  EXPECT_EQ(StepsInPart(trace, none, 1), (std::set<std::int64_t>{4, 5}));
  trace.cut = false;
  EXPECT_TRUE(StepsInPart(trace, none, 1).empty());
}

}  // namespace
}  // namespace fathom::collector::kineto
