// A job whose communication runs on streams of its own beside computing, as its agents see it: the
// records of each rank's ring go through the agent's pipeline, and what comes out is the job's
// view.
//
// Used by charges.h. Deterministic for a seed.
//
// Model: all ranks carry out the same program on their device. A launched op begins when computing
// has come to it and its stream is free; it ends `ms` after the last of its members has begun it.
// Times in ms. Thread-safety: plain values.
#ifndef FATHOM_TESTS_DIAGNOSIS_OVERLAP_OVERLAPPED_JOB_H_
#define FATHOM_TESTS_DIAGNOSIS_OVERLAP_OVERLAPPED_JOB_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "proto/types/collective_kind.h"

namespace fathom::diagnosis::testing {

struct DeviceStep {
  enum class What { kCompute, kLaunch, kWait };
  What what = What::kCompute;
  double ms = 0;           // of computing, of the op
  std::size_t op = 0;      // its number in the program; of a wait, the op waited for
  std::size_t stream = 0;  // of communication
  bool pairs = false;      // of ranks 2n and 2n + 1, in place of all ranks
  int waits = 1;           // of streams, that come with it
  CollectiveKind kind = CollectiveKind::kAllReduce;
};

struct OverlappedJob {
  std::vector<DeviceStep> program;
  std::uint32_t ranks = 8;
  int iterations = 40;
  double noise = 0.001;  // of each piece of computing
  std::uint64_t seed = 1;
  std::uint32_t rank = 2;    // who has …
  double slower = 0;         // … a device that computes slower, by this share …
  double pause_ms = 0;       // … a host that pauses …
  std::size_t pause_at = 0;  // … before this step
  double slow_pair_ms = 0;   // the ops of the pair of ranks 2 and 3 take so long; 0: as all
  int untold = -1;           // a rank whose agent is older, and tells of no op beside computing
  int missing = -1;          // a rank that nobody tells of
};

// Forward, buckets of gradients as backward goes, a wait for all of them, the optimizer.
std::vector<DeviceStep> DdpProgram(double forward, double backward, double optimizer,
                                   double communication, std::size_t buckets);

// The mean of all iterations but the first.
double IterationMs(const JobView& view);

JobView PlayOverlapped(const OverlappedJob& job);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_OVERLAP_OVERLAPPED_JOB_H_
