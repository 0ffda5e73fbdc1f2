#include "diagnosis/functions/patterns/critical_share.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>

namespace fathom::diagnosis {
namespace {

struct Border {
  std::int64_t at = 0;
  bool begins = false;
  std::size_t execution = 0;
};

// First is who gets the credit: highest class, then latest begin, then the later one told.
using Rank = std::tuple<FunctionClass, std::int64_t, std::int64_t>;

Rank RankOf(const std::vector<Execution>& executions, std::size_t i) {
  return {executions[i].of, -executions[i].begin, -static_cast<std::int64_t>(i)};
}

}  // namespace

std::vector<double> CriticalShares(const std::vector<Execution>& executions, std::int64_t begin,
                                   std::int64_t end) {
  std::vector<Border> borders;
  std::uint32_t functions = 0;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const Execution& each = executions[i];
    functions = std::max(functions, each.function + 1);
    const std::int64_t from = std::max(each.begin, begin), to = std::min(each.end, end);
    if (to <= from) continue;
    borders.push_back({from, true, i});
    borders.push_back({to, false, i});
  }
  std::sort(borders.begin(), borders.end(),
            [](const Border& a, const Border& b) { return a.at < b.at; });
  std::vector<double> shares(functions, 0);
  std::set<Rank> running;
  std::int64_t since = begin;
  for (const Border& border : borders) {
    if (!running.empty() && border.at > since) {
      const auto first = static_cast<std::size_t>(-std::get<2>(*running.begin()));
      shares[executions[first].function] += static_cast<double>(border.at - since);
    }
    since = border.at;
    const Rank rank = RankOf(executions, border.execution);
    border.begins ? static_cast<void>(running.insert(rank))
                  : static_cast<void>(running.erase(rank));
  }
  for (double& share : shares) share /= static_cast<double>(std::max<std::int64_t>(1, end - begin));
  return shares;
}

}  // namespace fathom::diagnosis
