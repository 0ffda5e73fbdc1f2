// Rule rare_spikes: is it always the same rank that makes single iterations long?
// docs/rules/rare_spikes.md.
//
// Used by engine/diagnose for jobs that are not slow against their own past, where neither the
// account nor a path is charged.
//
// Model: watch/spikes tells whose they are, from summaries alone; this says it, with what its own
// time went into in the middle one. Established where nobody else has any or chance is below
// AccountLimits::chance_live, and the cause is known; else supported.
//
// Units: seconds. Thread-safety: pure. Errors: null where they are nobody's. Cost: O(spikes).
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_RARE_SPIKES_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_RARE_SPIKES_H_

#include <optional>

#include "diagnosis/evidence/rule.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

[[nodiscard]] std::optional<Verdict> FindRareSpikes(const Case& c);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_RARE_SPIKES_H_
