// Thresholds of diagnosis for a recording instead of a live job.
//
// Used by `fathom analyze` and by tests.
//
// Model: a live job has hundreds of iterations to learn from; a profiler's trace has ten or twenty,
// and whoever records one does so because something is wrong. So the baseline is learned from the
// first third of the recording, and a quarter of it must be irregular before a culprit is sought.
// Never fewer than kFewestForMedian of either; never more than the settings of live jobs say. What
// else is counted in iterations follows from the two (model/config). The rule imbalance gives
// leads. The prior that a given rank is at fault is that of a job known to be slow: half
// for all ranks together, half for what is no rank's fault; never less than the settings say. It
// only weighs where a slow episode was found, and dozens of ranks bring it down to the settings'
// own. What a verdict needs to be called supported or established is not lowered.
//
// Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_
#define FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "diagnosis/model/config.h"
#include "diagnosis/stats/robust.h"

namespace fathom::collector {

inline diagnosis::DiagnosisConfig ConfigForRecording(diagnosis::DiagnosisConfig config,
                                                     std::size_t iterations, std::uint32_t ranks) {
  config.recorded = true;
  constexpr auto fewest = static_cast<std::int32_t>(diagnosis::kFewestForMedian);
  const auto count = static_cast<std::int32_t>(std::min<std::size_t>(iterations, 1 << 20));
  config.baseline_iterations = std::min(config.baseline_iterations, std::max(fewest, count / 3));
  config.min_irregular = std::min(config.min_irregular, std::max(fewest, count / 4));
  config.prior_rank = std::max(config.prior_rank, 0.5 / std::max(1U, ranks));
  return config;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_
