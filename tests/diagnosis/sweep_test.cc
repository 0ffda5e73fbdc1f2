// Seeds × faulty ranks × faults × job types: the culprit is named or nobody is. Prints the table.
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/diagnosis/job_builder.h"
#include "tests/diagnosis/live_session.h"

namespace fathom::diagnosis::testing {
namespace {

struct Tally {
  int runs = 0, right = 0, abstained = 0, wrong = 0;
  std::vector<std::int64_t> iterations_to_verdict;
};

struct FaultCase {
  const char* name;
  FaultKind kind;
  const char* cause;  // expected, on the faulty rank; empty: nobody
};

constexpr FaultCase kSlow[] = {
    {"slow compute", FaultKind::kCompute, "compute_slow"},
    {"slow python", FaultKind::kSleep, "host_slow"},
    {"gc", FaultKind::kGc, "gc"},
    {"data loader", FaultKind::kDataLoader, "dataloader"},
    {"contention", FaultKind::kContention, ""},
    {"more work for all", FaultKind::kGrowth, ""},
    {"none", FaultKind::kNone, ""},
};

constexpr FaultCase kHang[] = {
    {"stopped", FaultKind::kStop, "process_stopped"},
    {"endless loop", FaultKind::kLoop, "noncommunication_hang"},
    {"asleep", FaultKind::kIdle, "noncommunication_hang"},
    {"dead", FaultKind::kDead, "process_dead"},
    {"mismatch", FaultKind::kMismatch, "mismatch"},
};

constexpr std::pair<JobType, const char*> kJobs[] = {{JobType::kDdp, "ddp"},
                                                     {JobType::kTensorData, "tensor_data"},
                                                     {JobType::kPipeline, "pipeline"}};

JobSpec SpecOf(JobType type, FaultKind kind, std::uint32_t rank, std::uint64_t seed) {
  JobSpec spec;
  spec.type = type;
  spec.seed = seed;
  spec.jitter = 0.15;
  spec.preempt_rate = 0.15;
  Fault fault;
  fault.kind = kind;
  fault.rank = rank;
  if (kind == FaultKind::kContention || kind == FaultKind::kGrowth) fault.ms = 30;
  spec.faults = {fault};
  return spec;
}

void Score(const LiveOutcome& outcome, const std::string& expected, int onset, Tally& tally) {
  ++tally.runs;
  bool right = false, wrong = false;
  for (const Verdict& verdict : outcome.ever) {
    (NameOf(verdict) == expected ? right : wrong) = true;
    if (NameOf(verdict) != expected) {
      std::printf("    said: %s | %s\n", NameOf(verdict).c_str(), verdict.sentence.c_str());
    }
  }
  if (wrong) {
    ++tally.wrong;
  } else if (right) {
    ++tally.right;
    tally.iterations_to_verdict.push_back(outcome.first_verdict - onset);
  } else {
    ++tally.abstained;
  }
}

void Print(const char* job, const char* fault, const Tally& t) {
  std::int64_t worst = 0;
  for (std::int64_t n : t.iterations_to_verdict) worst = std::max(worst, n);
  std::printf("| %-11s | %-17s | %4d | %5d | %9d | %5d | %6ld |\n", job, fault, t.runs, t.right,
              t.abstained, t.wrong, static_cast<long>(worst));
}

template <typename Cases>
void Sweep(const Cases& cases, std::uint64_t seeds) {
  std::printf(
      "| job         | fault             | runs | right | abstained | wrong | verdict after "
      "(iterations, worst) |\n");
  for (const auto& [type, job] : kJobs) {
    for (const FaultCase& fault : cases) {
      Tally tally;
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
          const JobSpec spec = SpecOf(type, fault.kind, rank, 97 * seed + rank);
          const LiveOutcome outcome = RunLive(PlayJob(spec), DiagnosisConfig());
          const std::string expected =
              *fault.cause == 0 ? "" : std::string(fault.cause) + " " + std::to_string(rank);
          Score(outcome, expected, spec.faults[0].from, tally);
        }
      }
      Print(job, fault.name, tally);
      EXPECT_EQ(tally.wrong, 0) << job << " " << fault.name;
      const int enough = *fault.cause == 0 ? 0 : tally.runs * 9 / 10;
      EXPECT_GE(tally.right, enough) << job << " " << fault.name;
    }
  }
}

TEST(SweepTest, SlowJobsNameTheCulpritOrNobody) { Sweep(kSlow, 6); }

TEST(SweepTest, HangingJobsNameTheCulpritOrNobody) { Sweep(kHang, 3); }

}  // namespace
}  // namespace fathom::diagnosis::testing
