#include "collector/export/html/page_data.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "collector/export/html/one_iteration.h"
#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

using diagnosis::IterationSummary;
using diagnosis::JobView;
using diagnosis::RankIteration;

constexpr std::size_t kBeforeOnset = 60;

struct Cell {
  bool present = false;
  std::int64_t late_us = 0, wait_us = 0, cpu_us = 0, blocked_us = 0;
};

Iteration OnsetOf(const PageInput& input) {
  return input.verdicts.empty() ? Iteration(-1) : input.verdicts[0].verdict.since_iteration;
}

std::vector<RankId> RanksOf(const JobView& view) {
  std::set<RankId> ranks;
  for (const auto& summary : view.window) {
    for (const RankIteration& row : summary.ranks) ranks.insert(row.rank);
  }
  return {ranks.begin(), ranks.end()};
}

// Late and wait as the collector's window has them: in each communicator, late behind its median
// member, waited longer than its last.
std::map<RankId, Cell> CellsOf(const IterationSummary& summary) {
  std::map<RankId, Cell> cells;
  std::map<GroupId, std::vector<std::pair<std::int64_t, RankId>>> elapsed;
  for (const RankIteration& row : summary.ranks) {
    cells[row.rank] = {true, 0, 0, row.cpu.count / 1000, row.blocked.count / 1000};
    for (const auto& group : row.groups) {
      elapsed[group.group].emplace_back(group.elapsed.count / 1000, row.rank);
    }
  }
  for (auto& [group, members] : elapsed) {
    std::sort(members.begin(), members.end());
    const std::int64_t median = members[members.size() / 2].first;
    for (const auto& [us, rank] : members) {
      Cell& cell = cells[rank];
      cell.late_us = std::max(cell.late_us, median - us);
      cell.wait_us += us - members.front().first;
    }
  }
  return cells;
}

std::int64_t MedianDurationUs(const IterationSummary& summary) {
  std::vector<std::int64_t> all;
  for (const RankIteration& row : summary.ranks) all.push_back(row.duration.count / 1000);
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

using Cells = std::vector<std::map<RankId, Cell>>;

void WriteMatrix(std::string_view name, const Cells& cells, const std::vector<RankId>& ranks,
                 std::int64_t Cell::*field, JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const auto& row : cells) {
    json.BeginArray();
    for (const RankId rank : ranks) {
      const auto at = row.find(rank);
      if (at == row.end() || !at->second.present) {
        json.Null();
      } else {
        json.Value(at->second.*field);
      }
    }
    json.EndArray();
  }
  json.EndArray();
}

template <typename F>
void WriteColumn(std::string_view name, const std::vector<const IterationSummary*>& kept, F&& value,
                 JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const IterationSummary* summary : kept) json.Value(value(*summary));
  json.EndArray();
}

void WriteIterations(const PageInput& input, JsonWriter& json) {
  const Iteration onset = OnsetOf(input);
  std::vector<const IterationSummary*> kept;
  for (const std::size_t at : KeptIterations(input.view, onset)) {
    kept.push_back(&input.view.window[at]);
  }
  const std::vector<RankId> ranks = RanksOf(input.view);
  json.Key("iterations").BeginObject();
  WriteColumn(
      "iterations", kept, [](const auto& s) { return s.index.value; }, json);
  WriteColumn(
      "begin_unix_ms", kept, [](const auto& s) { return s.begin.ns / 1'000'000; }, json);
  WriteColumn("duration_us", kept, MedianDurationUs, json);
  json.Key("onset");
  if (onset.value >= 0) {
    json.Value(onset.value);
  } else {
    json.Null();
  }
  json.Key("ranks").BeginArray();
  for (const RankId rank : ranks) json.Value(rank.value);
  json.EndArray();
  Cells cells;
  for (const IterationSummary* summary : kept) cells.push_back(CellsOf(*summary));
  WriteMatrix("late_us", cells, ranks, &Cell::late_us, json);
  WriteMatrix("wait_us", cells, ranks, &Cell::wait_us, json);
  WriteMatrix("cpu_us", cells, ranks, &Cell::cpu_us, json);
  WriteMatrix("blocked_us", cells, ranks, &Cell::blocked_us, json);
  json.EndObject();
}

void WriteRanks(const JobView& view, JsonWriter& json) {
  json.Key("ranks").BeginArray();
  for (const auto& rank : view.ranks) {
    json.BeginObject().Field("rank", rank.rank.value).Field("node", rank.node);
    json.Field("pid", rank.pid).EndObject();
  }
  json.EndArray();
}

}  // namespace

std::vector<std::size_t> KeptIterations(const JobView& view, Iteration onset) {
  const std::size_t all = view.window.size();
  const std::size_t ranks = std::max<std::size_t>(1, RanksOf(view).size());
  const std::size_t most = std::max(kLeastIterations, kMostCells / ranks);
  std::size_t first_newest = all > most ? all - most : 0;
  std::vector<std::size_t> kept;
  const auto at = std::find_if(view.window.begin(), view.window.end(),
                               [onset](const auto& summary) { return summary.index >= onset; });
  const auto onset_at = static_cast<std::size_t>(at - view.window.begin());
  if (onset.value >= 0 && onset_at < all && onset_at < first_newest + kBeforeOnset && all > most) {
    first_newest = all - most / 2;
    const std::size_t from = onset_at > kBeforeOnset ? onset_at - kBeforeOnset : 0;
    for (std::size_t i = from; i < std::min(from + most / 2, first_newest); ++i) kept.push_back(i);
  }
  for (std::size_t i = first_newest; i < all; ++i) kept.push_back(i);
  return kept;
}

std::string PageData(const PageInput& input) {
  JsonWriter json;
  json.BeginObject().Key("report").Raw(input.report);
  WriteIterations(input, json);
  json.Key("pictures");
  WritePictures(input.view, input.verdicts, json);
  WriteRanks(input.view, json);
  json.Key("notes").BeginArray();
  for (const std::string& note : input.notes) json.Value(note);
  json.EndArray().Key("files").BeginArray();
  for (const auto& [path, format] : input.files) {
    json.BeginObject().Field("path", path).Field("format", format).EndObject();
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fathom::collector
