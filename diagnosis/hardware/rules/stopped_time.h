// Was the process of the accused rank stopped by turns: by signals, a debugger, its control group?
//
// Listed in hardware/tell. docs/rules/hardware.md. Thread-safety: pure. Errors: says nothing where
// its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_STOPPED_TIME_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_STOPPED_TIME_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule StoppedTimeRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_STOPPED_TIME_H_
