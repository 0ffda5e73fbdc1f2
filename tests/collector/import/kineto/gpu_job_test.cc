// Jobs on GPUs through the importer, Watch and Diagnose: who is named, and for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "collector/import/episode.h"
#include "collector/import/passed_stretch.h"
#include "collector/import/recognise.h"
#include "collector/import/short_recording.h"
#include "diagnosis/tables/job_tables.h"
#include "tests/collector/import/judged_recording.h"
#include "tests/collector/import/kineto/gpu_job.h"

namespace fathom::collector::kineto {
namespace {

using diagnosis::Cause;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Recording Import(const std::vector<std::string>& texts, const ImportLimits& limits = {}) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "gpu_job";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::ofstream(folder / ("rank" + std::to_string(i) + ".json"), std::ios::binary) << texts[i];
  }
  auto recording = ReadRecording({folder.string()}, "auto", limits);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return recording.ok() ? *std::move(recording) : Recording{};
}

class GpuJobs : public ::testing::TestWithParam<TraceStyle> {
 protected:
  static GpuJob Job(GpuFault fault) {
    GpuJob job;
    job.fault = fault;
    job.style = GetParam();
    return job;
  }

  static void ExpectCulprit(const GpuJob& job, Cause cause) {
    Recording recording = Import(TracesOf(job));
    const auto diagnosis = Judge(recording);
    ASSERT_EQ(diagnosis.verdicts.size(), 1) << AllOf(recording, diagnosis);
    EXPECT_EQ(diagnosis.verdicts[0].cause, cause) << AllOf(recording, diagnosis);
    EXPECT_THAT(diagnosis.verdicts[0].entity.ranks, ElementsAre(RankId(2)))
        << AllOf(recording, diagnosis);
    EXPECT_EQ(diagnosis.verdicts[0].since_iteration, Iteration(6));
  }
};

TEST_P(GpuJobs, HealthyAccusesNobody) {
  Recording recording = Import(TracesOf(Job(GpuFault::kNone)));
  const auto diagnosis = Judge(recording);
  EXPECT_THAT(diagnosis.verdicts, IsEmpty()) << AllOf(recording, diagnosis);
  EXPECT_EQ(diagnosis.iterations, 14);
}

TEST_P(GpuJobs, SlowKernelsAreComputeSlow) {
  ExpectCulprit(Job(GpuFault::kSlowGpu), Cause::kComputeSlow);
}

// Its steps are marked on the host long before the device runs them.
TEST_P(GpuJobs, HostMayRunFarAhead) {
  GpuJob job = Job(GpuFault::kSlowGpu);
  job.host_waits = false;
  ExpectCulprit(job, Cause::kComputeSlow);
}

Recording Passed(GpuJob job, int until, diagnosis::Diagnosis& judged) {
  job.steps = 22;
  job.from_step = 8;
  job.until_step = until;
  Recording recording = Import(TracesOf(job));
  const auto config = ConfigForRecording({}, 22, 4);
  EXPECT_EQ(FindEpisode(recording.view, config).onset, Iteration(-1));
  JudgePassedStretch(recording.view, config, judged);
  EXPECT_EQ(recording.view.window.size(), 22) << "the view is as before";
  return recording;
}

TEST_P(GpuJobs, WhatIsOverIsALeadWithItsEnd) {
  diagnosis::Diagnosis judged;
  const Recording recording = Passed(Job(GpuFault::kSlowGpu), 14, judged);
  ASSERT_EQ(judged.verdicts.size(), 1) << AllOf(recording, judged);
  const diagnosis::Verdict& lead = judged.verdicts[0];
  EXPECT_EQ(lead.grade, diagnosis::Grade::kHypothesis) << "never a conviction";
  EXPECT_EQ(lead.cause, Cause::kComputeSlow);
  EXPECT_THAT(lead.entity.ranks, ElementsAre(RankId(2)));
  EXPECT_THAT(lead.sentence, HasSubstr("Iterations 8 to 13 took longer"));
  EXPECT_EQ(lead.since_iteration, Iteration(8));
  ASSERT_EQ(judged.irregular.size(), 6);
  for (const auto& one : judged.irregular) EXPECT_EQ(one.kind, kPassed);
}

