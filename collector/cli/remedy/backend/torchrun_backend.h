// Elastic torchrun: a standby launcher takes the place of the sick node's.
//
// Reaches nodes by a command of the configuration that is put before `fathom recover node …`
// (launcher_process.h). Model, as torch 2.13 behaves: a launcher that comes when nnodes' maximum
// has been reached waits in the rendezvous' list of the redundant; when the sick node's launcher
// ends, the workers of the others fail, each launcher goes into a new round, and the standby fills
// it. That needs, and Check demands: a c10d rendezvous that the sick node does not host, at least
// one restart left in the others (--max-restarts), and TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1, for
// with a shared store the launchers that stayed keep the address of the first round and the standby
// waits for one that nobody writes.
//
//   standby  start the job's launcher on the spare, wait until it has reached the rendezvous
//   isolate  end the launcher on the sick node
//   restart  first: nothing, the rendezvous does it; second: the spare's launcher anew, if it ended
//
// Thread-safety, errors: see remedy_backend.h.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_TORCHRUN_BACKEND_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_TORCHRUN_BACKEND_H_

#include <functional>
#include <string>
#include <vector>

#include "collector/cli/remedy/backend/waiting.h"
#include "collector/cli/remedy/remedy_backend.h"
#include "collector/process/command.h"

namespace fathom::cli {

struct TorchrunOptions {
  std::vector<std::string> on_node;  // what runs a command on {node}; empty: it is this machine
  std::vector<std::string> start;    // the job's own torchrun; empty: a standby waits already
  std::string fathom = "fathom";     // its path on the nodes
  std::string log = "/tmp/fathom-recover-{id}-{node}.log";  // of what is started, on the node
  double stop_s = 60;    // for the launcher to end before it is killed
  double ready_s = 120;  // for the standby to reach the rendezvous
};

class TorchrunBackend final : public RemedyBackend {
 public:
  TorchrunBackend(TorchrunOptions options, collector::CommandRunner run, Waiting waiting)
      : options_(std::move(options)), run_(std::move(run)), waiting_(std::move(waiting)) {}

  std::string Name() const override { return "torchrun"; }
  absl::Status Check(const Remedy& remedy) override;
  absl::StatusOr<Json> Before(const Remedy& remedy, Step step) override;
  absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<Extent> HowFar(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<std::string> Undo(const Remedy& remedy, const Deed& deed) override;
  std::string ByHand(const Remedy& remedy, const Deed& deed) const override;

 private:
  // NotFound: the node says that there is none; Unavailable: it was not reached.
  absl::StatusOr<Json> Ask(const Remedy& remedy, const std::string& node,
                           std::vector<std::string> words, double limit_s) const;
  absl::StatusOr<Json> AskTagged(const Remedy& remedy, const std::string& node,
                                 const std::string& tag) const;
  absl::Status Start(const Remedy& remedy, const std::string& node, const std::string& tag) const;
  absl::Status StopTagged(const Remedy& remedy, const std::string& node,
                          const std::string& tag) const;
  absl::StatusOr<std::string> StandBy(const Remedy& remedy, const std::string& tag) const;
  absl::StatusOr<std::string> Isolate(const Remedy& remedy, const Json& before) const;
  absl::StatusOr<Extent> Becomes(bool there, double within_s,
                                 const std::function<absl::StatusOr<Json>()>& look) const;
  // The launcher of the job's ranks on the sick node; empty: there is none any more.
  absl::StatusOr<Json> SickLauncher(const Remedy& remedy) const;

  const TorchrunOptions options_;
  const collector::CommandRunner run_;
  const Waiting waiting_;
};

// Why a launcher as TellLauncher told it cannot give its place away; empty: it can.
std::string WhyNotElastic(const Json& launcher, const std::string& job);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_TORCHRUN_BACKEND_H_
