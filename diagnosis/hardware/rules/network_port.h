// Did a network device or RDMA port of the node lose its link, or does it repeat and lose packets?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_NETWORK_PORT_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_NETWORK_PORT_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule NetworkPortRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_NETWORK_PORT_H_
