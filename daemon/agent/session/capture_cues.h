// Tells recordings of stacks when to begin and end: as their ranks come to the ops that were named.
//
// Owned by orders. Model: one cue a recording. Look, called with each turn of the poll loop, asks
// for the newest op of the rank on the named communicator: at `open_sequence` or later the
// recording begins, behind `close_sequence` it has enough. All members of a communicator number its
// ops alike, so all ranks record the same iterations, each within one turn of its agent's loop. The
// deadline is for the beginning: what has begun goes on to its end, kMaxRecordingSeconds at most.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: the poll loop's; the cues themselves are atomic.
// Ownership: shares each cue with its recording. Errors: a rank that does not begin by its
// deadline, or is gone, is given up. Cost: nothing without cues; else one look back in the log.
#ifndef FATHOM_DAEMON_AGENT_SESSION_CAPTURE_CUES_H_
#define FATHOM_DAEMON_AGENT_SESSION_CAPTURE_CUES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/agent/capture/stack_recording.h"
#include "proto/types/ids.h"

namespace fathom::agent {

struct CueOrder {
  std::string job;
  std::uint32_t rank = 0;
  GroupId group{};
  std::uint64_t open_sequence = 0;
  std::uint64_t close_sequence = 0;
  std::int64_t deadline_ns = 0;  // to begin
};

class CaptureCues {
 public:
  // The newest op of the rank in the group; nothing: the rank is gone, or has entered none yet.
  using Newest = std::function<std::optional<std::uint64_t>(const CueOrder& order)>;

  std::shared_ptr<const RecordingCue> Add(CueOrder order);
  void Look(std::int64_t now_ns, const Newest& newest);

 private:
  struct Waiting {
    CueOrder order;
    std::shared_ptr<RecordingCue> cue;
    std::int64_t until_ns = 0;  // it begins; then, it ends
  };
  static void Step(Waiting& each, std::int64_t now_ns, std::optional<std::uint64_t> at);

  std::vector<Waiting> waiting_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_CAPTURE_CUES_H_
