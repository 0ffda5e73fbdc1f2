#include "collector/export/perfetto/rank_part.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace fathom::collector::perfetto {
namespace {

using diagnosis::JobView;

// The begins of all slices that the rank would have.
std::vector<std::int64_t> BeginsOf(const JobView& view, const RankPart& part) {
  std::vector<std::int64_t> begins;
  for (const auto& summary : view.window) {
    if (const auto* row = RowOf(summary, part.rank)) begins.push_back(row->begin.ns);
  }
  if (part.rows != nullptr) {
    for (const diagnosis::CommOp& op : part.rows->ops) {
      if (op.arrival().known()) begins.push_back(op.arrival().ns);
      if (op.enter.known() && op.api_return >= op.enter) begins.push_back(op.enter.ns);
      if (op.wait_start.known() && op.wait_end >= op.wait_start) begins.push_back(op.wait_start.ns);
    }
    for (const diagnosis::Mark& mark : part.rows->marks) begins.push_back(mark.begin.ns);
    for (const auto& call : part.rows->functions) begins.push_back(call.begin.ns);
  }
  if (part.timelines == nullptr) return begins;
  for (const diagnosis::DeviceTimeline& timeline : *part.timelines) {
    const std::int64_t base = timeline.base;
    for (const auto& work : timeline.work.device) begins.push_back(base + work.begin);
    for (const auto& op : timeline.work.host_ops) begins.push_back(base + op.begin);
  }
  return begins;
}

// What was not even kept is left out as well, and what comes after it.
void CutWhereTimelinesEnd(RankPart& part) {
  if (part.timelines == nullptr) return;
  for (const diagnosis::DeviceTimeline& timeline : *part.timelines) {
    part.until = std::min(part.until, timeline.until);
    part.left_out += timeline.left_out;
  }
}

void Cut(std::uint64_t share, std::vector<std::int64_t>& begins, RankPart& part) {
  if (begins.size() > share) {
    const auto at = begins.begin() + static_cast<std::ptrdiff_t>(share);
    std::nth_element(begins.begin(), at, begins.end());
    part.until = std::min(part.until, *at);
  }
  part.left_out += static_cast<std::uint64_t>(std::count_if(
      begins.begin(), begins.end(), [&part](std::int64_t begin) { return begin >= part.until; }));
}

std::int64_t ShiftOf(const RankPart& part, const diagnosis::ClockAlignment& clocks,
                     const std::map<RankId, RankPart>& parts) {
  const auto clock = clocks.ranks.find(part.rank);
  if (clock == clocks.ranks.end()) return 0;
  const auto reference = parts.find(clock->second.reference);
  const bool known = part.facts != nullptr && !part.facts->node.empty() &&
                     reference != parts.end() && reference->second.facts != nullptr;
  if (known && part.facts->node == reference->second.facts->node) return 0;
  const std::int64_t offset = clock->second.offset.count;
  return std::abs(offset) > clock->second.residual.count ? offset : 0;
}

std::map<RankId, RankPart> AllOf(const JobView& view, const diagnosis::DeviceTimelines* timelines) {
  std::map<RankId, RankPart> parts;
  for (const auto& facts : view.ranks) parts[facts.rank].facts = &facts;
  for (const auto& [rank, rows] : view.rows) parts[rank].rows = &rows;
  if (timelines != nullptr) {
    for (const auto& [rank, of_rank] : *timelines) parts[rank].timelines = &of_rank;
  }
  for (auto& [rank, part] : parts) part.rank = rank;
  return parts;
}

}  // namespace

const diagnosis::RankIteration* RowOf(const diagnosis::IterationSummary& summary, RankId rank) {
  const auto row = std::lower_bound(
      summary.ranks.begin(), summary.ranks.end(), rank,
      [](const diagnosis::RankIteration& each, RankId wanted) { return each.rank < wanted; });
  const bool found = row != summary.ranks.end() && row->rank == rank && row->begin.known();
  return found ? &*row : nullptr;
}

std::vector<RankPart> PartsOf(const JobView& view, const diagnosis::DeviceTimelines* timelines,
                              const diagnosis::ClockAlignment* clocks, std::uint64_t most) {
  const std::map<RankId, RankPart> all = AllOf(view, timelines);
  std::vector<RankPart> parts;
  const std::uint64_t share = most / std::max<std::size_t>(all.size(), 1);
  for (const auto& [rank, part] : all) {
    parts.push_back(part);
    CutWhereTimelinesEnd(parts.back());
    std::vector<std::int64_t> begins = BeginsOf(view, part);
    Cut(share, begins, parts.back());
    if (clocks != nullptr) parts.back().shift = ShiftOf(part, *clocks, all);
  }
  return parts;
}

}  // namespace fathom::collector::perfetto
