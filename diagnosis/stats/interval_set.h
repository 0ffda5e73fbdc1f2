// Stretches of time, overlapping or nested as events are, and the time they cover together.
//
// Used by collector/import/kineto for the busy time of a thread and of a device, and where waits or
// transfers that overlap count once (slowness/judge/unnamed_waits).
//
// Units: ns of one clock; a stretch is [begin, end).
// Thread-safety: single-threaded while adding; Seal() once, then only read.
// Cost: Add amortised O(log n): stretches are merged each time their number has doubled, so that
// memory follows the merged ones; queries O(log n).
#ifndef FATHOM_DIAGNOSIS_STATS_INTERVAL_SET_H_
#define FATHOM_DIAGNOSIS_STATS_INTERVAL_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::diagnosis {

class IntervalSet {
 public:
  struct Stretch {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  // Empty and backward stretches are ignored.
  void Add(std::int64_t begin, std::int64_t end);

  // Requires for all below: Seal() after the last Add().
  void Seal();

  // Disjoint, by time.
  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::int64_t CoveredUntil(std::int64_t time) const;
  std::int64_t Covered(std::int64_t begin, std::int64_t end) const;
  std::int64_t Covered() const;  // of all time
  // What this covers and `other` does not, sealed.
  IntervalSet Without(const IntervalSet& other) const;
  bool empty() const { return stretches_.empty(); }

 private:
  void Merge();

  static constexpr std::size_t kFirstMerge = 4096;
  std::vector<Stretch> stretches_;
  std::vector<std::int64_t> before_;  // covered before stretches_[i]
  std::size_t merge_at_ = kFirstMerge;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_STATS_INTERVAL_SET_H_
