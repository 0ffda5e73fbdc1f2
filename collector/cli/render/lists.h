// What `fathom get` lists, as tables: jobs, ranks, verdicts, nodes, runs, bandwidth, work.
//
// Each takes the collector's JSON and gives text. `wide` adds columns. Times are shown relative to
// `now_unix_ns`. Thread-safety: pure functions. Errors: none; missing fields show as "-".
#ifndef FATHOM_COLLECTOR_CLI_RENDER_LISTS_H_
#define FATHOM_COLLECTOR_CLI_RENDER_LISTS_H_

#include <cstdint>
#include <string>

#include "collector/cli/render/terminal.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

struct ListStyle {
  Terminal terminal;
  bool wide = false;
  std::int64_t now_unix_ns = 0;
};

// Each takes the array of the reply.
std::string JobsTable(const Json& jobs, const ListStyle& style);
std::string NodesTable(const Json& nodes, const ListStyle& style);
std::string RunsTable(const Json& runs, const ListStyle& style);
std::string BandwidthTable(const Json& rows);
// What GET …/jobs/JOB/work answers.
std::string WorkTable(const Json& work);
std::string VerdictsTable(const Json& verdicts, const ListStyle& style);
// The `ranks` of a job's health.
std::string RanksTable(const Json& ranks, const ListStyle& style);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_LISTS_H_
