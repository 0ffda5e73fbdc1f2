#include "collector/cordon/policy/brakes.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

namespace fathom::cordon {
namespace {

std::string Unanswered(const char* who, const std::string& why) {
  return why.empty() ? absl::StrCat("the ", who, " does not answer")
                     : absl::StrCat("the ", who, " gives no answer: ", why);
}

std::string WholeStands(const Scene& s) {
  if (!s.ledger.paused().empty()) return "paused: " + s.ledger.paused();
  if (!s.ledger.tripped().empty()) return "the breaker has tripped: " + s.ledger.tripped();
  if (!s.view.verdicts_known) return Unanswered("collector", s.view.verdicts_why);
  if (!s.view.nodes_known) return Unanswered("back-end", s.view.nodes_why);
  if (s.now < s.ledger.newest()) return "the clock is behind the audit log";
  for (const auto& [id, action] : s.ledger.actions()) {
    if (action.phase == Phase::kActing) return "it is not known yet whether " + id + " was done";
  }
  return "";
}

std::string NodeStands(const VerdictFact& verdict, const Scene& s) {
  const auto at = s.view.nodes.find(verdict.node);
  if (at == s.view.nodes.end()) return "the back-end knows no node " + verdict.node;
  const NodeFact& node = at->second;
  if (!node.owner.empty()) return verdict.node + " is held by " + node.owner;
  if (node.withheld) return verdict.node + " is held by somebody else: " + node.note;
  if (!node.healthy) return verdict.node + " is down";
  const WallNs override = s.ledger.LastOverride(verdict.node);
  if (override.known() && s.now - override < Nanos::FromSeconds(s.limits.override_cooloff_s)) {
    return "a person undid an action on " + verdict.node + " not long ago";
  }
  return "";
}

std::string CapsStand(const Scene& s) {
  const std::size_t held = HeldNodes(s.ledger, s.view).size();
  if (held + 1 > static_cast<std::size_t>(s.limits.max_nodes)) {
    return absl::StrCat(held, " nodes are held already; max_nodes is ", s.limits.max_nodes);
  }
  const double allowed = std::floor(s.limits.max_ratio * static_cast<double>(s.view.nodes.size()));
  if (static_cast<double>(held + 1) > allowed) {
    return absl::StrCat(held, " nodes are held already; max_ratio allows ", allowed, " of ",
                        s.view.nodes.size());
  }
  const Nanos window = Nanos::FromSeconds(s.limits.window_s);
  const auto& attempts = s.ledger.attempts();
  const auto recent = std::count_if(attempts.begin(), attempts.end(),
                                    [&](WallNs at) { return s.now - at < window; });
  if (recent >= s.limits.max_per_window) {
    return absl::StrCat(recent, " actions in the last ", s.limits.window_s,
                        " s; max_per_window is ", s.limits.max_per_window);
  }
  if (!attempts.empty() && s.now - attempts.back() < Nanos::FromSeconds(s.limits.min_spacing_s)) {
    return absl::StrCat("the last action is less than ", s.limits.min_spacing_s, " s ago");
  }
  return "";
}

// Whether enough of a set of nodes stays when one more of it is held back.
struct Share {
  int total = 0, available = 0;
  bool Stays(double least) const { return available - 1 >= std::ceil(least * total - 1e-9); }
};

std::string PartitionsStand(const VerdictFact& verdict, const Scene& s) {
  for (const std::string& partition : s.view.nodes.at(verdict.node).partitions) {
    Share share;
    for (const auto& [name, node] : s.view.nodes) {
      const auto& in = node.partitions;
      if (std::find(in.begin(), in.end(), partition) == in.end()) continue;
      ++share.total;
      share.available += node.available();
    }
    if (!share.Stays(s.limits.min_available_per_partition)) {
      return absl::StrCat("partition ", partition, " has ", share.available, " of ", share.total,
                          " nodes available and needs a share of ",
                          s.limits.min_available_per_partition, " after the action");
    }
  }
  return "";
}

std::string JobStands(const VerdictFact& verdict, const Scene& s) {
  for (const auto& [job, names] : s.view.job_nodes) {
    if (std::find(names.begin(), names.end(), verdict.node) == names.end()) continue;
    Share share;
    for (const std::string& name : names) {
      const auto at = s.view.nodes.find(name);
      ++share.total;
      share.available += at != s.view.nodes.end() && at->second.available();
    }
    if (share.total > 1 && !share.Stays(s.limits.min_available_per_job)) {
      return absl::StrCat("job ", job, " has ", share.available, " of ", share.total,
                          " nodes available and needs a share of ", s.limits.min_available_per_job,
                          " after the action");
    }
  }
  return "";
}

std::string JobVerdictsStand(const VerdictFact& verdict, const Scene& s) {
  for (const VerdictFact& other : s.view.verdicts) {
    if (!other.open || other.job != verdict.job || other.id == verdict.id) continue;
    if (other.grade != "established") continue;
    if (!IsNodeCause(other.cause) || !IsNodeEntity(other.entity_type)) {
      return absl::StrCat("verdict ", other.id, " sees ", other.cause, " in the same job");
    }
    if (other.node != verdict.node) {
      return absl::StrCat("verdict ", other.id, " names another node of the same job, ",
                          other.node);
    }
  }
  return "";
}

std::string RackStands(const VerdictFact& verdict, const Scene& s) {
  const std::string& rack = s.view.nodes.at(verdict.node).rack;
  if (rack.empty()) return "";
  std::set<std::string> touched = SuspectNodes(s.view, s.limits);
  touched.merge(HeldNodes(s.ledger, s.view));
  touched.insert(verdict.node);
  const auto behind = std::count_if(touched.begin(), touched.end(), [&](const std::string& name) {
    const auto at = s.view.nodes.find(name);
    return at != s.view.nodes.end() && at->second.rack == rack;
  });
  if (behind <= s.limits.max_per_rack) return "";
  return absl::StrCat(behind, " suspect or held nodes share ", rack, ": it may be the cause");
}

}  // namespace

std::set<std::string> HeldNodes(const Ledger& ledger, const View& view) {
  std::set<std::string> held;
  for (const auto& [id, action] : ledger.actions()) {
    if (action.Holds()) held.insert(action.node);
  }
  for (const auto& [name, node] : view.nodes) {
    if (!node.owner.empty()) held.insert(name);
  }
  return held;
}

std::string WhyNotANodeVerdict(const VerdictFact& verdict, const Limits& limits) {
  if (!verdict.open) return "the verdict is closed";
  if (verdict.grade != "established") return "the verdict is only " + verdict.grade;
  const auto& causes = limits.causes;
  const bool listed = std::find(causes.begin(), causes.end(), verdict.cause) != causes.end();
  if (!IsNodeCause(verdict.cause) || !listed) return verdict.cause + " never cordons";
  if (!IsNodeEntity(verdict.entity_type)) return "a " + verdict.entity_type + " is no node";
  return verdict.node.empty() ? "the verdict names no node" : "";
}

std::string WhyNotTrusted(const VerdictFact& verdict, const Limits& limits) {
  if (!verdict.job_runs) return "its job is not known to run any more";
  if (!verdict.authenticated) {
    return "the collector does not know for all agents of the job whose they are";
  }
  if (verdict.proof == "refuted") return "a probe of the node speaks against it";
  const NodeGroup* group = limits.GroupOf(verdict.node);
  const bool by_itself = group != nullptr && group->mode == Mode::kAuto;
  if (limits.require_probe && by_itself && verdict.proof != "confirmed") {
    return "no probe of the node confirms it (require_probe): fathom probe --nodes";
  }
  if (!(verdict.unseen_s <= limits.fresh_s)) {
    return absl::StrCat("no diagnosis has seen it for more than fresh_s, ", limits.fresh_s, " s");
  }
  return "";
}

std::set<std::string> SuspectNodes(const View& view, const Limits& limits) {
  std::set<std::string> suspects;
  for (const VerdictFact& verdict : view.verdicts) {
    if (WhyNotANodeVerdict(verdict, limits).empty() && verdict.job_runs) {
      suspects.insert(verdict.node);
    }
  }
  return suspects;
}

std::string WhyNotNow(const VerdictFact& verdict, const Scene& scene) {
  for (const std::string& why :
       {WholeStands(scene), NodeStands(verdict, scene), CapsStand(scene)}) {
    if (!why.empty()) return why;
  }
  for (const std::string& why : {PartitionsStand(verdict, scene), JobStands(verdict, scene),
                                 JobVerdictsStand(verdict, scene), RackStands(verdict, scene)}) {
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace fathom::cordon
