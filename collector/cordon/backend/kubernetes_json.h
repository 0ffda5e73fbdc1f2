// The JSON that the Kubernetes back-end writes for information: node condition and event.
//
// Thread-safety: pure functions. Errors: none. Source: the core/v1 API.
#ifndef FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_JSON_H_
#define FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_JSON_H_

#include <string>

#include "collector/cordon/backend/backend.h"
#include "proto/types/time_units.h"

namespace fathom::cordon {

// A strategic merge patch of the status subresource; conditions merge by type there.
std::string ConditionPatch(const Hold& hold, bool held, WallNs now);
std::string EventJson(const Hold& hold, bool held, WallNs now);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_BACKEND_KUBERNETES_JSON_H_
