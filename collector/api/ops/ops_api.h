// The part of the HTTP API that hands out what this collector's store of ops has of a job:
// /api/v1/ops/JOB?from=NS&to=NS and /api/v1/ops/JOB/COLLECTOR/FILE?offset=N.
//
// Called by way of WithOps; cluster/PeerApi joins what several collectors have. Read by
// `fathom analyze job://NAME --collector-http …`. docs/formats/http_api.md is the contract.
//
// Model: the list names files and how much of each there is; a file is read in parts of kPart.
// Files only grow, and a part that was read once stays as it is; a file may go meanwhile, by
// retention. Nothing is read but the files of a store (job_folder.h).
//
// Units: wall ns, bytes. Thread-safety: thread-safe. Errors: JSON {"error": what to do} with 400,
// 404 or 405. Cost: a read of the job's folder; of kPart.
#ifndef FATHOM_COLLECTOR_API_OPS_OPS_API_H_
#define FATHOM_COLLECTOR_API_OPS_OPS_API_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "collector/http/request.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

// Of a request; 0 for no bound.
struct OpsStretch {
  WallNs from, to;
};
// Nothing: `from` or `to` is no number.
std::optional<OpsStretch> OpsStretchOf(const Request& request);

class OpsApi {
 public:
  static constexpr std::int64_t kPart = 4 << 20;  // goes over the bus in one message

  // `folder`: of the store; empty: nothing is kept here. `collector`: its name in the list.
  OpsApi(std::function<std::string()> folder, std::string collector)
      : folder_(std::move(folder)), collector_(std::move(collector)) {}

  // Whether the request is under /api/v1/ops/.
  static bool IsOfOps(const Request& request);
  // Requires: it is.
  Response Answer(const Request& request) const;
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  Response List(const Request& request) const;
  Response Part(const Request& request) const;

  const std::function<std::string()> folder_;
  const std::string collector_;
  mutable std::atomic<std::uint64_t> bytes_read_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_OPS_OPS_API_H_
