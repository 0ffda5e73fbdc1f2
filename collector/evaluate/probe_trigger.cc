#include "collector/evaluate/probe_trigger.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <set>

namespace fathom::collector {
namespace {

using diagnosis::Cause;

bool InANode(const diagnosis::Verdict& verdict) {
  return Convicts(verdict) &&
         (verdict.cause == Cause::kComputeSlow || verdict.cause == Cause::kMemorySlow ||
          verdict.cause == Cause::kHostSlow);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SuspectsAndPeers(const std::string& name,
                                                          const JobState* job,
                                                          const VerdictLedger& ledger,
                                                          const SessionRegistry& registry,
                                                          std::size_t peers, bool only_hardware) {
  std::set<std::string> suspects;
  for (const Episode& episode : ledger.Of(name)) {
    const diagnosis::Verdict& verdict = episode.verdict;
    const bool counts = !episode.superseded && !verdict.entity.node.empty();
    if (counts && (!only_hardware || InANode(verdict))) suspects.insert(verdict.entity.node);
  }
  if (suspects.empty()) {
    return absl::NotFoundError(absl::StrCat("no verdict of ", name, " names a node; give nodes"));
  }
  std::vector<std::string> nodes(suspects.begin(), suspects.end());
  if (job == nullptr) return nodes;
  for (const std::string& node : job->Nodes()) {
    if (nodes.size() >= suspects.size() + peers) break;
    if (!suspects.contains(node) && registry.Connected(node)) nodes.push_back(node);
  }
  return nodes;
}

bool ProbeTrigger::Due(const std::string& suspect) {
  const MonoNs now = parts_.clock.Mono();
  std::erase_if(ordered_, [&](const auto& entry) { return now - entry.second >= kAgain; });
  return ordered_.try_emplace(suspect, now).second;
}

void ProbeTrigger::Ended(const JobState& job) {
  if (settings_.mode != "after_jobs") return;
  const auto nodes =
      SuspectsAndPeers(job.name(), &job, parts_.ledger, parts_.registry, kPeers, true);
  if (!nodes.ok() || !Due(nodes->front())) return;
  const auto id = parts_.probes.Ask({.nodes = *nodes, .job = job.name(), .asked_by = "fathom"});
  parts_.say(
      absl::StrCat("job ", job.name(), " ended; probe of ", absl::StrJoin(*nodes, ", "), ": ",
                   id.ok() ? absl::StrCat("order ", *id) : std::string(id.status().message())));
}

}  // namespace fathom::collector
