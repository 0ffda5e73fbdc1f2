// What a recovery plan is made of, out of the answers of the collector's API.
//
// Used by `fathom recover`, which asks over the network, and by the API, which asks itself: each
// gives its way of asking. Thread-safety: that of the questions. Errors: those of the questions
// about the job, its verdicts and the nodes; where nobody tells what is held back or what a probe
// found, that is not known. Cost: four questions, and one for each node of interest, at most
// kMostAsked of them; two where nothing is asked of nodes.
#ifndef FATHOM_COLLECTOR_RECOVERY_RECOVERY_FACTS_H_
#define FATHOM_COLLECTOR_RECOVERY_RECOVERY_FACTS_H_

#include <absl/status/statusor.h>

#include <functional>
#include <string>
#include <vector>

#include "collector/cli/text/json_fields.h"
#include "collector/recovery/recovery_plan.h"

namespace fathom::collector {

inline constexpr std::size_t kMostAsked = 64;

// Answers as docs/formats/http_api.md has them.
struct RecoveryQuestions {
  using Ask = std::function<absl::StatusOr<cli::Json>()>;

  Ask job, verdicts, nodes, actions;
  std::function<absl::StatusOr<cli::Json>(const std::string& node)> probes;
  // Whether nodes are asked about although no verdict names one.
  bool anyway = true;
};

struct RecoveryFacts {
  SickJob job;
  std::vector<SpareNode> nodes;
};

absl::StatusOr<RecoveryFacts> AskForFacts(const RecoveryQuestions& questions);

// Parts of it. The strongest open verdict counts, of equal ones the first that names a node.
SickJob SickJobOf(const cli::Json& job, const cli::Json& verdicts);
std::vector<SpareNode> NodesOf(const cli::Json& nodes, const cli::Json& actions);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_RECOVERY_FACTS_H_
