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

// The same of a whole live job so far. Takes `job_ledger` of the report; `most`: entities that are
// listed by name.
//
//   Where the GPU time went, 12,040 iterations of the whole job since 14:03:07
//     512 GPU-hours used, 488 needed, 24.1 lost (4.7 %)
//     rank 5 on n3 compute_slow           20.2 GPU-hours   84 %  operations
//     unexplained                         3.90 GPU-hours   16 %
//     beside that, 0.42 GPU-hours by a recovery: isolation 12.0 s, restart 48.0 s, …
std::string JobLedgerBlock(const Json& ledger, std::size_t most, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_LEDGER_BLOCK_H_
