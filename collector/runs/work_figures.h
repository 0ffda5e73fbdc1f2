// How fast a running job computes, how much of what its devices could do that is, and for how long
// nothing runs: figures of its newest iterations, for the API and metrics.
//
// Model: operations are those of the products of matrices that were seen. MFU is the least time in
// which the device computes them (device_peak.h) over the time that went by. Of GPUs the peak is in
// a table; of CPUs it is what the newest probe of the node measured, shared among the ranks there,
// and there is none where a node of the job was never probed.
//
// Units: FLOP/s; ratios of 1. Thread-safety: pure, but for the store, which is thread-safe. Errors:
// what is not known is said, in words. Cost: one look at the store a node, of CPU jobs only.
#ifndef FATHOM_COLLECTOR_RUNS_WORK_FIGURES_H_
#define FATHOM_COLLECTOR_RUNS_WORK_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "collector/job/state/job_state.h"
#include "collector/store/store.h"
#include "diagnosis/model/device_peak.h"

namespace fathom::collector {

struct WorkFigures {
  std::string device;  // of the job: "cpu", a GPU's model; empty: not known
  std::uint32_t ranks = 0;
  std::int64_t iterations = 0;  // that they are of; 0: none of the figures is known
  double flop_per_s = 0;        // of all ranks; 0: no product was seen
  std::optional<double> mfu;
  std::string mfu_unknown;  // why
  std::string peak_source;
  std::optional<double> void_between;  // shares of the iteration
  std::optional<double> void_within;
};

// Of one rank of the job; of a CPU its share of the node.
diagnosis::DevicePeak PeakOfRank(const JobState& job, const JobWork& work, Store& store);

WorkFigures FiguresOf(const diagnosis::IterationParts& parts, std::uint32_t ranks,
                      const diagnosis::DevicePeak& peak, const std::string& device);
// Of the means over its iterations.
WorkFigures FiguresOf(const JobWork& work, const diagnosis::DevicePeak& peak);
// Against the peak of its ranks' device.
WorkFigures FiguresOf(const JobState& job, Store& store);

// "Its 2 ranks compute 12.3 GFLOP/s, …"; empty where nothing is known.
std::string InWords(const WorkFigures& figures);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RUNS_WORK_FIGURES_H_
