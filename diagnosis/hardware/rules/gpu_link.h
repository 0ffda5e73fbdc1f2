// Is the PCIe link of the accused GPU narrower than its peers', does it repeat packets, lacks it
// NVLinks?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_LINK_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_LINK_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule GpuLinkRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_LINK_H_
