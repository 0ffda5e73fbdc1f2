// The columns of one rank: its recent iterations exactly, older ones as four bytes for display.
//
// Owned by SummaryWindow, one a rank. Detail lies in slots that IterationSlots hands out (24 bytes,
// 10 a communicator, and 12 where a device was waited for, batches were counted, their loader had
// no core, or products of matrices were seen, 6 where ops ran beside computing); history is a
// ring over the last kHistoryIterations, one byte a series.
//
// Units: µs, coded (micro_codes.h); begin in ns of the node's monotonic clock.
// Thread-safety: thread-compatible. Cost: Put and Get O(communicators of the rank); memory is
// told by bytes() and stays below kMaxBytesPerRank less the rank's fixed part.
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_RANK_WINDOW_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_RANK_WINDOW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/job/summaries/micro_codes.h"
#include "diagnosis/model/job_view.h"

namespace fathom::collector {

// What the heat map shows of one rank and iteration.
struct HeatCell {
  bool present = false;
  std::uint64_t late_us = 0;
  std::uint64_t wait_us = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t blocked_us = 0;
};

class RankWindow {
 public:
  explicit RankWindow(std::size_t slots) : cells_(slots) {}
  RankWindow(const RankWindow& other);
  RankWindow& operator=(const RankWindow&) = delete;

  // Of a rank with so many communicators.
  static std::size_t SlotBytes(std::size_t columns, bool rare, bool beside = false);
  // What a slot of this rank takes if `row` came with it.
  std::size_t SlotBytesWith(const diagnosis::RankIteration& row) const;

  // False: the slot already holds something (a repeat), nothing changes.
  bool Put(std::size_t slot, const diagnosis::RankIteration& row);
  bool Has(std::size_t slot) const { return cells_[slot].begin_ns != 0; }
  diagnosis::RankIteration Get(std::size_t slot) const;
  std::uint32_t duration_us(std::size_t slot) const { return cells_[slot].duration_us; }
  // Calls visit(group, elapsed µs) for each communicator used in the slot. Requires: Has(slot).
  template <typename F>
  void ForEachElapsed(std::size_t slot, F&& visit) const;
  HeatCell Own(std::size_t slot) const;  // cpu and blocked; late and wait need the other ranks

  void ClearSlot(std::size_t slot);
  // Moves old slot i to new slot to[i] (or drops it where to[i] is size_t(-1)).
  void Relayout(const std::vector<std::size_t>& to, std::size_t slots);

  void Remember(std::int64_t iteration, const HeatCell& cell);
  HeatCell Recall(std::int64_t iteration) const;

  std::size_t bytes() const;

 private:
  struct Cell {
    std::int64_t begin_ns = 0;  // 0: nothing here
    std::uint32_t duration_us = 0;
    Micro16 cpu = 0, runqueue = 0, blocked = 0, gc = 0, dataloader = 0, ops = 0;
  };
  struct RareCell {
    Micro16 device_wait = 0, batch_elements = 0, loader_starved = 0, void_between = 0,
            void_within = 0, mega_flop = 0;
    friend bool operator==(const RareCell&, const RareCell&) = default;
  };
  struct BesideCell {
    Micro16 unsure = 0, beside = 0, leading = 0;
    friend bool operator==(const BesideCell&, const BesideCell&) = default;
  };
  struct GroupCell {
    Micro16 count = 0, elapsed = 0, shortest = 0, longest = 0, first = 0;
  };
  struct Coded {
    Log8 late, wait, cpu, blocked;
  };
  struct History {
    std::array<Coded, kHistoryIterations> ring;
    std::int64_t newest = -1;  // entries older than newest - size are not there
  };

  void AddColumns(const diagnosis::RankIteration& row);
  static RareCell RareOf(const diagnosis::RankIteration& row);
  static BesideCell BesideOf(const diagnosis::RankIteration& row);
  // What is left out while it was always zero.
  template <typename T>
  void PutRare(std::size_t slot, const T& cell, std::unique_ptr<std::vector<T>>& cells);

  std::vector<Cell> cells_;
  std::unique_ptr<std::vector<RareCell>> rare_;      // by slot; null while it was always zero
  std::unique_ptr<std::vector<BesideCell>> beside_;  // likewise
  std::vector<GroupId> groups_;
  std::vector<GroupCell> group_cells_;  // slot-major: slot × columns
  std::unique_ptr<History> history_;
};

template <typename F>
void RankWindow::ForEachElapsed(std::size_t slot, F&& visit) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const GroupCell& cell = group_cells_[slot * groups_.size() + g];
    if (cell.count != 0) visit(groups_[g], FromMicro16(cell.elapsed));
  }
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_RANK_WINDOW_H_
