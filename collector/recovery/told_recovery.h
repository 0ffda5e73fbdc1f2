// How a recovery stands, as `fathom recover` tells the collector: its record.
//
// Written by cli/remedy/recovery_teller, read by api/recovery, kept by the store, booked by month/.
// Model: each telling is whole and takes the place of the one before, so that one that was lost is
// made good by the next.
//
// Units: wall ns; seconds. Thread-safety: plain values, pure functions. Errors: InvalidArgument for
// a text that is none, with what is wrong. Bounds: a text of at most kMostText bytes, so that
// a telling fits the body of a request. Cost: O(characters).
#ifndef FATHOM_COLLECTOR_RECOVERY_TOLD_RECOVERY_H_
#define FATHOM_COLLECTOR_RECOVERY_TOLD_RECOVERY_H_

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/recovery/recovery_stages.h"

namespace fathom::collector {

struct ToldRecovery {
  static constexpr std::size_t kMostText = 200;  // bytes of each

  std::string id, job;
  std::string state;  // "under way", "being undone", "recovered", "undone", "given up"
  std::string said;   // the newest text of a stop, a failure or the end
  std::string verdict, grade, cause;
  std::string node, spare, checkpoint, backend;
  std::string by;            // the user who ran it, as that machine names them
  std::string told_by;       // who signed in at the collector; empty: nobody had to
  std::int64_t told_ns = 0;  // when the collector heard it
  RecoveryTimes times;

  bool under_way() const { return state == "under way" || state == "being undone"; }
};

// One object of JSON, and back. Texts that are too long are cut.
std::string ToldRecoveryText(const ToldRecovery& told);
absl::StatusOr<ToldRecovery> ReadToldRecovery(const std::string& text);

// The same with its stages and what it cost: docs/formats/http_api.md.
cli::Json ToldRecoveryJson(const ToldRecovery& told);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_TOLD_RECOVERY_H_
