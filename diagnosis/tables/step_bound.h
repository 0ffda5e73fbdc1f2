// What bounds the iteration of a job: its parts in shares, also where nobody is to blame.
//
// Made for every report (collector/export, collector/import) from the summaries of the window, so
// that a job that is merely slow has an answer, and one of a single rank too; step_words.h says it.
// docs/rules/step_bound.md.
//
// Model: each iteration of each rank is cut into parts that sum to it; a part takes no more than
// what those before it left. Whose time is cut follows from what the source saw:
//
//   device   kernels ran on it: computing and copies, then communication that nothing hides; what
//            is left is idle: input and garbage collection as far as the host was in them, then
//            waiting for launches by the host, then the rest
//   thread   a job on the CPU: input, garbage collection, blocked on communication, waiting for a
//            core, computing, the rest
//   host     a GPU whose kernels nothing tells: input, garbage collection, communication on it,
//            what else of it the host stood still for (the GPU's), waiting for a core, the host's
//            own CPU time, the rest. Where the host stands still for no GPU the rest is the GPU's
//
// What of the input the makers of batches waited for a core is waiting for a core (rank_times).
// Communication is split by how much longer its ops took than on the last member to arrive: that
// much was waiting for others. Parts are means over ranks and iterations; iterations of more than
// kSpike times the median are left out. The largest part bounds the step, unless the next one is
// within kNear of the step: then two do.
//
// Units: seconds; shares 0 to 1. Thread-safety: pure functions. Errors: without enough iterations
// `missing` says so. Cost: O(ranks × groups × iterations).
// Source: the void percentage and issue latency of XPUTimer (input, host); the parts are ours.
#ifndef FATHOM_DIAGNOSIS_TABLES_STEP_BOUND_H_
#define FATHOM_DIAGNOSIS_TABLES_STEP_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/tables/rank_tables.h"

namespace fathom::diagnosis {

enum class StepPart : std::uint8_t {
  kComputing,
  kCopies,
  kInput,
  kHost,
  kCommunication,
  kWaiting,
  kGarbage,
  kCores,
  kGpu,
  kIdle,
};
inline constexpr std::size_t kStepParts = 10;

enum class StepClock : std::uint8_t { kThread, kDevice, kHostOfGpu };

struct StepBound {
  static constexpr std::size_t kLeastIterations = 3;
  static constexpr double kSpike = 3;
  static constexpr double kNear = 0.05;
  static constexpr double kWorthWinning = 0.05;  // of the step

  struct Part {
    StepPart part = StepPart::kIdle;
    double seconds = 0;
  };

  std::string missing;  // why nothing is told; empty: all below is known
  StepClock clock = StepClock::kThread;
  double step_s = 0;
  std::size_t iterations = 0;
  std::size_t ranks = 0;
  std::vector<Part> parts;  // that are not zero, largest first; they sum to step_s

  bool known() const { return missing.empty(); }
  double share(StepPart part) const;
  // The largest, and the next where it is near: empty where nothing is known.
  std::vector<StepPart> Bounds() const;
  // The largest part that need not be (no computing), if it is worth winning; else null.
  const Part* Loss() const;
};

// `tables`: of ranks whose work was traced, by rank; they tell what an idle device waited for.
StepBound BoundOf(const JobView& view, const std::vector<RankTables>& tables = {});

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_STEP_BOUND_H_
