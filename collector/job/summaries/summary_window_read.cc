// The reading half of SummaryWindow: views for diagnosis, the page and the metrics.
#include <algorithm>
#include <utility>

#include "collector/admission/limits.h"
#include "collector/job/summaries/one_rate.h"
#include "collector/job/summaries/summary_window.h"

namespace fathom::collector {
namespace {

struct Waited {
  GroupId group;
  std::uint64_t elapsed;
  std::size_t rank;
  friend auto operator<=>(const Waited&, const Waited&) = default;
};

// One communicator in one iteration: the members' elapsed times, ascending.
void Charge(std::vector<Waited>::const_iterator first, std::vector<Waited>::const_iterator last,
            std::vector<HeatCell>& cells) {
  const std::uint64_t median = (first + (last - first) / 2)->elapsed;
  const std::uint64_t shortest = first->elapsed;
  for (auto at = first; at != last; ++at) {
    HeatCell& cell = cells[at->rank];
    if (median > at->elapsed) cell.late_us = std::max(cell.late_us, median - at->elapsed);
    cell.wait_us += at->elapsed - shortest;
  }
}

}  // namespace

std::vector<HeatCell> SummaryWindow::Cells(std::size_t slot) const {
  std::vector<HeatCell> cells;
  std::vector<Waited> waited;
  cells.reserve(entries_.size());
  for (const auto& [rank, entry] : entries_) {
    if (entry.window->Has(slot)) {
      entry.window->ForEachElapsed(slot, [&](GroupId group, std::uint64_t elapsed) {
        waited.push_back({group, elapsed, cells.size()});
      });
    }
    cells.push_back(entry.window->Own(slot));
  }
  std::sort(waited.begin(), waited.end());
  for (auto first = waited.cbegin(); first != waited.cend();) {
    auto last = first;
    while (last != waited.cend() && last->group == first->group) ++last;
    Charge(first, last, cells);
    first = last;
  }
  return cells;
}

SummaryWindow::Snapshot SummaryWindow::SettledAfter(std::int64_t after, bool job_over) const {
  std::vector<std::int64_t> settled;
  const std::int64_t old = newest() - std::int64_t{kSettlingIterations};
  for (const std::int64_t iteration : slots_.Sorted()) {
    if (iteration <= after) continue;
    const bool whole = reports_[*slots_.Find(iteration)] == entries_.size();
    if (!whole && iteration > old && !job_over) break;
    settled.push_back(iteration);
  }
  return settled.empty() ? Snapshot() : Share(settled);
}

SummaryWindow::Snapshot SummaryWindow::Share(const std::vector<std::int64_t>& which) const {
  Snapshot snapshot;
  snapshot.by_messages = by_messages_;
  for (const std::int64_t iteration : which) {
    const std::size_t slot = *slots_.Find(iteration);
    snapshot.slots.push_back(
        {slot, Iteration(iteration), begin_[slot], reports_[slot], sums_[slot]});
  }
  snapshot.ranks.reserve(entries_.size());
  for (const auto& [rank, entry] : entries_) {
    snapshot.ranks.emplace_back(rank, entry.window.Share());
  }
  return snapshot;
}

std::vector<diagnosis::IterationSummary> SummaryWindow::Snapshot::View() const {
  std::vector<diagnosis::IterationSummary> view;
  for (const Slot& slot : slots) {
    diagnosis::IterationSummary& summary = view.emplace_back();
    summary.index = slot.index;
    summary.begin = slot.begin;
    summary.issued = slot.sums.issued;
    summary.flop = slot.sums.flop;
    summary.ranks.reserve(slot.reports);
  }
  // Rank by rank: what a rank holds lies together, ranks lie apart.
  for (const auto& [rank, window] : ranks) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!window->Has(slots[i].place)) continue;
      view[i].ranks.push_back(window->Get(slots[i].place));
      view[i].ranks.back().rank = rank;
    }
  }
  if (by_messages) KeepOneRate(view);
  return view;
}