TEST_P(GpuJobs, OfWhatIsOverNobodyIsNamedWithoutEvidence) {
  diagnosis::Diagnosis silent, alike;
  Passed(Job(GpuFault::kNone), 14, silent);
  EXPECT_THAT(silent.verdicts, IsEmpty());
  EXPECT_THAT(silent.abstained, IsEmpty());
  // All wait alike: nobody is slower than another.
  const Recording recording = Passed(Job(GpuFault::kSlowCommunication), 14, alike);
  for (const auto& verdict : alike.verdicts) {
    EXPECT_NE(verdict.entity.type, diagnosis::EntityType::kRank) << AllOf(recording, alike);
    EXPECT_FALSE(diagnosis::Convicts(verdict));
  }
}

// The ops of the culprit are not recorded: nobody else is taken for it.
TEST_P(GpuJobs, OfWhatIsOverTheMissingRankIsAskedFor) {
  GpuJob job = Job(GpuFault::kSlowGpu);
  job.steps = 22;
  job.from_step = 8;
  job.until_step = 14;
  std::vector<std::string> texts = TracesOf(job);
  texts.erase(texts.begin() + job.faulty_rank);
  Recording recording = Import(texts);
  diagnosis::Diagnosis judged;
  JudgePassedStretch(recording.view, ConfigForRecording({}, 22, 4), judged);
  EXPECT_THAT(judged.verdicts, IsEmpty()) << AllOf(recording, judged);
  ASSERT_EQ(judged.abstained.size(), 1);
  EXPECT_EQ(judged.abstained[0].question, "who held iterations 8 to 13 back");
}

TEST_P(GpuJobs, LateLaunchesAreHostSlow) {
  ExpectCulprit(Job(GpuFault::kSlowHost), Cause::kHostSlow);
}

TEST_P(GpuJobs, WaitForABatchIsTheDataLoader) {
  ExpectCulprit(Job(GpuFault::kDataLoader), Cause::kDataLoader);
}

TEST_P(GpuJobs, CollectionIsGc) { ExpectCulprit(Job(GpuFault::kCollector), Cause::kGc); }

TEST_P(GpuJobs, SlowTransfersAccuseNoRank) {
  Recording recording = Import(TracesOf(Job(GpuFault::kSlowCommunication)));
  const auto diagnosis = Judge(recording);
  ASSERT_EQ(diagnosis.verdicts.size(), 1) << AllOf(recording, diagnosis);
  EXPECT_EQ(diagnosis.verdicts[0].cause, Cause::kCommunicationSlow);
  EXPECT_EQ(diagnosis.verdicts[0].entity.type, diagnosis::EntityType::kGroup);
}

TEST_P(GpuJobs, MissingRankIsNotedAndTheRestJudged) {
  auto texts = TracesOf(Job(GpuFault::kSlowGpu));
  texts.pop_back();
  Recording recording = Import(texts);
  const auto diagnosis = Judge(recording);
  EXPECT_THAT(recording.ranks_missing, ElementsAre(RankId(3)));
  for (const auto& verdict : diagnosis.verdicts) {
    EXPECT_THAT(verdict.entity.ranks, ElementsAre(RankId(2))) << AllOf(recording, diagnosis);
  }
}

// The profiler of an innocent rank was stopped when the fault began.
TEST_P(GpuJobs, CutTraceSpoilsNoLaterIteration) {
  auto texts = TracesOf(Job(GpuFault::kSlowGpu));
  texts[3].resize(texts[3].find("ProfilerStep#7"));
  Recording recording = Import(texts);
  const auto diagnosis = Judge(recording);
  ASSERT_EQ(diagnosis.verdicts.size(), 1) << AllOf(recording, diagnosis);
  EXPECT_THAT(diagnosis.verdicts[0].entity.ranks, ElementsAre(RankId(2)));
  const auto& signals = recording.view.signals;
  const auto told = std::find_if(signals.begin(), signals.end(),
                                 [](const auto& signal) { return signal.name == "recording"; });
  ASSERT_NE(told, signals.end());
  EXPECT_EQ(told->hides, "what rank 3 did after iteration 6: its recording ends there");
}

// Of the guilty rank nothing is known since the fault began, and nobody else is to blame.
TEST_P(GpuJobs, CutTraceOfTheCulpritAccusesNobody) {
  auto texts = TracesOf(Job(GpuFault::kSlowGpu));
  texts[2].resize(texts[2].find("ProfilerStep#6"));
  Recording recording = Import(texts);
  const auto diagnosis = Judge(recording);
  EXPECT_THAT(diagnosis.verdicts, IsEmpty()) << AllOf(recording, diagnosis);
}

