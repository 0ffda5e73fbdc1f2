#include "collector/job/summaries/rank_window.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace fathom::collector {
namespace {

std::uint32_t Saturated(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

std::uint32_t Micros(Nanos t) {
  return Saturated(static_cast<std::uint64_t>(std::max<std::int64_t>(t.count, 0) / 1000));
}

Micro16 Code(Nanos t) { return ToMicro16(Micros(t)); }
Nanos Decode(Micro16 code) { return Nanos(static_cast<std::int64_t>(FromMicro16(code)) * 1000); }

}  // namespace

RankWindow::RankWindow(const RankWindow& other)
    : cells_(other.cells_),
      rare_(other.rare_ ? std::make_unique<std::vector<RareCell>>(*other.rare_) : nullptr),
      beside_(other.beside_ ? std::make_unique<std::vector<BesideCell>>(*other.beside_) : nullptr),
      groups_(other.groups_),
      group_cells_(other.group_cells_),
      history_(other.history_ ? std::make_unique<History>(*other.history_) : nullptr) {}

std::size_t RankWindow::SlotBytes(std::size_t columns, bool rare, bool beside) {
  return sizeof(Cell) + sizeof(GroupCell) * std::min(columns, kMaxGroupColumnsPerRank) +
         (rare ? sizeof(RareCell) : 0) + (beside ? sizeof(BesideCell) : 0);
}

std::size_t RankWindow::SlotBytesWith(const diagnosis::RankIteration& row) const {
  std::size_t columns = groups_.size();
  for (const auto& g : row.groups) {
    columns += std::find(groups_.begin(), groups_.end(), g.group) == groups_.end();
  }
  const bool rare = rare_ != nullptr || RareOf(row) != RareCell();
  const bool beside = beside_ != nullptr || BesideOf(row) != BesideCell();
  return SlotBytes(columns, rare, beside);
}

RankWindow::RareCell RankWindow::RareOf(const diagnosis::RankIteration& row) {
  return {Code(row.device_wait),    ToMicro16(Saturated(row.batch_elements)),
          Code(row.loader_starved), Code(row.void_between),
          Code(row.void_within),    ToMicro16(row.mega_flop)};
}

RankWindow::BesideCell RankWindow::BesideOf(const diagnosis::RankIteration& row) {
  return {Code(row.unsure), Code(row.beside), Code(row.leading)};
}

template <typename T>
void RankWindow::PutRare(std::size_t slot, const T& cell, std::unique_ptr<std::vector<T>>& cells) {
  const bool any = cell != T();
  if (any && !cells) cells = std::make_unique<std::vector<T>>(cells_.size());
  if (cells) (*cells)[slot] = cell;
}

void RankWindow::AddColumns(const diagnosis::RankIteration& row) {
  const std::size_t before = groups_.size();
  for (const auto& g : row.groups) {
    if (groups_.size() == kMaxGroupColumnsPerRank) break;
    if (std::find(groups_.begin(), groups_.end(), g.group) == groups_.end()) {
      groups_.push_back(g.group);
    }
  }
  const std::size_t after = groups_.size();
  if (before == after) return;
  groups_.shrink_to_fit();
  std::vector<GroupCell> wider(cells_.size() * after);
  for (std::size_t s = 0; s < cells_.size(); ++s) {
    for (std::size_t g = 0; g < before; ++g) wider[s * after + g] = group_cells_[s * before + g];
  }
  group_cells_ = std::move(wider);
}

bool RankWindow::Put(std::size_t slot, const diagnosis::RankIteration& row) {
  if (Has(slot)) return false;
  AddColumns(row);
  cells_[slot] = {std::max<std::int64_t>(row.begin.ns, 1),
                  Micros(row.duration),
                  Code(row.cpu),
                  Code(row.runqueue),
                  Code(row.blocked),
                  Code(row.gc),
                  Code(row.dataloader),
                  ToMicro16(row.ops)};
  PutRare(slot, RareOf(row), rare_);
  PutRare(slot, BesideOf(row), beside_);
  for (const auto& g : row.groups) {
    const auto at = std::find(groups_.begin(), groups_.end(), g.group);
    if (at == groups_.end()) continue;
    group_cells_[slot * groups_.size() + static_cast<std::size_t>(at - groups_.begin())] = {
        ToMicro16(g.count), Code(g.elapsed), Code(g.shortest), Code(g.longest), Code(g.first)};
  }
  return true;
}

diagnosis::RankIteration RankWindow::Get(std::size_t slot) const {
  const Cell& cell = cells_[slot];
  diagnosis::RankIteration row;
  row.begin = MonoNs(cell.begin_ns);
  row.duration = Nanos(std::int64_t{cell.duration_us} * 1000);
  row.cpu = Decode(cell.cpu);
  row.runqueue = Decode(cell.runqueue);
  row.blocked = Decode(cell.blocked);
  row.gc = Decode(cell.gc);
  row.dataloader = Decode(cell.dataloader);
  const RareCell rare = rare_ ? (*rare_)[slot] : RareCell();
  row.device_wait = Decode(rare.device_wait);
  row.batch_elements = FromMicro16(rare.batch_elements);
  row.void_between = Decode(rare.void_between);
  row.void_within = Decode(rare.void_within);
  row.mega_flop = Saturated(FromMicro16(rare.mega_flop));
  row.loader_starved = Decode(rare.loader_starved);
  const BesideCell beside = beside_ ? (*beside_)[slot] : BesideCell();
  row.unsure = Decode(beside.unsure);
  row.beside = Decode(beside.beside);
  row.leading = Decode(beside.leading);
  row.ops = static_cast<std::uint32_t>(FromMicro16(cell.ops));
  row.groups.reserve(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const GroupCell& c = group_cells_[slot * groups_.size() + g];
    if (c.count == 0) continue;
    row.groups.push_back({groups_[g], static_cast<std::uint32_t>(FromMicro16(c.count)),
                          Decode(c.elapsed), Decode(c.shortest), Decode(c.longest),
                          Decode(c.first)});
  }
  return row;
}

HeatCell RankWindow::Own(std::size_t slot) const {
  const Cell& cell = cells_[slot];
  return {cell.begin_ns != 0, 0, 0, FromMicro16(cell.cpu), FromMicro16(cell.blocked)};
}

void RankWindow::ClearSlot(std::size_t slot) {
  cells_[slot] = Cell();
  if (rare_) (*rare_)[slot] = {};
  if (beside_) (*beside_)[slot] = {};
  for (std::size_t g = 0; g < groups_.size(); ++g) group_cells_[slot * groups_.size() + g] = {};
}

void RankWindow::Relayout(const std::vector<std::size_t>& to, std::size_t slots) {
  std::vector<Cell> cells(slots);
  std::vector<GroupCell> group_cells(slots * groups_.size());
  std::vector<RareCell> rare(rare_ ? slots : 0);
  std::vector<BesideCell> beside(beside_ ? slots : 0);
  for (std::size_t s = 0; s < cells_.size(); ++s) {
    if (to[s] >= slots) continue;
    cells[to[s]] = cells_[s];
    if (rare_) rare[to[s]] = (*rare_)[s];
    if (beside_) beside[to[s]] = (*beside_)[s];
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      group_cells[to[s] * groups_.size() + g] = group_cells_[s * groups_.size() + g];
    }
  }
  cells_ = std::move(cells);
  if (rare_) *rare_ = std::move(rare);
  if (beside_) *beside_ = std::move(beside);
  group_cells_ = std::move(group_cells);
}

