// What each suspect costs: gain, cost alone, and its share of what the iterations lost.
//
// Used by ledger/accounting, which describes the rule. Units: seconds. Thread-safety: pure function
// but for the replay, which it uses alone. Errors: none.
// Cost: 3 replays, 2 a suspect, and 2⁴ for each four of them.
// Source: Shapley 1953.
#ifndef FATHOM_DIAGNOSIS_LEDGER_SHARING_H_
#define FATHOM_DIAGNOSIS_LEDGER_SHARING_H_

#include <cstddef>
#include <vector>

#include "diagnosis/ledger/accounting.h"
#include "diagnosis/ledger/counterfactual.h"
#include "diagnosis/ledger/suspect.h"
#include "diagnosis/peers/account_limits.h"

namespace fathom::diagnosis {

// The account of `ranks` ranks, with all suspects as its shares: those that cost most first, hidden
// ones last.
Accounting ShareLoss(Counterfactual& world, std::size_t ranks, std::vector<Suspect> suspects,
                     const AccountLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_SHARING_H_
