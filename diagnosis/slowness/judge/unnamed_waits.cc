#include "diagnosis/slowness/judge/unnamed_waits.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "diagnosis/stats/interval_set.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

bool IsUnnamed(const CommOp& op) { return IsPointToPoint(op.kind) && op.peer == kNoRank; }

// In which the caller is known to have been blocked on unnamed messages, as timeline.cc knows it.
IntervalSet TracedWaits(const RankRows& rows) {
  IntervalSet waits;
  for (const DeviceWait& wait : rows.device_waits) {
    const bool told = wait.op < rows.ops.size();
    if (told && IsUnnamed(rows.ops[wait.op])) waits.Add(wait.begin.ns, wait.end.ns);
  }
  for (const CommOp& op : rows.ops) {
    if (!IsUnnamed(op) || op.device_known()) continue;
    if (op.wait_start.known()) {
      if (op.wait_end.known()) waits.Add(op.wait_start.ns, op.wait_end.ns);
    } else if (op.api_return.known() && op.done() && op.end <= op.api_return) {
      waits.Add(op.enter.ns, op.api_return.ns);
    }
  }
  waits.Seal();
  return waits;
}

// Of an iteration, median: all time blocked in communication, and what of it in unnamed messages.
struct Waits {
  double all = 0;
  double unnamed = 0;
};

using UnnamedWaits = std::map<RankId, IntervalSet>;

std::map<RankId, Waits> WaitsIn(const JobView& view, const UnnamedWaits& unnamed,
                                const std::vector<Iteration>& wanted) {
  std::map<RankId, std::pair<std::vector<double>, std::vector<double>>> seen;
  for (const IterationSummary& it : view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), it.index)) continue;
    for (const RankIteration& r : it.ranks) {
      const auto waits = unnamed.find(r.rank);
      if (waits == unnamed.end()) continue;  // none of its rows are here
      auto& [all, in_messages] = seen[r.rank];
      all.push_back(r.blocked.Seconds());
      const std::int64_t waited = waits->second.Covered(r.begin.ns, (r.begin + r.duration).ns);
      in_messages.push_back(Nanos(waited).Seconds());
    }
  }
  std::map<RankId, Waits> typical;
  for (auto& [rank, values] : seen) {
    typical[rank] = {Median(std::move(values.first)), Median(std::move(values.second))};
  }
  return typical;
}

}  // namespace

bool HasUnnamedMessages(const JobView& view) {
  return std::any_of(view.rows.begin(), view.rows.end(), [](const auto& rank) {
    return std::any_of(rank.second.ops.begin(), rank.second.ops.end(), IsUnnamed);
  });
}

double OthersWaitLonger(const Case& c, const Ledger& ledger, RankId rank) {
  const double needed = c.config.explains_share * ledger.excess;
  UnnamedWaits unnamed;
  for (const auto& [of, rows] : c.view.rows) unnamed[of] = TracedWaits(rows);
  const auto before = WaitsIn(c.view, unnamed, c.graph.baseline());
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [other, now] : WaitsIn(c.view, unnamed, c.graph.irregular())) {
    const auto then = before.find(other);
    if (then == before.end()) return 0;
    const double all = now.all - then->second.all, more = now.unnamed - then->second.unnamed;
    if (other == rank) {
      if (all >= needed || more >= needed) return 0;
      continue;
    }
    if (more < needed || more < c.config.mostly_share * all) return 0;
    least = std::min(least, more);
  }
  return least < std::numeric_limits<double>::infinity() ? least : 0;
}

}  // namespace fathom::diagnosis
