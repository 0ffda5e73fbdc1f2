// Slices that may overlap, put into as few tracks as it takes for each to nest.
//
// Used by the writers of a rank's tracks and of the verdicts. Model: a slice goes into the first
// lane in which it nests; the first lane is `track` itself, further ones bear its name and stand
// under it where it is a thread, else beside it. A lane is added when its first slice comes.
//
// Thread-safety: thread-compatible. Errors: a slice that finds kMostLanes lanes full is left out,
// and counted. Cost: O(lanes) a slice.
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_LANES_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_LANES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "collector/export/perfetto/trace_writer.h"

namespace fathom::collector::perfetto {

class Lanes {
 public:
  static constexpr std::uint64_t kMostLanes = 256;

  // The ids from track.id to track.id + kMostLanes are its own.
  Lanes(TraceWriter& writer, Track track) : writer_(writer), track_(std::move(track)) {}

  // Requires: in order of begin, of equal begins the longest first.
  void Put(const Slice& slice);
  // Ends what is open; nothing may follow.
  void Finish();
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool Fits(std::size_t lane, const Slice& slice);
  void AddLane();

  TraceWriter& writer_;
  const Track track_;
  std::vector<std::vector<std::int64_t>> open_;  // by lane: ends of what is open, outermost first
  std::uint64_t left_out_ = 0;
};

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_LANES_H_