INSTANTIATE_TEST_SUITE_P(Styles, GpuJobs,
                         ::testing::Values(TraceStyle::kNewest, TraceStyle::kNoSequence,
                                           TraceStyle::kOldest, TraceStyle::kLaunchIds,
                                           TraceStyle::kRocm));

// Without groups in the trace one of all ranks is guessed; of a whole job it is known who that is.
TEST(GpuGroups, TheGuessedGroupOfAWholeJobHasItsMembers) {
  GpuJob job;
  job.style = TraceStyle::kOldest;
  auto texts = TracesOf(job);
  Recording whole = Import(texts);
  ASSERT_EQ(whole.view.groups.size(), 1);
  EXPECT_TRUE(whole.view.groups[0].guessed);
  EXPECT_THAT(whole.view.groups[0].members,
              ElementsAre(RankId(0), RankId(1), RankId(2), RankId(3)));
  texts.pop_back();
  EXPECT_THAT(Import(texts).view.groups.at(0).members, IsEmpty()) << "rank 3 is not here";
}

std::size_t EventsIn(const diagnosis::DeviceTimeline& timeline) {
  return timeline.work.device.size() + timeline.work.host_ops.size();
}

// Sums are enough for tables and verdicts.
TEST(GpuTimelines, AreKeptOnlyWhenAskedForAndNoMoreThanThat) {
  const std::vector<std::string> texts = TracesOf(GpuJob{});
  ImportLimits all, few;
  all.timeline_events = 1'000'000;
  few.timeline_events = 200;
  EXPECT_THAT(Import(texts).timelines, IsEmpty());
  const Recording whole = Import(texts, all), part = Import(texts, few);
  ASSERT_EQ(whole.timelines.size(), 4u);
  for (const auto& [rank, timelines] : whole.timelines) {
    ASSERT_EQ(timelines.size(), 1u);
    EXPECT_THAT(timelines[0].work.device, Not(IsEmpty()));
    EXPECT_THAT(timelines[0].work.host_ops, Not(IsEmpty()));
    EXPECT_EQ(timelines[0].left_out, 0u);
    const diagnosis::DeviceTimeline& cut = part.timelines.at(rank).at(0);
    EXPECT_LE(EventsIn(cut), 50u);
    EXPECT_GT(EventsIn(cut), 40u);
    EXPECT_EQ(EventsIn(cut) + cut.left_out, EventsIn(timelines[0]));
  }
}

TEST(GpuTables, SplitTheSpanAndJoinCollectives) {
  GpuJob job;
  job.fault = GpuFault::kSlowGpu;
  Recording recording = Import(TracesOf(job));
  auto tables = diagnosis::TablesOf(recording.view, recording.tables);
  diagnosis::FillGraphTables(recording.view, {}, tables);
  ASSERT_EQ(tables.ranks.size(), 4);
  for (const auto& rank : tables.ranks) {
    const auto& b = rank.breakdown;
    EXPECT_NEAR(b.compute + b.non_compute + b.idle, b.span, 1e-9);
    EXPECT_GT(b.overlap_ratio(), 0.2);
    EXPECT_EQ(rank.launches.size(), 2);
    ASSERT_EQ(rank.copies.size(), 2);
    EXPECT_EQ(rank.copies[1].kind, "Memcpy HtoD");
    EXPECT_EQ(rank.copies[1].bytes, 14 * 600'000);
    EXPECT_NEAR(rank.copies[1].bandwidth(), 600'000 / 50e-6, 1);
  }
  EXPECT_GT(tables.ranks[2].breakdown.compute, 1.2 * tables.ranks[1].breakdown.compute);
  ASSERT_EQ(tables.collectives.size(), 14 * 4);
  for (const auto& row : tables.collectives) {
    EXPECT_EQ(row.bytes, 4 << 20);
    EXPECT_EQ(row.group, "0");
    if (row.iteration >= Iteration(6)) {
      EXPECT_EQ(row.last_rank, RankId(2));
      EXPECT_GT(row.wait, 2.9 * row.late);
    }
  }
}

}  // namespace
}  // namespace fathom::collector::kineto
