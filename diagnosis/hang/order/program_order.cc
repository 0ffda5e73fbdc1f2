#include "diagnosis/hang/order/program_order.h"

#include <algorithm>

namespace fathom::diagnosis {
namespace {

enum class Order { kUnknown, kKept, kBroken };

// How many ops before `a` and before `b` are the same, up to kContext.
std::size_t Agreement(const std::vector<OpStep>& ops, std::size_t a, std::size_t b) {
  std::size_t n = 0;
  while (n < kContext && n < a && n < b && ops[a - 1 - n] == ops[b - 1 - n]) ++n;
  return n;
}

// The longest stretch that at least two places agree on; 0: there is none.
std::size_t SharedContext(const std::vector<std::size_t>& agreements) {
  std::size_t longest = 0, second = 0;
  for (const std::size_t n : agreements) {
    second = std::max(second, std::min(n, longest));
    longest = std::max(longest, n);
  }
  return second;
}

Order Judge(const std::vector<OpStep>& ops, std::size_t at, OrderBreak& found) {
  std::vector<std::size_t> agreements;
  for (std::size_t before = 1; before < at; ++before) {
    agreements.push_back(Agreement(ops, before, at));
  }
  const std::size_t context = SharedContext(agreements);
  if (context == 0) return Order::kUnknown;
  found.did = ops[at];
  found.times = 0;
  for (std::size_t before = 1; before < at; ++before) {
    if (agreements[before - 1] < context) continue;
    if (ops[before] == ops[at]) return Order::kKept;
    found.usual = ops[before];
    ++found.times;
  }
  return Order::kBroken;
}

Order JudgeRank(const std::vector<OpStep>& ops, OrderBreak& found) {
  if (ops.size() < 3) return Order::kUnknown;
  const std::size_t first = ops.size() - std::min(kTail, ops.size() / 2);
  for (std::size_t at = first; at < ops.size(); ++at) {
    const Order order = Judge(ops, at, found);
    if (order != Order::kKept) return order;
  }
  return Order::kKept;
}

}  // namespace

std::optional<OrderBreak> FindOrderBreak(const std::map<RankId, std::vector<OpStep>>& steps,
                                         const std::vector<RankId>& ring) {
  std::optional<OrderBreak> broken;
  for (const RankId rank : ring) {
    const auto ops = steps.find(rank);
    if (ops == steps.end()) return std::nullopt;
    OrderBreak found;
    found.rank = rank;
    const Order order = JudgeRank(ops->second, found);
    if (order == Order::kUnknown || (order == Order::kBroken && broken)) return std::nullopt;
    if (order == Order::kBroken) broken = found;
  }
  return broken;
}

}  // namespace fathom::diagnosis
