// Do the processors of the accused node throttle, or run at lower clocks than those of its peers?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_CLOCKS_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_CLOCKS_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule CpuClocksRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_CLOCKS_H_
