// Jobs with streams: their physics, and the files that they leave.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/simulate/kineto/job_play.h"
#include "collector/simulate/kineto/trace_files.h"
#include "gtest/gtest.h"
#include "tests/collector/simulate/parallel_job.h"

namespace fathom::simulate::kineto {
namespace {

namespace fs = std::filesystem;

Scenario Simple(Sharding sharding) {
  Scenario job;
  job.plan.data = 16;
  job.plan.sharding = sharding;
  job.model.micro_batches = 1;
  job.model.hidden = 4096;
  return job;
}

double SecondsOf(const Scenario& scenario, std::int64_t iterations = 3) {
  JobPlay job(scenario);
  const double begin = job.end_us();
  EXPECT_TRUE(job.Play(40, iterations));
  return (job.end_us() - begin) * 1e-6;
}

double EndOf(const Event& event) {
  return event.what == Event::What::kOp ? event.op->end_us : event.begin_us + event.us;
}

class StreamsTest : public ::testing::TestWithParam<std::tuple<Schedule, Sharding>> {};

TEST_P(StreamsTest, StreamsDoOneThingAtATimeAndOpsEndTogether) {
  const Scenario scenario = JobOf(std::get<0>(GetParam()), std::get<1>(GetParam()));
  ASSERT_TRUE(Finalize(scenario).ok()) << Finalize(scenario);
  JobPlay job(scenario);
  ASSERT_TRUE(job.Play(0, 2)) << "the job came to a standstill";
  std::map<const Op*, std::uint32_t> members;
  for (std::uint32_t rank = 0; rank < job.layout().world(); ++rank) {
    std::map<std::uint32_t, double> streams;
    double host = 0;
    for (const Event& event : job.rank(rank).events()) {
      if (event.what == Event::What::kRuntime) {
        EXPECT_GE(event.begin_us, host - 1e-6);
        host = EndOf(event);
      }
      if (event.correlation == 0 || event.what == Event::What::kRuntime ||
          event.what == Event::What::kStep) {
        continue;
      }
      EXPECT_GE(event.begin_us, streams[event.stream] - 1e-6) << "stream " << event.stream;
      streams[event.stream] = EndOf(event);
      if (event.what != Event::What::kOp) continue;
      ++members[event.op];
      ASSERT_TRUE(event.op->over());
      EXPECT_GE(event.op->end_us, event.begin_us + event.op->transfer_us - 1e-6);
      EXPECT_LE(event.begin_us, event.op->latest_us);
    }
  }
  for (const auto& [op, count] : members) EXPECT_EQ(count, op->size);
}

INSTANTIATE_TEST_SUITE_P(
    All, StreamsTest,
    ::testing::Combine(::testing::Values(Schedule::kOneForwardOneBackward, Schedule::kInterleaved,
                                         Schedule::kZeroBubble),
                       ::testing::Values(Sharding::kNone, Sharding::kZero1, Sharding::kFsdp)));

// Of communication of a rank, the share during which its compute stream computes.
double OverlapOf(const Scenario& scenario) {
  JobPlay job(scenario);
  EXPECT_TRUE(job.Play(0, 2));
  std::vector<std::pair<double, double>> kernels;
  double communication = 0, beside = 0;
  for (const Event& event : job.rank(3).events()) {
    if (event.what == Event::What::kKernel) kernels.emplace_back(event.begin_us, EndOf(event));
  }
  for (const Event& event : job.rank(3).events()) {
    if (event.what != Event::What::kOp) continue;
    communication += EndOf(event) - event.begin_us;
    for (const auto& [begin, end] : kernels) {
      beside += std::max(0.0, std::min(end, EndOf(event)) - std::max(begin, event.begin_us));
    }
  }
  return beside / communication;
}

TEST(JobPlayTest, GradientsInBucketsAndParametersAheadOverlapComputing) {
  EXPECT_GT(OverlapOf(Simple(Sharding::kNone)), 0.3);
  EXPECT_GT(OverlapOf(Simple(Sharding::kFsdp)), 0.3);
}

TEST(JobPlayTest, TheSameSeedIsTheSameJob) {
  const Scenario job = JobOf(Schedule::kOneForwardOneBackward, Sharding::kZero1);
  EXPECT_EQ(SecondsOf(job), SecondsOf(job));
  Scenario other = job;
  other.seed = 2;
  EXPECT_NE(SecondsOf(job), SecondsOf(other));
}

TEST(JobPlayTest, EachFaultCostsTheJobTime) {
  const Scenario well = JobOf(Schedule::kOneForwardOneBackward, Sharding::kNone);
  const double usual = SecondsOf(well);
  for (int kind = 0; kind <= static_cast<int>(FaultKind::kGrowth); ++kind) {
    Scenario sick = well;
    sick.faults = {{.kind = static_cast<FaultKind>(kind), .rank = 9, .peer = 0, .factor = 4}};
    sick.cluster.nodes_per_leaf = 2;
    const double longer = SecondsOf(sick) / usual;
    EXPECT_GT(longer, 1.005) << ToString(sick.faults[0].kind);
  }
}

TEST(JobPlayTest, WhatOverlapHidesCostsNothing) {
  Scenario job = Simple(Sharding::kNone);
  job.model.hidden = 16384;  // computing takes much longer than gradients
  job.cluster.nic_gbytes_s = 400;
  const double usual = SecondsOf(job);
  job.faults = {{.kind = FaultKind::kSlowNic, .rank = 3, .factor = 1.3}};
  EXPECT_LT(SecondsOf(job) / usual, 1.01);
}

struct TraceFilesTest : public ::testing::Test {
  fs::path folder = fs::temp_directory_path() / ("kineto_" + std::to_string(getpid()));
  void TearDown() override { fs::remove_all(folder); }

