// Does the accused GPU run at lower clocks than before and than its peers, and why?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_CLOCKS_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_CLOCKS_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule GpuClocksRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_CLOCKS_H_
