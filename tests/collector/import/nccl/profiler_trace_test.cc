// The example profiler's traces through the importer, Watch and Diagnose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "collector/import/nccl/profiler_trace_importer.h"
#include "tests/collector/import/judged_recording.h"
#include "tests/collector/import/nccl/nccl_job.h"

namespace fathom::collector::nccl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ProfilerClocks : public ::testing::TestWithParam<bool> {
 protected:
  ProfilerClocks() { job_.gpu_clocks = GetParam(); }
  NcclJob job_;
};

TEST_P(ProfilerClocks, HealthyAccusesNobody) {
  Recording recording = ReadJob(ProfilerFiles(job_));
  const auto diagnosis = Judge(recording);
  EXPECT_EQ(recording.source, "nccl-profiler");
  EXPECT_THAT(diagnosis.verdicts, IsEmpty()) << AllOf(recording, diagnosis);
  EXPECT_THAT(recording.view.window, SizeIs(39));
}

TEST_P(ProfilerClocks, ALateRankIsNamedWithoutACause) {
  job_.slow_rank = 3;
  Recording recording = ReadJob(ProfilerFiles(job_));
  const auto diagnosis = Judge(recording);
  ASSERT_THAT(diagnosis.verdicts, SizeIs(1)) << AllOf(recording, diagnosis);
  EXPECT_THAT(diagnosis.verdicts[0].entity.ranks, ElementsAre(RankId(3)));
  EXPECT_EQ(diagnosis.verdicts[0].cause, diagnosis::Cause::kUnknown);
}

INSTANTIATE_TEST_SUITE_P(Clocks, ProfilerClocks, ::testing::Bool());

TEST(ProfilerTrace, TheDevicesClockIsPutOnThatOfTheProcess) {
  const NcclJob job;
  const auto runs = RunsOf(job);
  const Recording recording = ReadJob(ProfilerFiles(job));
  const auto& ops = recording.view.rows.at(RankId(0)).ops;
  ASSERT_EQ(ops.size(), runs[0].size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const double begin = static_cast<double>(ops[i].exec_start.ns - 1'000'000'000) * 1e-3;
    EXPECT_NEAR(begin, runs[0][i].begin_us + 7, 1) << "7 us is how late the plugin hears at best";
    EXPECT_NEAR(ops[i].elapsed().Seconds(), (runs[0][i].end_us - runs[0][i].begin_us) * 1e-6, 2e-6);
  }
}

TEST(ProfilerTrace, WithoutKernelsItAbstainsAndSaysWhatToSet) {
  NcclJob job;
  job.slow_rank = 3;
  auto files = ProfilerFiles(job);
  for (auto& file : files) absl::StrReplaceAll({{"\"KernelCh\"", "\"Other\""}}, &file);
  Recording recording = ReadJob(files);
  EXPECT_THAT(Judge(recording).verdicts, IsEmpty());
  EXPECT_THAT(recording.notes, Contains(HasSubstr("NCCL_PROFILE_EVENT_MASK")));
}

TEST(ProfilerTrace, ACutTraceIsReadAsFarAsItGoes) {
  NcclJob job;
  auto files = ProfilerFiles(job);
  files[2].resize(files[2].size() * 2 / 3);
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("file2: ends early")));
  EXPECT_GT(recording.view.rows.at(RankId(2)).ops.size(), 70u);
}

// As NCCL 2.28 prints them: types without quotes, streams as hexadecimal numbers.
TEST(ProfilerTrace, EventsOfTheApiThatAreNoJsonArePassedOver) {
  auto files = ProfilerFiles(NcclJob{});
  const std::string api =
      "[\n{\"name\": \"AllReduce\", \"cat\": \"COLL_API\", \"ph\": \"b\", \"id\": 0, \"pid\": "
      "4100, "
      "\"tid\": 1, \"ts\": 0.000000, \"args\": {\"count\": 7, \"datatype\": ncclFloat32, "
      "\"root\": 0, \"GraphCaptured\":0, \"Stream\": 0x4142e90}},\n"
      "{\"name\": \"KernelLaunch\", \"cat\": \"KERNEL_LAUNCH\", \"ph\": \"b\", \"id\": 0, \"pid\": "
      "4100, \"tid\": 1, \"ts\": 0.000000, \"args\": {\"groupId\": 0, \"Stream\": 0x262ca50}},\n";
  for (auto& file : files) file.replace(0, 2, api);
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Not(Contains(HasSubstr("make no sense"))));
  EXPECT_THAT(recording.view.window, SizeIs(39));
}

TEST(ProfilerTrace, AKernelThatHadNotEndedIsNotTimed) {
  NcclJob job;
  job.gpu_clocks = false;
  auto files = ProfilerFiles(job);
  const std::size_t kernel = files[0].rfind("\"KernelCh\", \"cat\": \"GPU\", \"ph\": \"e\"");
  const std::size_t time = files[0].find("\"ts\": ", kernel) + 6;
  files[0].replace(time, files[0].find('}', time) - time, "0.000000");
  const Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("have no times of their kernels")));
  EXPECT_EQ(recording.view.rows.at(RankId(0)).ops.size() + 1,
            recording.view.rows.at(RankId(1)).ops.size());
}

TEST(ProfilerTrace, OpsOfAPidThatSeveralRanksShareAreLaidToNone) {
  NcclJob job;
  auto files = ProfilerFiles(job);
  for (auto& file : files) {
    for (int rank = 0; rank < 4; ++rank) {
      absl::StrReplaceAll({{"\"pid\": 410" + std::to_string(rank), "\"pid\": 4100"}}, &file);
    }
  }
  std::string other = files[0];
  absl::StrReplaceAll({{"16587329446019341642", "42"}}, &other);
  files.push_back(other);
  job.ranks = 4;
  Recording recording = ReadJob(files);
  EXPECT_THAT(recording.notes, Contains(HasSubstr("several ranks share their process id")));
  EXPECT_THAT(recording.view.rows, SizeIs(4));
}

TEST(ProfilerTrace, IsKnownByItsContent) {
  const std::string head = ProfilerFiles(NcclJob{})[0].substr(0, 4096);
  EXPECT_TRUE(ProfilerTraceImporter().Recognises("x", head));
  EXPECT_FALSE(ProfilerTraceImporter().Recognises("trace.json", "[{\"ph\": \"X\"}]"));
  EXPECT_FALSE(ProfilerTraceImporter().Recognises("trace.json", "{\"traceEvents\": []}"));
}

}  // namespace
}  // namespace fathom::collector::nccl
