// The thresholds of diagnosis as a file of settings tells them, for programs that judge without
// being a collector.
//
// Used by `fathom analyze` and `fathom simulate` (--config), and by Finalize() for the checks.
// Model: the file is that of fathom-collector; of it only `diagnosis:` is taken, the rest is
// checked for its spelling and otherwise left alone, so that one file serves both.
//
// Thread-safety: pure but for reading the file. Errors: InvalidArgument, one line that names the
// file, the setting and what would do.
#ifndef FATHOM_COLLECTOR_CONFIG_THRESHOLDS_H_
#define FATHOM_COLLECTOR_CONFIG_THRESHOLDS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "diagnosis/model/config.h"

namespace fathom::collector {

struct CollectorConfig;

// Ranges of everything below `diagnosis:`. Thresholds are positive numbers, or 0 where that is the
// default: a rule that is not asked.
absl::Status CheckThresholds(const CollectorConfig& config);

// Defaults where `file` is empty. A setting that only an earlier version had is no error; one line
// for each goes to `unread`.
absl::StatusOr<diagnosis::DiagnosisConfig> ReadThresholds(const std::string& file,
                                                          std::vector<std::string>& unread);

// The settings of an earlier version that were given, as lines for people.
std::string UnreadInWords(const std::string& setting);

// OK if low ≤ value ≤ high; else InvalidArgument that names the setting and both.
absl::Status CheckRange(const char* setting, double value, double low, double high);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_THRESHOLDS_H_
