// Is a recovery that was begun still called for, and does the job run without the sick node?
//
// Used by RecoveryRun before each deed and while it waits. Reads answers of the collector's API:
// open verdicts of the job, and the job with its ranks.
//
// Thread-safety: pure functions. Errors: none; what is missing reads as not there. Cost:
// O(verdicts), O(ranks).
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_STILL_WANTED_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_STILL_WANTED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cli/remedy/remedy_backend.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

// Empty: a verdict on the sick node stands that is the same or of the same culprit, established or
// confirmed by a probe (`weak`: of any grade), and no probe refutes it.
std::string WhyNotAnyMore(const Json& verdicts, const std::string& verdict, const Remedy& remedy,
                          bool weak);
// Empty: no open verdict that is more than a lead names the spare.
std::string WhyNotThere(const Json& verdicts, const Remedy& remedy);

struct JobPace {
  bool without_sick = false;  // all ranks are there and live, none on the sick node
  std::int64_t iteration = -1;
  double iteration_s = 0;
};
JobPace PaceOf(const Json& job, const Remedy& remedy);

// The processes of the job on a node, by their pids there.
std::vector<std::int64_t> PidsOn(const Json& job, const std::string& node);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_STILL_WANTED_H_
