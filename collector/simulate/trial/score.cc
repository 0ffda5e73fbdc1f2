#include "collector/simulate/trial/score.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/wires.h"

namespace fathom::simulate {
namespace {

using diagnosis::Cause;
using diagnosis::EntityType;
using diagnosis::Verdict;

bool CauseFits(FaultKind kind, Cause cause) {
  switch (kind) {
    case FaultKind::kSlowGpu:
      return cause == Cause::kComputeSlow;
    case FaultKind::kSlowMemory:
      return cause == Cause::kComputeSlow || cause == Cause::kMemorySlow;
    case FaultKind::kSlowHost:
    case FaultKind::kSlowProcess:
      return cause == Cause::kHostSlow;
    case FaultKind::kGarbage:
      return cause == Cause::kGc;
    case FaultKind::kDataLoader:
      return cause == Cause::kDataLoader;
    case FaultKind::kHangProcess:
      return cause == Cause::kNonCommunicationHang || cause == Cause::kProcessStopped ||
             cause == Cause::kProcessDead;
    case FaultKind::kHangLink:
      return cause == Cause::kCommunicationHang;
    default:
      return IsNetwork(kind) && (cause == Cause::kLinkSlow || cause == Cause::kCommunicationSlow);
  }
}

// The ranks that the fault is about, as an operator would want them named.
std::vector<std::uint32_t> Concerned(const Layout& layout, const Fault& fault) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < layout.world(); ++r) {
    bool in = r == fault.rank;
    if (fault.kind == FaultKind::kSlowHost) in = layout.NodeOf(r) == layout.NodeOf(fault.rank);
    if (fault.kind == FaultKind::kSlowNvlink) in = layout.NodeOf(r) == layout.NodeOf(fault.rank);
    if (fault.kind == FaultKind::kSlowLeaf) in = layout.LeafOf(r) == layout.LeafOf(fault.rank);
    if (fault.kind == FaultKind::kSlowSpine) in = true;
    if (fault.kind == FaultKind::kSlowPath) {
      in = layout.NodeOf(r) == layout.NodeOf(fault.rank) ||
           layout.NodeOf(r) == layout.NodeOf(fault.peer);
    }
    if (fault.kind == FaultKind::kHangLink) {
      in = layout.GroupOf(Dimension::kData, r) == layout.GroupOf(Dimension::kData, fault.rank);
    }
    if (in) ranks.push_back(r);
  }
  return ranks;
}

bool Holds(const std::vector<RankId>& all, const std::vector<std::uint32_t>& some) {
  return std::all_of(some.begin(), some.end(), [&](std::uint32_t rank) {
    return std::find(all.begin(), all.end(), RankId(rank)) != all.end();
  });
}

bool Within(const std::vector<RankId>& some, const std::vector<std::uint32_t>& all) {
  return !some.empty() && std::all_of(some.begin(), some.end(), [&](RankId rank) {
    return std::binary_search(all.begin(), all.end(), rank.value);
  });
}

bool OnNode(const Layout& layout, const std::vector<RankId>& ranks, std::uint32_t of) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](RankId rank) { return layout.NodeOf(rank.value) == layout.NodeOf(of); });
}

// Of a device that many share the entity must be it: neither the port of one user, nor one end.
bool IsTheDevice(const Layout& layout, const Fault& fault, const Verdict& verdict) {
  const EntityType type = verdict.entity.type;
  switch (fault.kind) {
    case FaultKind::kSlowNvlink:
      return type != EntityType::kNic;
    case FaultKind::kSlowPath:
      return OnNode(layout, verdict.entity.ranks, fault.rank) &&
             OnNode(layout, verdict.entity.ranks, fault.peer);
    case FaultKind::kSlowLeaf:
      return type != EntityType::kNic && verdict.entity.ranks.size() > 1;
    case FaultKind::kSlowSpine:
      return type == EntityType::kSwitch && verdict.entity.ranks.size() == layout.world();
    default:
      return true;
  }
}