std::vector<StripEntry> SummaryWindow::Strip(std::int64_t after, std::size_t limit) const {
  const auto first = std::upper_bound(
      strip_.begin(), strip_.end(), after,
      [](std::int64_t wanted, const StripEntry& entry) { return wanted < entry.iteration; });
  const auto count = std::min<std::size_t>(limit, static_cast<std::size_t>(strip_.end() - first));
  std::vector<StripEntry> strip(strip_.end() - static_cast<std::ptrdiff_t>(count), strip_.end());
  for (StripEntry& entry : strip) {
    if (const auto slot = slots_.Find(entry.iteration)) entry.duration = MedianDuration(*slot);
  }
  return strip;
}

std::vector<std::vector<HeatCell>> SummaryWindow::Heat(
    const std::vector<std::int64_t>& iterations) const {
  std::vector<std::vector<HeatCell>> heat;
  heat.reserve(iterations.size());
  for (const std::int64_t iteration : iterations) {
    if (const auto slot = slots_.Find(iteration)) {
      heat.push_back(Cells(*slot));
      continue;
    }
    auto& cells = heat.emplace_back();
    cells.reserve(entries_.size());
    for (const auto& [rank, entry] : entries_) cells.push_back(entry.window->Recall(iteration));
  }
  return heat;
}

std::vector<RankId> SummaryWindow::ranks() const {
  std::vector<RankId> ranks;
  ranks.reserve(entries_.size());
  for (const auto& [rank, entry] : entries_) ranks.push_back(rank);
  return ranks;
}

Nanos SummaryWindow::RecentDuration(std::size_t iterations) const {
  std::vector<std::size_t> slots;
  const auto sorted = slots_.Sorted();
  // The newest may still lack ranks.
  for (auto at = sorted.rbegin(); at != sorted.rend() && slots.size() < iterations; ++at) {
    if (at == sorted.rbegin() && sorted.size() > 1) continue;
    slots.push_back(*slots_.Find(*at));
  }
  std::vector<Nanos> durations = MedianDurations(slots);
  if (durations.empty()) return Nanos();
  std::sort(durations.begin(), durations.end());
  return durations[durations.size() / 2];
}

std::int64_t SummaryWindow::OwnIteration(RankId rank, std::int64_t iteration) const {
  const auto at = entries_.find(rank);
  return at == entries_.end() || !at->second.offset ? -1 : iteration - *at->second.offset;
}

std::int64_t SummaryWindow::JobIteration(RankId rank, std::int64_t own) const {
  const auto at = entries_.find(rank);
  if (at == entries_.end() || !at->second.offset || own < 0) return -1;
  return own + *at->second.offset;
}

bool SummaryWindow::MayHaveTold(RankId rank, std::int64_t iteration) const {
  const auto at = entries_.find(rank);
  const auto slot = slots_.Find(iteration);
  if (at == entries_.end() || iteration > newest()) return false;
  return !slot || at->second.window->Has(*slot);
}

std::size_t SummaryWindow::OpsOf(RankId rank) const {
  const auto at = entries_.find(rank);
  if (at == entries_.end()) return 0;
  const RankWindow& window = *at->second.window;
  const auto sorted = slots_.Sorted();
  for (auto it = sorted.rbegin(); it != sorted.rend(); ++it) {
    const std::size_t slot = *slots_.Find(*it);
    if (window.Has(slot)) return static_cast<std::size_t>(window.Get(slot).ops);
  }
  return 0;
}

std::vector<Nanos> SummaryWindow::TakeCompleted(bool job_over) {
  std::vector<Nanos> durations;
  const std::int64_t up_to = job_over ? newest() : newest() - std::int64_t{kSettlingIterations};
  for (const std::int64_t iteration : slots_.Sorted()) {
    if (iteration <= completed_up_to_ || iteration > up_to) continue;
    durations.push_back(MedianDuration(*slots_.Find(iteration)));
  }
  completed_up_to_ = std::max(completed_up_to_, up_to);
  return durations;
}

}  // namespace fathom::collector
