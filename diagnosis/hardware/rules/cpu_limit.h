// Does the CPU limit of its container hold the accused rank back?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_LIMIT_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_LIMIT_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule CpuLimitRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_CPU_LIMIT_H_
