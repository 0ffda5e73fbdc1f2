// The API of this collector with what its store of ops has.
//
// Put by Collector before Api; PeerApi asks it as it would ask Api. Thread-safety: thread-safe.
// Ownership: refers to both, which outlive it. Errors: theirs. Cost: theirs.
#ifndef FATHOM_COLLECTOR_API_OPS_WITH_OPS_H_
#define FATHOM_COLLECTOR_API_OPS_WITH_OPS_H_

#include <string>
#include <vector>

#include "collector/api/ops/ops_api.h"
#include "collector/http/answerer.h"

namespace fathom::collector {

class WithOps final : public Answerer {
 public:
  WithOps(const Answerer& rest, const OpsApi& ops) : rest_(rest), ops_(ops) {}

  Response Answer(const Request& request) const override {
    return OpsApi::IsOfOps(request) ? ops_.Answer(request) : rest_.Answer(request);
  }
  std::vector<std::string> JobObjects(const std::string& job) const override {
    return rest_.JobObjects(job);
  }

 private:
  const Answerer& rest_;
  const OpsApi& ops_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_OPS_WITH_OPS_H_