void RankWindow::Remember(std::int64_t iteration, const HeatCell& cell) {
  constexpr auto kSize = static_cast<std::int64_t>(kHistoryIterations);
  constexpr Coded kMissing{kLog8Missing, kLog8Missing, kLog8Missing, kLog8Missing};
  if (iteration < 0) return;
  if (!history_) {
    if (!cell.present) return;
    history_ = std::make_unique<History>();
    history_->ring.fill(kMissing);
    history_->newest = iteration - 1;
  }
  if (iteration <= history_->newest - kSize) return;
  // What lies between is unknown: it was never reported.
  const std::int64_t gap_from = std::max(history_->newest + 1, iteration - kSize + 1);
  for (std::int64_t i = gap_from; i < iteration; ++i) {
    history_->ring[static_cast<std::size_t>(i % kSize)] = kMissing;
  }
  history_->newest = std::max(history_->newest, iteration);
  history_->ring[static_cast<std::size_t>(iteration % kSize)] =
      cell.present ? Coded{ToLog8(cell.late_us), ToLog8(cell.wait_us), ToLog8(cell.cpu_us),
                           ToLog8(cell.blocked_us)}
                   : kMissing;
}

HeatCell RankWindow::Recall(std::int64_t iteration) const {
  constexpr auto kSize = static_cast<std::int64_t>(kHistoryIterations);
  if (!history_ || iteration < 0 || iteration > history_->newest) return {};
  if (iteration <= history_->newest - kSize) return {};
  const Coded& c = history_->ring[static_cast<std::size_t>(iteration % kSize)];
  if (c.late == kLog8Missing) return {};
  return {true, FromLog8(c.late), FromLog8(c.wait), FromLog8(c.cpu), FromLog8(c.blocked)};
}

std::size_t RankWindow::bytes() const {
  const std::size_t rare = rare_ ? sizeof(*rare_) + rare_->capacity() * sizeof(RareCell) : 0;
  const std::size_t beside =
      beside_ ? sizeof(*beside_) + beside_->capacity() * sizeof(BesideCell) : 0;
  return sizeof(*this) + cells_.capacity() * sizeof(Cell) + rare + beside +
         groups_.capacity() * sizeof(GroupId) + group_cells_.capacity() * sizeof(GroupCell) +
         (history_ ? sizeof(History) : 0);
}

}  // namespace fathom::collector
