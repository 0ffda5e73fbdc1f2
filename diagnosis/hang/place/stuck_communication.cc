#include "diagnosis/hang/place/stuck_communication.h"

#include <algorithm>
#include <utility>

#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

// Whether `other`, open on the same rank, may keep it from carrying out `op`.
bool MayHoldUp(const OpenOp& op, const OpenOp& other) {
  if (other.group == op.group && other.sequence != kNoSequence) return other.sequence < op.sequence;
  return !op.started && other.age > op.age;
}

}  // namespace

std::vector<RankId> Inside(const StuckInstance& stuck) {
  std::vector<RankId> ranks;
  for (const auto& [rank, op] : stuck.inside) ranks.push_back(rank);
  return ranks;
}

bool HoldsItselfUp(const JobView& view, const StuckInstance& stuck) {
  if (!stuck.held_by.empty() || !stuck.unknown.empty() || stuck.inside.size() < 2) return false;
  const auto begun = std::count_if(stuck.inside.begin(), stuck.inside.end(),
                                   [](const auto& member) { return member.second.started; });
  if (begun > 0 && static_cast<std::size_t>(begun) < stuck.inside.size()) return false;
  return std::all_of(stuck.inside.begin(), stuck.inside.end(), [&](const auto& member) {
    const auto& open = FactsOf(view, member.first)->open_ops;
    return std::none_of(open.begin(), open.end(),
                        [&](const OpenOp& other) { return MayHoldUp(member.second, other); });
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

std::vector<Piece> StuckPieces(const TroubledPaths& found,
                               const std::set<const StuckInstance*>& stuck) {
  std::vector<Piece> pieces = PiecesOf(found);
  std::set<Piece> known(pieces.begin(), pieces.end());
  for (const StuckInstance* instance : stuck) {
    Piece members = Inside(*instance);
    if (!found.Among(members).paths.empty() || !known.insert(members).second) continue;
    pieces.push_back(std::move(members));
  }
  return pieces;
}

}  // namespace fathom::diagnosis
