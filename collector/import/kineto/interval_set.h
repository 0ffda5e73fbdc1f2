// Stretches of time, overlapping or nested as events are, and the time they cover together.
//
// Used for the busy time of a thread and of a device.
//
// Units: ns since the base of the trace; a stretch is [begin, end).
// Thread-safety: single-threaded while adding; Seal() once, then only read.
// Cost: Add amortised O(log n): stretches are merged each time their number has doubled, so that
// memory follows the merged ones; queries O(log n).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_INTERVAL_SET_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_INTERVAL_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::collector::kineto {

struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class IntervalSet {
 public:
  // Empty and backward stretches are ignored.
  void Add(std::int64_t begin, std::int64_t end);

  // Requires for all below: Seal() after the last Add().
  void Seal();

  // Disjoint, by time.
  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::int64_t CoveredUntil(std::int64_t time) const;
  std::int64_t Covered(std::int64_t begin, std::int64_t end) const;
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

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_INTERVAL_SET_H_
