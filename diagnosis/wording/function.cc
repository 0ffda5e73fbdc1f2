#include "diagnosis/wording/function.h"

#include <algorithm>
#include <map>
#include <vector>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

using Sums = std::map<std::string, std::map<Iteration, double>>;

Sums SumsOf(const RankRows& rows) {
  Sums sums;
  for (const FunctionCall& call : rows.functions) {
    sums[call.name][call.iteration] += (call.end - call.begin).Seconds();
  }
  return sums;
}

double MedianOver(const std::map<Iteration, double>& sums, const std::vector<Iteration>& wanted) {
  std::vector<double> values;
  for (Iteration iteration : wanted) {
    const auto it = sums.find(iteration);
    values.push_back(it == sums.end() ? 0 : it->second);
  }
  return Median(std::move(values));
}

}  // namespace

std::string FunctionOf(const Case& c, RankId rank, double excess) {
  const auto rows = c.view.rows.find(rank);
  if (rows == c.view.rows.end()) return "";
  std::string innermost;
  double least = 0;
  for (const auto& [name, sums] : SumsOf(rows->second)) {
    const double more =
        MedianOver(sums, c.graph.irregular()) - MedianOver(sums, c.graph.baseline());
    if (more < c.config.mostly_share * excess) continue;
    if (innermost.empty() || more < least) innermost = name, least = more;
  }
  return innermost;
}

}  // namespace fathom::diagnosis
