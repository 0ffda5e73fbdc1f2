// Holds nodes back in Slurm: drains with a tagged reason, undrains only what carries it.
//
// Reads with sinfo and changes with scontrol, whose rights are those of the user it runs as: least
// rights are a wrapper or sudo rule for `scontrol update NodeName=… State=DRAIN|UNDRAIN`.
//
//   Reason="fathom:a0123456789ab compute_slow v0123456789ab"
//           tag    action        cause        verdict
//
// Slurm overwrites a drain's reason whoever wrote it, without asking; so a node that has any
// reason of somebody else is left alone, and after each change the node is read back. Between that
// read and the change lies the time of one command, some milliseconds, in which a person's own
// drain would be overwritten; Slurm offers no compare-and-set.
// The suffix that Slurm itself appends (" : reboot issued") leaves the tag readable.
// UNDRAIN, not RESUME: a node that went down meanwhile stays down.
//
// Thread-safety, errors: see backend.h. Measured with Slurm 22.05.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_SLURM_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_SLURM_H_

#include <string>

#include "collector/cordon/backend/backend.h"
#include "collector/process/command.h"

namespace fathom::cordon {

struct SlurmOptions {
  std::string scontrol = "scontrol";  // words, split at blanks: "sudo -n scontrol" is possible
  std::string sinfo = "sinfo";
  std::string rack_feature = "rack";  // the node feature that begins so names its rack or switch
  double timeout_s = 10;
};

class SlurmBackend final : public Backend {
 public:
  SlurmBackend(SlurmOptions options, collector::CommandRunner run)
      : options_(std::move(options)), run_(std::move(run)) {}

  absl::Status Nodes(std::map<std::string, NodeFact>& nodes) override;
  absl::Status HoldBack(const Hold& hold) override;
  absl::Status Release(const std::string& node, const std::string& action) override;
  std::string HoldCommand(const Hold& hold) const override;

 private:
  absl::Status Read(const std::string& only, std::map<std::string, NodeFact>& nodes);
  absl::StatusOr<NodeFact> ReadOne(const std::string& node);
  absl::StatusOr<collector::CommandResult> Run(const std::string& program,
                                               const std::vector<std::string>& arguments) const;
  absl::Status Update(const std::string& node, const std::vector<std::string>& changes);

  const SlurmOptions options_;
  const collector::CommandRunner run_;
};

// One line of sinfo -o "%N|%T|%R|%f|%E" folded into `nodes`. False: not such a line.
[[nodiscard]] bool ReadSinfoLine(const std::string& line, const std::string& rack_feature,
                                 std::map<std::string, NodeFact>& nodes);
// The action of a tagged reason; empty: somebody else's.
std::string OwnerOfReason(const std::string& reason);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_SLURM_H_
