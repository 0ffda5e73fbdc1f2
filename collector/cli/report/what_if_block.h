// What a job would take without its stragglers, in a few lines of the terminal.
//
//   What if nothing straggled
//     a step of 2.17 s would take 1.84 s (1.18x)
//     stage       3 1.23x, 0 1.00x
//
// Used by analyze. Takes `what_if` of the report. Thread-safety: pure function. Errors: none; empty
// where nothing was replayed.
#ifndef FATHOM_COLLECTOR_CLI_REPORT_WHAT_IF_BLOCK_H_
#define FATHOM_COLLECTOR_CLI_REPORT_WHAT_IF_BLOCK_H_

#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

std::string WhatIfBlock(const Json& what_if, const Terminal& terminal);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REPORT_WHAT_IF_BLOCK_H_
