// The list of all rules, in the order in which they run.
//
// Used by engine/diagnose. Thread-safety: the list is constant after its first use.
#ifndef FATHOM_DIAGNOSIS_ENGINE_REGISTRY_H_
#define FATHOM_DIAGNOSIS_ENGINE_REGISTRY_H_

#include <vector>

#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

const std::vector<Rule>& AllRules();

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_ENGINE_REGISTRY_H_
