// Gives the iterations of all ranks of a job one common numbering.
//
// Owned by SummaryWindow. Each agent counts the iterations of each rank from the moment it found
// that rank's period, so the counts of two ranks may differ. The boundary of an iteration is an op
// on a communicator (anchor_group) with a sequence number (anchor_sequence) that is the same on
// all members: two ranks that name the same (group, sequence) speak of the same iteration. The
// first rank's own count becomes the job's. Where messages alone tell iterations the sequence is
// the rank's own count (proto/types/message_anchors.h), and one_rate leaves out who counts
// otherwise.
//
// In this order: an anchor that is known; within a batch, one after the other; the rank's own count
// plus the offset it had so far; the distance to the nearest known anchor, in steps. The last step
// of a batch is not known to the agent (0), hence the third. A rank whose anchor group nobody else
// has used keeps its own count until a group is shared (counted by unanchored()).
//
// Known() hands out how it numbers, and GoOnFrom() takes that up before the first iteration: so
// another collector that reads a shorter log, in which another rank comes first, gives the same
// numbers.
//
// Thread-safety: thread-compatible. Cost: O(log known) an iteration; at most kKnownPerGroup
// sequences a group and kGroups groups are remembered.
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_ALIGNER_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_ALIGNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace fathom::collector {

// Iterations of the job by the op that closes them on one communicator, ascending.
struct KnownAnchors {
  std::uint64_t group = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> anchors;  // sequence, iteration of the job
  friend bool operator==(const KnownAnchors&, const KnownAnchors&) = default;
};

class IterationAligner {
 public:
  struct Batch {
    std::uint64_t group = 0;
    std::uint64_t first_sequence = 0;
    std::int64_t own_first = 0;
    // steps[i]: the advance from iteration i's anchor to the next one's; not positive: not known.
    std::span<const std::int64_t> steps;
    // The job's number less the rank's own, as placed before; nothing after a change of period.
    std::optional<std::int64_t> offset;
  };

  // The job's number of each iteration, ascending; -1 for one that has none (it lies before the
  // job's first).
  std::vector<std::int64_t> Place(const Batch& batch);
  void Clear() { groups_.clear(), unanchored_ = 0; }
  // The newest kToldPerGroup of each communicator, by communicator.
  std::vector<KnownAnchors> Known() const;
  // Nothing happens once an iteration was placed.
  void GoOnFrom(const std::vector<KnownAnchors>& known);
  std::uint64_t unanchored() const { return unanchored_; }

  static constexpr std::size_t kKnownPerGroup = 1024;
  static constexpr std::size_t kToldPerGroup = 256;  // more than a window of iterations
  static constexpr std::size_t kGroups = 64;

 private:
  using OfGroup = std::map<std::uint64_t, std::int64_t>;  // sequence → iteration of the job

  static std::int64_t StepOf(const OfGroup& known);
  static void Learn(OfGroup& known, std::uint64_t sequence, std::int64_t number);
  static std::int64_t Near(const OfGroup& known, std::uint64_t sequence, std::int64_t step);

  std::map<std::uint64_t, OfGroup> groups_;
  std::uint64_t unanchored_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_ITERATION_ALIGNER_H_
