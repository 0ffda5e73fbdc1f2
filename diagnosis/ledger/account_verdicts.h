// From the account to verdicts: the top of it that is sure enough.
//
// Used by engine/diagnose. Model: an accused entity whose share reaches least_cost is convicted.
// Established: its cause is known, it shows in two iterations or more, and lies sure_contrast times
// above the next of those that do the same; else supported. What falls short of the cost is no
// verdict (it stands in the account). Ranks that make up a communicator and are slow alike, and
// work that is greater by as much as it takes longer, convict no device.
//
// Thread-safety: pure function. Errors: none; what cannot be told is an abstention.
// Cost: O(accused × ranks).
#ifndef FATHOM_DIAGNOSIS_LEDGER_ACCOUNT_VERDICTS_H_
#define FATHOM_DIAGNOSIS_LEDGER_ACCOUNT_VERDICTS_H_

#include <vector>

#include "diagnosis/ledger/accounting.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// The strongest first.
std::vector<Verdict> VerdictsOn(const JobView& view, const Accounting& accounting,
                                const AccountLimits& limits = {});

// Ranks that differ, where it cannot be told who is wrong.
std::vector<Abstention> AbstainedOn(const Accounting& accounting);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_ACCOUNT_VERDICTS_H_
