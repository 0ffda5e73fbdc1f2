// What can take a sick node out of a job and start the job anew without it: elastic torchrun,
// Slurm, Kubernetes, commands of one's own.
//
// Owned by the verb, called by RecoveryRun, one call at a time. The steps, in their order:
//
//   standby   the spare is made ready beside the job; nothing of the job changes
//   isolate   the sick node leaves the job; from here on the job stands still
//   restart   the job starts anew from its checkpoint; a second attempt may do more than the first
//
// A step that a back-end has no need of does nothing and says so. Before() is written to the
// journal with the intent; after a crash HowFar() tells by it how much of the deed was done. What
// was done in part only, Do finishes and Undo takes back.
//
// Thread-safety: single-threaded. Errors: of Check why nothing may be begun; of Do and Undo a
// status for which NothingChanged() is true, or one after which it is not known; of HowFar that it
// cannot be told. Cost: bounded by the back-end's time limits.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_REMEDY_BACKEND_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_REMEDY_BACKEND_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cli/remedy/recovery_record.h"

namespace fathom::cli {

// Of which job which node goes and which one comes.
struct Remedy {
  std::string id, job, sick, spare, checkpoint;
  std::vector<std::int64_t> sick_pids;  // of the job's ranks on the sick node
};

struct Deed {
  Step step = Step::kNone;
  int attempt = 0;
  Json before = Json::object();
};

enum class Extent : std::uint8_t { kNone, kPart, kAll };

class RemedyBackend {
 public:
  virtual ~RemedyBackend() = default;
  virtual std::string Name() const = 0;
  // Who chooses the node that comes, in words; empty: it is the spare.
  virtual std::string WhoPlaces() const { return ""; }
  virtual absl::Status Check(const Remedy& remedy) = 0;
  virtual absl::StatusOr<Json> Before(const Remedy& remedy, Step step) = 0;
  // What was done, in words.
  virtual absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) = 0;
  virtual absl::StatusOr<Extent> HowFar(const Remedy& remedy, const Deed& deed) = 0;
  // Safe to call again after an Undo of which it is not known whether it was done.
  virtual absl::StatusOr<std::string> Undo(const Remedy& remedy, const Deed& deed) = 0;
  // What a person does, or looks at, when fathom cannot go on.
  virtual std::string ByHand(const Remedy& remedy, const Deed& deed) const = 0;
};

inline bool NothingChanged(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return true;
    default:
      return false;
  }
}

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_REMEDY_BACKEND_H_
