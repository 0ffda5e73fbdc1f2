// Thresholds of diagnosis for a recording instead of a live job.
//
// Used by `fathom analyze` and by tests.
//
// Model: a live job has hundreds of iterations to learn from; a profiler's trace has ten or twenty,
// and whoever records one does so because something is wrong. So the baseline is learned from the
// first third of the recording, and a quarter of it must be irregular before a culprit is sought.
// Never fewer than kLeastBaseline and kLeastIrregular; never more than the settings say. What a
// verdict needs to be called established is not lowered.
//
// Thread-safety: pure function. Errors: none.
#ifndef FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_
#define FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "diagnosis/engine/config.h"

namespace fathom::collector {

inline constexpr std::int32_t kLeastBaseline = 4;   // a median of fewer is moved by one wild value
inline constexpr std::int32_t kLeastIrregular = 3;  // two may be chance

inline diagnosis::DiagnosisConfig ConfigForRecording(diagnosis::DiagnosisConfig config,
                                                     std::size_t iterations) {
  const auto count = static_cast<std::int32_t>(std::min<std::size_t>(iterations, 1 << 20));
  config.baseline_iterations =
      std::min(config.baseline_iterations, std::max(kLeastBaseline, count / 3));
  config.min_irregular = std::min(config.min_irregular, std::max(kLeastIrregular, count / 4));
  config.settled_iterations = std::min(config.settled_iterations, std::max(1, count / 3));
  config.recent_window = std::min(config.recent_window, std::max(kLeastIrregular, count));
  return config;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_SHORT_RECORDING_H_
