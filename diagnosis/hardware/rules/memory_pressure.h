// Is the memory of the accused node short: do processes wait for it, swap, get killed?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_MEMORY_PRESSURE_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_MEMORY_PRESSURE_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule MemoryPressureRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_MEMORY_PRESSURE_H_
