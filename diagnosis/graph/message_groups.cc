#include "diagnosis/graph/message_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

namespace fathom::diagnosis {
namespace {

// Size, and the distance between neighbouring members.
using Shape = std::pair<std::size_t, std::uint32_t>;

std::optional<Shape> ShapeOf(const Group& group) {
  const std::vector<RankId>& members = group.members;
  if (members.size() < 2) return std::nullopt;
  const std::uint32_t stride = members[1].value - members[0].value;
  for (std::size_t i = 2; i < members.size(); ++i) {
    if (members[i].value - members[i - 1].value != stride) return std::nullopt;
  }
  return Shape{members.size(), stride};
}

// Groups in the rows; true: with messages.
std::unordered_map<GroupId, bool> SeenIn(const JobView& view) {
  std::unordered_map<GroupId, bool> seen;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) seen[op.group] |= IsPointToPoint(op.kind);
  }
  return seen;
}

}  // namespace

std::set<GroupId> MessageGroups(const JobView& view) {
  const auto seen = SeenIn(view);
  std::set<GroupId> found;
  std::set<Shape> with, without;
  for (const Group& group : view.groups) {
    const auto at = seen.find(group.id);
    if (at == seen.end()) continue;
    if (at->second) found.insert(group.id);
    if (const auto shape = ShapeOf(group)) (at->second ? with : without).insert(*shape);
  }
  for (const Group& group : view.groups) {
    const auto shape = ShapeOf(group);
    if (shape && !seen.contains(group.id) && with.contains(*shape) && !without.contains(*shape)) {
      found.insert(group.id);
    }
  }
  return found;
}

bool CarriesMessages(const JobView& view) {
  return std::any_of(view.rows.begin(), view.rows.end(), [](const auto& entry) {
    return std::any_of(entry.second.ops.begin(), entry.second.ops.end(),
                       [](const CommOp& op) { return IsPointToPoint(op.kind); });
  });
}

}  // namespace fathom::diagnosis
