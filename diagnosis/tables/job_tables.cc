#include "diagnosis/tables/job_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "diagnosis/graph/critical_path.h"
#include "diagnosis/graph/execution_graph.h"
#include "diagnosis/stats/robust.h"
#include "diagnosis/tables/longest_call.h"

namespace fathom::diagnosis {
namespace {

double MedianOf(const IterationSummary& iteration, Nanos RankIteration::*field) {
  std::vector<double> values;
  for (const RankIteration& rank : iteration.ranks) values.push_back((rank.*field).Seconds());
  return Median(std::move(values));
}

std::vector<IterationRow> IterationsOf(const JobView& view) {
  std::vector<IterationRow> rows;
  for (const IterationSummary& iteration : view.window) {
    if (iteration.ranks.empty()) continue;
    const auto longest = std::max_element(
        iteration.ranks.begin(), iteration.ranks.end(),
        [](const RankIteration& a, const RankIteration& b) { return a.duration < b.duration; });
    IterationRow row;
    row.index = iteration.index;
    row.ranks = iteration.ranks.size();
    row.duration = MedianOf(iteration, &RankIteration::duration);
    row.longest = longest->duration.Seconds();
    row.longest_rank = longest->rank;
    row.compute = MedianOf(iteration, &RankIteration::device);
    if (row.compute <= 0) row.compute = MedianOf(iteration, &RankIteration::cpu);
    row.blocked = MedianOf(iteration, &RankIteration::blocked);
    row.gc = MedianOf(iteration, &RankIteration::gc);
    row.dataloader = MedianOf(iteration, &RankIteration::dataloader);
    rows.push_back(row);
  }
  return rows;
}

using Names = std::map<GroupId, std::string>;

Names NamesOf(const JobView& view) {
  Names names;
  for (const Group& group : view.groups) names[group.id] = group.name;
  return names;
}

std::string NameIn(const Names& names, GroupId id) {
  const auto at = names.find(id);
  return at == names.end() ? "" : at->second;
}

// False: fewer than two members are done, so that nobody came last.
bool Fill(const ExecutionGraph& graph, const Instance& instance, CollectiveRow& row) {
  std::vector<double> elapsed;
  double least = 0, most = 0, sum = 0;
  double most_bytes = 0, bytes = 0;
  for (const OpRef& ref : instance.members) {
    const RankTimeline& line = graph.lines()[ref.line];
    const CommOp& op = *line.ops[ref.op];
    if (!op.done()) continue;
    const double seconds = op.elapsed().Seconds();
    if (elapsed.empty() || seconds < least) least = seconds, row.last_rank = line.rank;
    elapsed.push_back(seconds);
    most = std::max(most, seconds);
    sum += seconds;
    most_bytes = std::max(most_bytes, static_cast<double>(op.bytes));
    bytes += static_cast<double>(op.bytes);
  }
  row.members = elapsed.size();
  if (elapsed.size() < 2) return false;
  row.wait = sum - static_cast<double>(elapsed.size()) * least;
  row.late = Median(std::move(elapsed)) - least;
  row.transfer = least;
  row.skew = most - least;
  const auto members = static_cast<double>(row.members);
  if (bytes > 0) row.bytes_imbalance = most_bytes * members / bytes;
  return true;
}

void FillBandwidth(GatherBytes gathers, CollectiveRow& row) {
  const double factor = BusFactor(row.kind, row.members);
  if (!(row.transfer > 0) || !(factor > 0)) return;
  row.bandwidth = WholeBytes(row.kind, row.bytes, row.members, gathers) / row.transfer;
  row.bus_bandwidth = factor * row.bandwidth;
}

std::vector<CollectiveRow> CollectivesOf(const ExecutionGraph& graph, const Names& names,
                                         GatherBytes gathers) {
  std::vector<CollectiveRow> rows;
  for (const Instance& instance : graph.instances().all()) {
    if (IsPointToPoint(instance.kind) || instance.members.empty()) continue;
    const OpRef& first = instance.members.front();
    CollectiveRow row;
    row.group = NameIn(names, instance.group);
    row.sequence = graph.lines()[first.line].ops[first.op]->sequence;
    row.kind = instance.kind;
    row.bytes = instance.bytes;
    row.iteration = instance.iteration;
    if (!Fill(graph, instance, row)) continue;
    FillBandwidth(gathers, row);
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const CollectiveRow& a, const CollectiveRow& b) {
    return std::tie(a.iteration, a.group, a.sequence) < std::tie(b.iteration, b.group, b.sequence);
  });
  return rows;
}

// Of local time on the host; what a device did in it is not kept.
void NameLongest(const LongestCalls& calls, const RankTimeline& line, std::size_t op,
                 PathRow& row) {
  const Gap& gap = line.gaps[op];
  if (gap.on_device || row.seconds <= 0) return;
  const MonoNs end = line.ops[op]->place();
  LongestCall longest =
      calls.In(row.rank, row.iteration, end - Nanos::FromSeconds(row.seconds), end);
  row.longest = std::move(longest.name);
  row.longest_s = longest.seconds;
}

std::vector<PathRow> PathOf(const JobView& view, const ExecutionGraph& graph, const Names& names,
                            double floor, double share) {
  std::vector<PathRow> rows;
  const LongestCalls calls(view, share);
  for (const IterationSummary& iteration : view.window) {
    std::vector<PathStep> steps = CriticalPath(graph, iteration.index, floor);
    std::reverse(steps.begin(), steps.end());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const RankTimeline& line = graph.lines()[steps[i].ref.line];
      const CommOp& op = *line.ops[steps[i].ref.op];
      rows.push_back({iteration.index, i, line.rank, steps[i].transfer, op.kind,
                      NameIn(names, op.group), steps[i].seconds, "", 0});
      if (!steps[i].transfer) NameLongest(calls, line, steps[i].ref.op, rows.back());
    }
  }
  return rows;
}

}  // namespace

JobTables TablesOf(const JobView& view, std::vector<RankTables> ranks) {
  JobTables tables;
  tables.world_size = view.world_size;
  tables.ranks = std::move(ranks);
  tables.iterations = IterationsOf(view);
  return tables;
}

void FillGraphTables(const JobView& view, const DiagnosisConfig& config, JobTables& tables) {
  const Names names = NamesOf(view);
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  tables.collectives = CollectivesOf(graph, names, tables.gathers);
  tables.path = PathOf(view, graph, names, config.wait_floor.Seconds(), config.mostly_share);
}

std::vector<BandwidthRow> BandwidthsIn(const JobView& view, const DiagnosisConfig& config,
                                       GatherBytes gathers) {
  const Names names = NamesOf(view);
  std::map<std::string, std::size_t> sizes;
  for (const Group& group : view.groups) sizes[NameIn(names, group.id)] = group.size;
  const ExecutionGraph graph(view, {}, Iteration(-1), config);
  std::vector<CollectiveRow> rows = CollectivesOf(graph, names, gathers);
  std::erase_if(rows, [&](const CollectiveRow& row) { return row.members < sizes[row.group]; });
  return BandwidthsOf(rows);
}

}  // namespace fathom::diagnosis
