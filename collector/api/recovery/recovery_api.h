// /api/v1/jobs/JOB/recovery: what would get the job to run well again, and the records of the
// recoveries that ran. docs/formats/http_api.md is the contract.
//
// Put by Collector before the API of all collectors (or of this one, where it is alone), of which
// it asks what `fathom recover plan` asks: so both come to the same plan, of nodes of all
// collectors. GET is a viewer's. POST is an operator's: `fathom recover run` tells how a recovery
// stands, the store keeps it.
//
//   GET   job, its open verdicts, nodes, what is held, probes of free nodes ─► plan
//         store ─► records, newest first
//   POST  told ─► checked ─► store
//
// Thread-safety: thread-safe. Ownership: refers to its parts, which outlive it. Errors: JSON
// {"error": what to do} with 400, 404, 405, 415 or 503. Cost: GET the questions named above, at
// most recovery_facts.h's kMostAsked of them about probes; POST one write.
#ifndef FATHOM_COLLECTOR_API_RECOVERY_RECOVERY_API_H_
#define FATHOM_COLLECTOR_API_RECOVERY_RECOVERY_API_H_

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/http/answerer.h"
#include "collector/process/clock.h"
#include "collector/recovery/recovery_facts.h"
#include "collector/store/store.h"

namespace fathom::collector {

class RecoveryApi final : public Answerer {
 public:
  static constexpr std::int64_t kMostTold = 20;  // records in an answer

  struct Parts {
    const Answerer& rest;
    Store& store;
    const Clock& clock;
  };

  explicit RecoveryApi(Parts parts) : parts_(parts) {}

  Response Answer(const Request& request) const override;
  std::vector<std::string> JobObjects(const std::string& job) const override {
    return parts_.rest.JobObjects(job);
  }

  // Tellings that were kept, and that were not: refused, or not written.
  std::uint64_t kept() const { return kept_; }
  std::uint64_t refused() const { return refused_; }

 private:
  Response Keep(const Request& request) const;
  Response Tell(const Request& request) const;
  // Of the job as it stands; NotFound where it is not there.
  absl::StatusOr<RecoveryFacts> Facts(const Request& request) const;
  absl::StatusOr<cli::Json> Ask(const Request& request, std::vector<std::string> segments,
                                std::map<std::string, std::string> parameters) const;

  const Parts parts_;
  mutable std::atomic<std::uint64_t> kept_{0}, refused_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_RECOVERY_RECOVERY_API_H_
