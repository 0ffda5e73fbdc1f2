// A stretch of time as people write it: "30d", "4w", "36h".
//
// Used by `fathom report --since`. Thread-safety: pure function. Errors: kInvalidArgument, which
// says what may be written.
#ifndef FATHOM_COLLECTOR_CLI_MONTH_PERIOD_H_
#define FATHOM_COLLECTOR_CLI_MONTH_PERIOD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace fathom::cli {

// In whole hours, from 1 to two years.
absl::StatusOr<std::int64_t> HoursOf(const std::string& period);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_MONTH_PERIOD_H_
