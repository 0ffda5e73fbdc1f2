#include "diagnosis/evidence/work_growth.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "diagnosis/model/lookup.h"
#include "diagnosis/model/rank_times.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

struct Work {
  double launches = 0;
  double ops = 0;
  std::map<GroupId, std::pair<double, double>> bytes;  // and of how many ops
};

std::map<Iteration, Work> WorkOf(const std::vector<CommOp>& ops) {
  std::map<Iteration, Work> work;
  for (const CommOp& op : ops) {
    Work& of = work[op.iteration];
    of.launches += static_cast<double>(op.launches);
    ++of.ops;
    auto& [bytes, count] = of.bytes[op.group];
    bytes += static_cast<double>(op.bytes);
    ++count;
  }
  return work;
}

struct Level {
  std::vector<double> launches, ops;
  std::map<GroupId, std::vector<double>> bytes;  // an op
};

Level LevelOf(const std::map<Iteration, Work>& work, const std::vector<Iteration>& wanted) {
  Level level;
  for (const Iteration iteration : wanted) {
    const auto at = work.find(iteration);
    if (at == work.end()) continue;
    level.launches.push_back(at->second.launches);
    level.ops.push_back(at->second.ops);
    for (const auto& [group, sum] : at->second.bytes) {
      level.bytes[group].push_back(sum.first / sum.second);
    }
  }
  return level;
}

// What `figure` says of the rank in each of those iterations that is in the window.
template <typename Figure>
std::vector<double> FiguresIn(const Case& c, RankId rank, const std::vector<Iteration>& wanted,
                              Figure figure) {
  std::vector<double> figures;
  for (const IterationSummary& it : c.view.window) {
    if (!std::binary_search(wanted.begin(), wanted.end(), it.index)) continue;
    const RankIteration* row = RankIn(it, rank);
    if (row != nullptr) figures.push_back(figure(*row));
  }
  return figures;
}

double ElementsOf(const RankIteration& row) { return static_cast<double>(row.batch_elements); }
double OwnSeconds(const RankIteration& row) { return (row.duration - row.blocked).Seconds(); }
double WorkingSeconds(const RankIteration& row) { return OwnTimeOf(row).Seconds(); }

void Raise(const std::vector<double>& before, const std::vector<double>& now, std::string what,
           WorkGrowth& most) {
  const double usual = Median(before);
  if (usual <= 0 || now.empty()) return;
  const double times = Median(now) / usual;
  if (times > most.times) most = {times, std::move(what)};
}

}  // namespace

std::optional<WorkGrowth> WorkGrowthOf(const Case& c, RankId rank) {
  const auto rows = c.view.rows.find(rank);
  if (rows == c.view.rows.end()) return std::nullopt;
  const std::map<Iteration, Work> work = WorkOf(rows->second.ops);
  const Level before = LevelOf(work, c.graph.baseline());
  const Level now = LevelOf(work, c.graph.irregular());
  if (before.ops.empty() || now.ops.empty()) return std::nullopt;
  WorkGrowth most;
  Raise(before.launches, now.launches, "launches of kernels", most);
  Raise(before.ops, now.ops, "communication ops", most);
  Raise(FiguresIn(c, rank, c.graph.baseline(), ElementsOf),
        FiguresIn(c, rank, c.graph.irregular(), ElementsOf), "elements of batches", most);
  for (const auto& [group, bytes] : now.bytes) {
    const auto then = before.bytes.find(group);
    if (then == before.bytes.end()) continue;
    const Group* known = FindGroup(c.view, group);
    const bool named = known != nullptr && !known->description.empty();
    const std::string where = named ? absl::StrCat(" on ", known->description) : "";
    Raise(then->second, bytes, absl::StrCat("bytes of communication", where), most);
  }
  return most;
}

double FlopGrowthOf(const Case& c, RankId rank) {
  const auto flop = [](const RankIteration& row) { return static_cast<double>(row.mega_flop); };
  const double before = Median(FiguresIn(c, rank, c.graph.baseline(), flop));
  return before > 0 ? Median(FiguresIn(c, rank, c.graph.irregular(), flop)) / before : 0;
}

OwnTime OwnTimeOf(const Case& c, RankId rank) {
  const auto median = [&](const std::vector<Iteration>& wanted, auto figure) {
    return Median(FiguresIn(c, rank, wanted, figure));
  };
  const std::vector<Iteration>& before = c.graph.baseline();
  const std::vector<Iteration>& now = c.graph.irregular();
  return {median(before, OwnSeconds), median(now, OwnSeconds), median(before, WorkingSeconds),
          median(now, WorkingSeconds)};
}

}  // namespace fathom::diagnosis