  std::string Inflated(const std::string& name) const {
    gzFile file = gzopen((folder / name).c_str(), "rb");
    std::string text(64 << 20, '\0');
    const int size = gzread(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    text.resize(static_cast<std::size_t>(std::max(0, size)));
    return text;
  }
};

TEST_F(TraceFilesTest, AFileARankAndTheTruthBesideThem) {
  Scenario job = Simple(Sharding::kFsdp);
  job.faults = {{.kind = FaultKind::kSlowGpu, .rank = 5, .factor = 2}};
  const auto written = WriteTraces(job, {.first = 40, .iterations = 3}, folder.string());
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->ranks, 16u);
  EXPECT_GT(written->seconds, 1.1 * written->well_seconds);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 17);
  const std::string trace = Inflated("rank5.json.gz");
  for (const char* part :
       {R"("rank": 5, "world_size": 16)", R"("cat": "cuda_runtime")", R"("cat": "cpu_op")",
        R"("name": "ProfilerStep#42")", "ncclDevKernel_AllGather_RING_LL",
        R"("Process Group Description": "DATA_PARALLEL_GROUP")", R"("host_name": "node-0000")",
        R"("pg_desc": "default_pg")"}) {
    EXPECT_NE(trace.find(part), std::string::npos) << part;
  }
  EXPECT_NE(written->truth.find(R"("kind": "slow_gpu", "rank": 5)"), std::string::npos);
  EXPECT_NE(written->truth.find(R"("ranks": [5])"), std::string::npos);
}

TEST_F(TraceFilesTest, WhatCannotBePlayedSaysWhy) {
  Scenario job = Simple(Sharding::kNone);
  job.faults = {{.kind = FaultKind::kHangProcess, .rank = 5}};
  EXPECT_NE(WriteTraces(job, {40, 3}, folder.string()).status().message().find("hangs"),
            std::string::npos);
  job.faults = {{.kind = FaultKind::kSlowGpu, .rank = 5, .from = 60}};
  EXPECT_NE(WriteTraces(job, {40, 3}, folder.string()).status().message().find("outside"),
            std::string::npos);
  job.faults.clear();
  EXPECT_EQ(WriteTraces(job, {40, 0}, folder.string()).status().code(),
            absl::StatusCode::kInvalidArgument);
  fs::create_directories(folder);
  std::ofstream(folder / "other.json") << "{}";
  EXPECT_EQ(WriteTraces(job, {40, 3}, folder.string()).status().code(),
            absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace fathom::simulate::kineto
