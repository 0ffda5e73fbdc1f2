#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "diagnosis/hang/place/odd_one_out.h"

namespace fathom::diagnosis::records {
namespace {

struct Call {
  CollectiveKind kind;
  DataType type;
  std::uint64_t elements;  // 0 where members may differ
  bool even;
};

using Position = std::pair<GroupId, Sequence>;
using Calls = std::map<RankId, Call>;

std::string Describe(const Call& call) {
  const std::string kind(CollectiveKindName(call.kind));
  if (call.elements == 0) return kind;
  return absl::StrFormat("%s of %d %s", kind, call.elements, DataTypeName(call.type));
}

// What each rank called at each position. Positions that hold several calls of one rank (coalesced
// ops) are left out.
std::map<Position, Calls> Collect(const JobView& view, bool ended) {
  std::set<GroupId> stuck;
  for (const RankRecord& record : view.records) {
    for (const EnteredOp& op : record.ops) {
      if (op.open || ended) stuck.insert(op.group);
    }
  }
  std::map<Position, Calls> calls;
  std::set<Position> several;
  for (const RankRecord& record : view.records) {
    for (const EnteredOp& op : record.ops) {
      if (IsPointToPoint(op.kind) || op.sequence == kNoSequence || !stuck.contains(op.group) ||
          op.kind == CollectiveKind::kUnknown) {
        continue;
      }
      const Call call{op.kind, op.data_type, op.even ? op.elements : 0, op.even};
      const Position at{op.group, op.sequence};
      if (!calls[at].emplace(record.rank, call).second) several.insert(at);
    }
  }
  for (const Position& at : several) calls.erase(at);
  return calls;
}

// The first of kind, type, size in which the calls differ; null if in none.
const char* Difference(const Calls& calls) {
  const Call& first = calls.begin()->second;
  const auto differs = [&](auto field) {
    return std::any_of(calls.begin(), calls.end(),
                       [&](const auto& c) { return c.second.*field != first.*field; });
  };
  if (differs(&Call::kind)) return "kind";
  // A barrier has no elements; an all-to-all may have none on some ranks.
  if (!std::all_of(calls.begin(), calls.end(), [](const auto& c) { return c.second.even; })) {
    return nullptr;
  }
  const bool typed = std::all_of(calls.begin(), calls.end(),
                                 [](const auto& c) { return c.second.type != DataType::kUnknown; });
  if (typed && differs(&Call::type)) return "type";
  return differs(&Call::elements) ? "size" : nullptr;
}

auto Part(const Call& call, std::string_view difference) {
  if (difference == "kind") return static_cast<std::uint64_t>(call.kind);
  if (difference == "type") return static_cast<std::uint64_t>(call.type);
  return call.elements;
}

Mismatch Judge(const Position& at, const Calls& calls, std::string_view difference) {
  std::map<std::uint64_t, std::vector<RankId>> sides;
  for (const auto& [rank, call] : calls) sides[Part(call, difference)].push_back(rank);
  const auto largest = std::max_element(
      sides.begin(), sides.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Mismatch mismatch{at.first, at.second, std::string(difference), {}, largest->second, "",
                    "",       true};
  mismatch.majority = 2 * largest->second.size() > calls.size();
  mismatch.other_call = Describe(calls.at(largest->second.front()));
  for (const auto& [value, ranks] : sides) {
    if (value == largest->first) continue;
    if (mismatch.odd_call.empty()) mismatch.odd_call = Describe(calls.at(ranks.front()));
    mismatch.odd.insert(mismatch.odd.end(), ranks.begin(), ranks.end());
  }
  if (!mismatch.majority) {
    mismatch.odd.insert(mismatch.odd.end(), mismatch.others.begin(), mismatch.others.end());
  }
  std::sort(mismatch.odd.begin(), mismatch.odd.end());
  return mismatch;
}

}  // namespace

std::optional<Mismatch> FindMismatch(const JobView& view, bool ended) {
  for (const auto& [at, calls] : Collect(view, ended)) {
    if (calls.size() < 2) continue;
    const char* difference = Difference(calls);
    if (difference != nullptr) return Judge(at, calls, difference);
  }
  return std::nullopt;
}

}  // namespace fathom::diagnosis::records
