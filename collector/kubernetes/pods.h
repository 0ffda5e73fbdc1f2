// The pods of a workload, and whether a node has room for them.
//
// Used by the Kubernetes back-end of `fathom recover`. Model: what a pod asks for is, of each
// resource, the greater of the sum of its containers and of its greatest init container, with its
// overhead, as the scheduler counts it (init containers that go on count with the others). Whether
// the scheduler puts a pod there hangs on more: affinity, spread, volumes, ports, priorities.
//
// Units: a resource's own base unit: cores, bytes, pieces. Thread-safety: pure functions. Errors:
// FailedPrecondition for an answer that is no list. Cost: O(pods × containers). Source: core/v1,
// resource.Quantity of apimachinery.
#ifndef FATHOM_COLLECTOR_KUBERNETES_PODS_H_
#define FATHOM_COLLECTOR_KUBERNETES_PODS_H_

#include <absl/status/statusor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/kubernetes/json_object.h"

namespace fathom::kubernetes {

using Resources = std::map<std::string, double>;

struct Pod {
  std::string space, name, uid;
  std::string node;   // empty: none was found yet
  bool over = false;  // succeeded or failed
  Resources requests{};
  Json tolerations = Json::array();
};

absl::StatusOr<std::vector<Pod>> ReadPods(std::string_view list_json);
std::string PathOf(const Pod& pod);
// Of a deletion that is of this pod and of none that came after it under its name.
std::string DeleteOptions(const Pod& pod);

// "1500m", "2", "16Gi", "1e3"; 0 for what is none.
double QuantityOf(const std::string& text);

// Why `newcomers` do not fit onto a node beside the pods that are there; empty: they do.
std::string WhyNoRoom(const Json& node, const std::vector<Pod>& there,
                      const std::vector<Pod>& newcomers);
// Why the node takes none of them, whatever room there is; empty: it does.
std::string WhyClosed(const Json& node, const std::vector<Pod>& newcomers);

}  // namespace fathom::kubernetes

#endif  // FATHOM_COLLECTOR_KUBERNETES_PODS_H_
