// Where the GPU time of a job went, in a few lines of the terminal.
//
//   Where the GPU time went, 5 iterations compared with peers
//     12.4 GPU-seconds used, 9.30 needed, 3.10 lost (25 %)
//     rank 5 compute_slow            2.60 GPU-seconds  84 %  41.2 ms an iteration
//     unexplained                    0.50 GPU-seconds  16 %
//     hidden, costs nothing: rank 7 host_slow
//
// Used by analyze and get. Takes `ledger` of the report. Thread-safety: pure function. Errors:
// none; empty where no account was made.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_LEDGER_BLOCK_H_
#define FATHOM_COLLECTOR_CLI_REPORT_LEDGER_BLOCK_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string LedgerBlock(const Json& ledger, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_LEDGER_BLOCK_H_
