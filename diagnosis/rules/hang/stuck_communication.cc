#include "diagnosis/rules/hang/stuck_communication.h"

#include <algorithm>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// Whether `other`, open on the same rank, may keep it from carrying out `op`.
bool MayHoldUp(const OpenOp& op, const OpenOp& other) {
  if (other.group == op.group && other.sequence != kNoSequence) return other.sequence < op.sequence;
  return !op.started && other.age > op.age;
}

}  // namespace

bool HoldsItselfUp(const JobView& view, const StuckInstance& stuck) {
  if (!stuck.held_by.empty() || !stuck.unknown.empty() || stuck.inside.size() < 2) return false;
  const auto begun = std::count_if(stuck.inside.begin(), stuck.inside.end(),
                                   [](const auto& member) { return member.second.started; });
  if (begun > 0 && static_cast<std::size_t>(begun) < stuck.inside.size()) return false;
  return std::all_of(stuck.inside.begin(), stuck.inside.end(), [&](const auto& member) {
    const auto& open = FactsOf(view, member.first)->open_ops;
    return std::none_of(open.begin(), open.end(), [&](const OpenOp& other) {
      return MayHoldUp(member.second, other);
    });
  });
}

const StuckInstance* StuckAround(const JobView& view, const WaitFor& graph, RankId rank) {
  const auto at = graph.inside_of.find(rank);
  if (at == graph.inside_of.end()) return nullptr;
  for (const std::size_t i : at->second) {
    if (HoldsItselfUp(view, graph.instances[i])) return &graph.instances[i];
  }
  return nullptr;
}

}  // namespace fathom::diagnosis
