// Does a process of somebody else run on the accused GPU?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_NEIGHBOUR_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_NEIGHBOUR_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule GpuNeighbourRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_GPU_NEIGHBOUR_H_
