// Does the accused node wait for its disks?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_DISK_WAIT_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_DISK_WAIT_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule DiskWaitRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_DISK_WAIT_H_
