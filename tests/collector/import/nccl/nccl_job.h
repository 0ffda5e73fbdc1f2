// The files that NCCL's Inspector and its example profiler would write of a made-up data-parallel
// job: the text is, byte for byte, of the shape that their sources print.
//
// Used by tests. Each step a rank computes, then reduces its gradients in three buckets; a
// collective ends on all ranks together, when the last has come and the transfer is done. Clocks of
// ranks are apart. Before and after the steps there are collectives that do not repeat.
//
// Units: µs inside. Thread-safety: plain values.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_NCCL_NCCL_JOB_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_NCCL_NCCL_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/import/reading/recording.h"

namespace fathom::collector::nccl {

struct NcclJob {
  int ranks = 4;
  int steps = 40;
  int slow_rank = -1;  // −1: healthy
  int from_step = 20;
  double slow_us = 15'000;
  double transfer_factor = 1;  // of all collectives, from from_step on
  bool verbose = true;         // Inspector: with the times of events
  bool gpu_clocks = true;      // example profiler: StartGpuClk and StopGpuClk, as since v2.27
  std::string version = "v4.0";
  unsigned seed = 1;
};

struct RunOfOp {
  std::string function = "AllReduce";
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  double call_us = 0;  // the host enqueued it
  double begin_us = 0;
  double end_us = 0;
};

// The ops of each rank, on its own clock.
std::vector<std::vector<RunOfOp>> RunsOf(const NcclJob& job);

// The file of each rank.
std::vector<std::string> InspectorFiles(const NcclJob& job);
std::vector<std::string> ProfilerFiles(const NcclJob& job);

// One line of Inspector; of v4.3 without what its marker says.
std::string InspectorLine(const NcclJob& job, int rank, const std::string& comm, int ranks,
                          const RunOfOp& op);

// Writes the texts as `name`0, `name`1, … into a fresh folder and reads them as one job.
absl::StatusOr<Recording> ReadTexts(const std::vector<std::string>& texts, const std::string& name);
Recording ReadJob(const std::vector<std::string>& texts);  // fails the test if it cannot

}  // namespace fathom::collector::nccl

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_NCCL_NCCL_JOB_H_
