// Has the memory of the accused GPU errors or remapped rows, or is its clock low?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_MEMORY_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_MEMORY_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule GpuMemoryRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_MEMORY_H_
