// The API of the whole cluster: any collector answers for all jobs.
//
// Put by Cluster between HttpServer and this collector's Api. Model: what is of one job its owner
// answers; lists of jobs, nodes and plans, and what is kept of a job's ops, are those of all
// collectors, joined; a file of ops is read at the collector that keeps it; everything else comes
// from the history, which they share, and is answered here; where the history does not answer, the
// verdicts that others have are joined, and who is silent is named. Who asks was found out here,
// and the other collector takes that as said: whoever may write to the bus is trusted
// (docs/security.md). A request is passed on once.
//
// Thread-safety: thread-safe. Ownership: refers to its parts. Errors: 503 where the owner does not
// answer, with what to do; a list without those that do not, counted. Cost: a question to the
// owner, or to every collector one after the other.
#ifndef FATHOM_COLLECTOR_CLUSTER_PEER_API_H_
#define FATHOM_COLLECTOR_CLUSTER_PEER_API_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/bus/bus.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/cluster/members.h"
#include "collector/http/answerer.h"
#include "collector/store/kept_ops.h"
#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

class PeerApi final : public Answerer {
 public:
  static constexpr Nanos kPatience{10'000'000'000};     // of the owner of a job
  static constexpr Nanos kListPatience{2'000'000'000};  // of each collector

  struct Parts {
    const Answerer& near;
    Bus& bus;
    const Members& members;
    ClusterCounters& counters;
    std::string name;
    std::function<std::string(const std::string& job)> owner_of;  // empty: nobody
    // What collectors have told the history that they keep of the job's ops. Empty: nothing.
    std::function<absl::StatusOr<std::vector<KeptOps>>(const std::string& job)> kept_ops = {};
  };

  explicit PeerApi(Parts parts) : parts_(std::move(parts)) {}
  // Answers what other collectors pass on.
  absl::Status Start();

  Response Answer(const Request& request) const override;
  std::vector<std::string> JobObjects(const std::string& job) const override;

 private:
  std::string OnAsked(std::string_view bytes) const;
  // Empty: it is answered here.
  std::string OwnerOf(const std::string& job) const;
  // Nothing: it does not answer, or not so that it can be read; counted.
  std::optional<v1::BusResponse> Ask(const std::string& collector, v1::BusRequest request,
                                     Nanos patience) const;
  std::optional<Response> Ask(const std::string& collector, const Request& request,
                              Nanos patience) const;
  Response Forward(const std::string& owner, const std::string& job, const Request& request) const;
  Response Joined(const Request& request, const std::string& list) const;
  Response Node(const Request& request) const;
  Response Ops(const Request& request) const;
  Response PartOfOps(const Request& request) const;
  Response Verdict(const Request& request) const;
  // With the verdicts that others have of those that `near` lacks.
  Response WithTheirs(Response near, const Request& request) const;

  const Parts parts_;
  std::unique_ptr<Hearing> answering_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_PEER_API_H_
