// One line of a recovery's journal: what is about to be done, or what came of it.
//
// Written by RecoveryRun, kept by RecoveryJournal, folded by RecoveryHistory. Model: before a step
// its intent, after it its outcome; between them lies the deed, so that an intent without an
// outcome is a deed of which it is not known whether it was done.
//
//   begun ─ intent ─ done … ─ running ─ ended        an intent may end as failed (nothing changed)
//            undo_intent ─ undone …  ─ ended         stopped: not gone on with, for a reason
//
// Units: wall ns. Thread-safety: plain values, pure functions. Errors: InvalidArgument for a line
// that is none. Cost: O(characters).
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RECORD_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RECORD_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

enum class Mark : std::uint8_t {
  kBegun,
  kIntent,
  kDone,
  kFailed,  // certainly nothing was changed
  kUndoIntent,
  kUndone,
  kUndoFailed,
  kStopped,  // a person must look, or the reason is gone
  kRunning,  // the first iteration without the sick node was seen
  kWarm,     // as fast as before the fault
  kEnded,    // recovered, undone, or given up
};

enum class Step : std::uint8_t { kNone, kStandby, kIsolate, kRestart };

struct RecoveryRecord {
  Mark mark = Mark::kBegun;
  std::string id;
  Step step = Step::kNone;
  int attempt = 0;  // of a restart, from 1
  std::int64_t wall_ns = 0;
  std::string text = {};
  Json facts = Json::object();  // of kBegun the plan, of kIntent what the back-end saw before
};

std::string_view Word(Mark mark);
std::string_view Word(Step step);

// One line without its end.
std::string RecordLine(const RecoveryRecord& record);
absl::StatusOr<RecoveryRecord> ReadRecordLine(std::string_view line);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_RECOVERY_RECORD_H_
