// Which iteration of the job lies in which slot of the bounded window.
//
// Owned by SummaryWindow; every rank's columns are indexed by the same slots. When all slots are
// taken the oldest iteration that is not pinned makes room. Pinned are a few iterations around the
// onset of an open episode, so that the baseline does not run out of the window while a job stays
// slow.
//
// Units: iterations of the job. Thread-safety: thread-compatible. Cost: O(slots) a call, no
// allocation after construction.
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_SLOTS_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fathom::collector {

class IterationSlots {
 public:
  struct Claimed {
    std::size_t slot = 0;
    std::int64_t evicted = -1;  // the iteration that lay there, or -1
  };

  explicit IterationSlots(std::size_t count) : iteration_(count, -1) {}

  std::optional<std::size_t> Find(std::int64_t iteration) const;
  // The slot whose iteration would have to leave for `iteration`; nothing if it is too old itself.
  // Requires: Find(iteration) is empty.
  std::optional<Claimed> Claim(std::int64_t iteration);
  // Keeps [first, last] from leaving, at most half of the slots (the newest of them).
  void Pin(std::int64_t first, std::int64_t last);
  void Unpin() { pinned_first_ = 0, pinned_last_ = -1; }
  // So many slots with the newest of what lies here, pinned ones first of all. `leave`: what finds
  // no room, by iteration.
  IterationSlots Fewer(std::size_t count, std::vector<std::int64_t>& leave) const;
  void Clear();

  std::size_t size() const { return iteration_.size(); }
  std::int64_t at(std::size_t slot) const { return iteration_[slot]; }
  std::int64_t newest() const { return newest_; }  // -1: none yet
  std::vector<std::int64_t> Sorted() const;

 private:
  bool Pinned(std::int64_t iteration) const {
    return iteration >= pinned_first_ && iteration <= pinned_last_;
  }

  std::vector<std::int64_t> iteration_;
  std::int64_t newest_ = -1;
  std::int64_t pinned_first_ = 0;
  std::int64_t pinned_last_ = -1;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_SLOTS_H_
