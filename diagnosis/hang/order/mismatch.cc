#include "diagnosis/hang/order/mismatch.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fathom::diagnosis {
namespace {

using Calls = std::map<std::pair<GroupId, Sequence>, std::map<RankId, Call>>;

bool SizesMustAgree(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kBroadcast;
}

// An op of live rows or an open op.
template <typename Op>
Call CallOf(const Op& op) {
  return {op.kind, SizesMustAgree(op.kind) ? op.bytes : 0, op.data_type, op.peer};
}

Calls CallsOf(const JobView& view) {
  Calls calls;
  for (const auto& [rank, rows] : view.rows) {
    for (const CommOp& op : rows.ops) {
      if (IsPointToPoint(op.kind) || op.sequence == kNoSequence) continue;
      calls[{op.group, op.sequence}][rank] = CallOf(op);
    }
  }
  for (const RankFacts& facts : view.ranks) {
    for (const OpenOp& op : facts.open_ops) {
      if (IsPointToPoint(op.kind) || op.sequence == kNoSequence) continue;
      calls[{op.group, op.sequence}][facts.rank] = CallOf(op);
    }
  }
  return calls;
}

// What one member does not tell cannot differ.
void ForgetWhatSomeDoNotTell(std::map<RankId, Call>& members) {
  bool types = true, roots = true;
  for (const auto& [rank, call] : members) {
    types &= call.type != DataType::kUnknown;
    roots &= call.root != kNoRank;
  }
  for (auto& [rank, call] : members) {
    if (!types) call.type = DataType::kUnknown;
    if (!roots) call.root = kNoRank;
  }
}

std::optional<Mismatch> Compare(std::map<RankId, Call> members) {
  ForgetWhatSomeDoNotTell(members);
  std::map<Call, std::vector<RankId>> sides;
  for (const auto& [rank, call] : members) sides[call].push_back(rank);
  if (sides.size() < 2) return std::nullopt;
  const auto larger = std::max_element(
      sides.begin(), sides.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Mismatch found;
  found.other_call = larger->first;
  const bool majority = 2 * larger->second.size() > members.size();
  for (const auto& [call, ranks] : sides) {
    const bool odd = majority && call != larger->first;
    if (call != larger->first) found.odd_call = call;
    auto& side = odd ? found.odd : found.others;
    side.insert(side.end(), ranks.begin(), ranks.end());
  }
  std::sort(found.odd.begin(), found.odd.end());
  std::sort(found.others.begin(), found.others.end());
  return found;
}

}  // namespace

std::optional<Mismatch> FindMismatch(const JobView& view) {
  for (const auto& [instance, members] : CallsOf(view)) {
    auto found = Compare(members);
    if (!found) continue;
    found->group = instance.first;
    found->sequence = instance.second;
    return found;
  }
  return std::nullopt;
}

}  // namespace fathom::diagnosis
