// Does the accused rank wait for cores that others take from it alone?
//
// Listed in hardware/tell. docs/rules/hardware.md. It convicts by itself a rank that slowness/judge
// could only give as a lead, since it waits for cores: its process stands behind others in line
// (niceness, idle priority) as its peers do not, or may use fewer cores than they, or other ones,
// which others keep busy.
//
// Thread-safety: pure. Errors: says nothing where its readings are missing.
#ifndef FATHOM_DIAGNOSIS_HARDWARE_RULES_CORE_SHARE_H_
#define FATHOM_DIAGNOSIS_HARDWARE_RULES_CORE_SHARE_H_

#include "diagnosis/hardware/readings/hardware_case.h"

namespace fathom::diagnosis {

HardwareRule CoreShareRule();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_RULES_CORE_SHARE_H_
