// What the hardware of some nodes says, as JSON: readings over time.
//
// Used by Api. docs/formats/http_api.md explains the fields. Thread-safety: pure function.
// Cost: O(points).
#ifndef FATHOM_COLLECTOR_EXPORT_HARDWARE_JSON_H_
#define FATHOM_COLLECTOR_EXPORT_HARDWARE_JSON_H_

#include <string>
#include <vector>

#include "diagnosis/model/hardware.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

// `view`: which ranks drive which GPU.
std::string HardwareJson(const diagnosis::JobView& view,
                         const std::vector<diagnosis::NodeHardware>& nodes);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HARDWARE_JSON_H_
