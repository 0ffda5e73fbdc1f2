#include "diagnosis/tables/longest_call.h"

#include <algorithm>

namespace fathom::diagnosis {

LongestCalls::LongestCalls(const JobView& view, double share) : share_(share) {
  for (const auto& [rank, rows] : view.rows) {
    for (const FunctionCall& call : rows.functions) {
      calls_[{rank, call.iteration}].push_back(&call);
    }
  }
}

LongestCall LongestCalls::In(RankId rank, Iteration iteration, MonoNs begin, MonoNs end) const {
  const auto at = calls_.find({rank, iteration});
  if (at == calls_.end() || end <= begin) return {};
  const double whole = (end - begin).Seconds();
  const FunctionCall* longest = nullptr;
  double covered = 0;
  for (const FunctionCall* call : at->second) {
    const double inside = (std::min(call->end, end) - std::max(call->begin, begin)).Seconds();
    if (inside <= 0) continue;
    const bool most = inside >= share_ * whole;
    const bool most_before = covered >= share_ * whole;
    const bool inner =
        longest != nullptr && call->end - call->begin < longest->end - longest->begin;
    const bool better = most && most_before ? inner : inside > covered;
    if (better) longest = call, covered = inside;
  }
  return longest == nullptr ? LongestCall{} : LongestCall{longest->name, covered};
}

}  // namespace fathom::diagnosis