// What names communicators holds the device at least.
bool IsWide(const Fault& fault, const Verdict& verdict) {
  const EntityType type = verdict.entity.type;
  const bool narrow = type == EntityType::kNic || type == EntityType::kRank;
  return Holds(verdict.entity.ranks, {fault.rank}) && !(IsNetwork(fault.kind) && narrow);
}

Mark Against(const Layout& layout, const Fault& fault, const Verdict& verdict) {
  if (!CauseFits(fault.kind, verdict.cause)) return Mark::kWrong;
  const std::vector<std::uint32_t> concerned = Concerned(layout, fault);
  const bool within = Within(verdict.entity.ranks, concerned);
  if (within && IsTheDevice(layout, fault, verdict)) return Mark::kRight;
  return IsWide(fault, verdict) ? Mark::kWide : Mark::kWrong;
}

double SlowdownOf(const Scenario& scenario, const Outcome& outcome) {
  double well = 0, bad = 0, well_count = 0, bad_count = 0;
  for (std::size_t i = 0; i < outcome.iteration_s.size(); ++i) {
    const bool active = std::any_of(
        scenario.faults.begin(), scenario.faults.end(),
        [&](const Fault& fault) { return fault.ActiveIn(static_cast<std::int64_t>(i)); });
    (active ? bad : well) += outcome.iteration_s[i];
    (active ? bad_count : well_count) += 1;
  }
  return well > 0 && bad > 0 ? bad / bad_count / (well / well_count) : 1;
}

Mark AgainstDesign(const Verdict& verdict) {
  return verdict.cause == Cause::kImbalance || verdict.cause == Cause::kRegression ? Mark::kRight
                                                                                   : Mark::kWrong;
}

}  // namespace

std::string_view ToString(Mark mark) {
  switch (mark) {
    case Mark::kRight:
      return "right";
    case Mark::kWide:
      return "wide";
    case Mark::kAbstained:
      return "abstained";
    case Mark::kWrong:
      return "wrong";
  }
  return "";
}

Mark MarkOf(const Scenario& scenario, const Verdict& verdict) {
  const Layout layout(scenario);
  Mark best = Mark::kWrong;
  for (const Fault& fault : scenario.faults) {
    best = std::min(
        best, IsImbalance(fault.kind) ? AgainstDesign(verdict) : Against(layout, fault, verdict));
  }
  return best;
}

Score ScoreOf(const Scenario& scenario, const Outcome& outcome) {
  const Layout layout(scenario);
  Score score;
  score.mark = scenario.faults.empty() ? Mark::kRight : Mark::kAbstained;
  bool any = false;
  for (const Verdict& verdict : outcome.ever) {
    const Mark mark = MarkOf(scenario, verdict);
    if (mark == Mark::kWrong) {
      score.wrong.push_back(absl::StrCat(Subject(verdict), ": ", verdict.sentence));
    }
    score.mark = any ? std::max(score.mark, mark) : mark;
    any = true;
  }
  score.slowdown = SlowdownOf(scenario, outcome);
  const auto& last = outcome.diagnosis.verdicts;
  score.top1 =
      last.empty() ? scenario.faults.empty() : MarkOf(scenario, last.front()) == Mark::kRight;
  score.all_found =
      std::all_of(scenario.faults.begin(), scenario.faults.end(), [&](const Fault& fault) {
        return std::any_of(outcome.ever.begin(), outcome.ever.end(), [&](const Verdict& verdict) {
          return (IsImbalance(fault.kind) ? AgainstDesign(verdict)
                                          : Against(layout, fault, verdict)) == Mark::kRight;
        });
      });
  return score;
}

std::string TruthOf(const Scenario& scenario) {
  const Layout layout(scenario);
  std::string truth;
  for (const Fault& fault : scenario.faults) {
    absl::StrAppendFormat(&truth, "%s%s at rank %d (%s) since iteration %d",
                          truth.empty() ? "" : "; ", ToString(fault.kind), fault.rank,
                          NodeName(layout.NodeOf(fault.rank)), fault.from);
  }
  return truth.empty() ? "nothing is wrong" : truth;
}

}  // namespace fathom::simulate
