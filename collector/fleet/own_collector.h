// A fathom-collector of this process's own, as a child on loopback with its store in memory.
//
// Used by fathom-fleet for the end-to-end experiment. Ownership: the child and its log go with the
// object. Thread-safety: of one thread. Errors: kUnavailable, in the child's own words.
#ifndef FATHOM_COLLECTOR_FLEET_OWN_COLLECTOR_H_
#define FATHOM_COLLECTOR_FLEET_OWN_COLLECTOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "collector/cli/run/companion.h"
#include "collector/cli/run/run_folder.h"

namespace fathom::simulate {

class OwnCollector {
 public:
  static absl::StatusOr<std::unique_ptr<OwnCollector>> Start(const cli::SignalGate& gate);

  const cli::HostPort& grpc() const { return child_->listening().at("grpc"); }
  const cli::HostPort& http() const { return child_->listening().at("http"); }

 private:
  OwnCollector() = default;
  std::unique_ptr<cli::RunFolder> folder_;
  std::unique_ptr<cli::Companion> child_;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_OWN_COLLECTOR_H_
