// Has the accused GPU fallen off the bus, or reported a critical error (Xid)?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_FAULTS_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_FAULTS_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule GpuFaultsRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_FAULTS_H_
