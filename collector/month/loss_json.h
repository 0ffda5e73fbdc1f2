// The answer of /api/v1/losses as JSON text: docs/formats/http_api.md.
//
// Used by the API. `offenders`: what is held against nodes, of which those with enough jobs are
// written. `reaches_back`: since when all verdicts are kept; not known: always.
// Thread-safety: pure function. Errors: none. Cost: O(what is written).
#ifndef FATHOM_COLLECTOR_MONTH_LOSS_JSON_H_
#define FATHOM_COLLECTOR_MONTH_LOSS_JSON_H_

#include <string>

#include "collector/month/loss_account.h"
#include "collector/verdict/node_history.h"

namespace fathom::collector {

std::string LossJson(const LossAccount& account, const NodeRecords& offenders,
                     const NodeHistorySettings& settings, WallNs reaches_back);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_MONTH_LOSS_JSON_H_
