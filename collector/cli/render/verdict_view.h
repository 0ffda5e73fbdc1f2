// A verdict as the command line shows it: the fields of fathom.v1.Verdict, read from JSON.
//
// Made from GET /api/v1/verdicts, from `verdict` events and from reports; rendered by render/.
// Thread-safety: plain value. Errors: none; missing fields are empty. Times: ns since 1970.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_VERDICT_VIEW_H_
#define FATHOM_COLLECTOR_CLI_RENDER_VERDICT_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/verdict_fields.h"

namespace fathom::cli {

struct EvidenceView {
  std::string statement;
  std::string unit;
  std::string source;
  double value = 0;
  double reference = 0;
};

// A step of the chain behind the culprit of a job that stands still.
struct WaitStepView {
  std::int64_t hop = 1;
  std::vector<std::int64_t> ranks;
  std::string group, op;
  std::int64_t groups = 1;
  std::int64_t number = -1;  // -1: none
  double waited_s = 0;       // 0: not known
};

// Ranks with the same stack.
struct StackView {
  std::vector<std::int64_t> ranks;
  std::vector<std::string> frames;  // innermost first
  std::int64_t differs_at = -1;     // in frames; -1: nowhere
  bool culprit = false;
  std::string source;
  double pause_s = 0;  // 0: it was not stopped
};

struct VerdictView {
  std::string id, job, grade, cause, problem_class, role, sentence, owner, closed_because;
  std::string entity_type, node, gpu, link_src, link_dst;
  std::vector<std::int64_t> ranks, victims;
  std::int64_t since_iteration = -1;
  bool from_start = false;  // of all that is known: then no iteration is told
  std::int64_t every = 0;   // it comes in every so many iterations; 0: in all
  std::int64_t since_unix_ns = 0;
  bool closed = false;
  std::int64_t until_iteration = -1;
  double slowdown = 0;  // 0 = not told
  double seconds_per_iteration = 0;
  double gpu_hours = 0;
  double gpu_hours_per_minute = 0;
  std::string function, file, doing;  // what a capture of stacks shows; empty: nothing
  std::int64_t line = 0;
  std::vector<EvidenceView> evidence, counter_evidence;
  std::vector<WaitStepView> waits;
  std::vector<StackView> stacks;
  std::vector<std::string> would_change;
  std::string action_text, action_command;

  // A culprit was found: its grade is established or supported. Weaker grades are leads.
  bool Convicts() const;
  // "rank 2 on node0", "rank 2 on node0, GPU 0000:1B:00.0", "ranks 1, 3", "link a -> b", "job".
  std::string Culprit() const;
};

VerdictView ReadVerdict(const Json& verdict);

// All in `list` (an array of verdicts), in its order.
std::vector<VerdictView> ReadVerdicts(const Json& list);

// "0-3, 7" from {0,1,2,3,7}.
std::string RankList(std::vector<std::int64_t> ranks);
// "ranks 0-3, 7", "rank 2".
std::string RankNames(const std::vector<std::int64_t>& ranks);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_VERDICT_VIEW_H_
