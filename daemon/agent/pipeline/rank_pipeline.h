// Everything the agent knows of one rank: its ops, its groups, its iterations.
//
// Made by agent/rank_session, one per ring; fed in ticket order by ring_consumer.
//
// Model: record → op_joiner → op_log; each entry's key → iteration_finder; each anchor closes an
// iteration, whose summary is made once the anchor and, if possible, all its other ops have ended
// (at the latest when the next anchor has). Iterations are numbered by the ordinal of their anchor
// from the start of the log, so that ranks that were seen from the start agree; where the start is
// missing the number comes from the anchor's sequence, where that has one. What a thread beside the
// training calls (thread_roles) is logged, but is no progress and belongs to no pattern.
//
// Thread-safety: single-threaded, owned by the poll loop.
// Ownership: owns log, joiner, finder and clock.
// Errors: none; see counters.
// Cost: about 60 ns a record (tests/bench/ring_consumer_bench).
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_RANK_PIPELINE_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_RANK_PIPELINE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "daemon/abi/event_record.h"
#include "daemon/agent/pipeline/group_identity.h"
#include "daemon/agent/pipeline/held_back.h"
#include "daemon/agent/pipeline/iteration/anchor.h"
#include "daemon/agent/pipeline/iteration/iteration_finder.h"
#include "daemon/agent/pipeline/iteration/rhythm.h"
#include "daemon/agent/pipeline/iteration_summary.h"
#include "daemon/agent/pipeline/op_joiner.h"
#include "daemon/agent/pipeline/op_log.h"
#include "daemon/agent/pipeline/thread_clock.h"
#include "daemon/agent/pipeline/thread_roles.h"
#include "daemon/agent/pipeline/worker_clock.h"
#include "daemon/agent/source/ring/group_table.h"

namespace fathom::agent {

struct PipelineSettings {
  OpLogLimits log;
  FinderRule finder;
};

// Consecutive iterations that have closed, and the anchor they share.
struct ClosedIterations {
  GroupId anchor_group;
  bool relearned = false;  // the pattern changed before the first of them
  std::vector<IterationSummary> summaries;
};

// Of a rank's own: what the collector may ask for when an episode begins, twice over.
inline constexpr std::int64_t kIterationsKept = 24;

class RankPipeline {
 public:
  explicit RankPipeline(const PipelineSettings& settings);

  // Newly known groups get their identity; returns the slots that are new. world_size 0 = not
  // known.
  std::vector<std::uint16_t> TakeGroups(std::span<const GroupFacts> facts,
                                        std::uint32_t world_size);

  // Without it no thread is beside the training.
  void SetMainThread(std::uint32_t tid) { roles_.SetMainThread(tid); }
  void Take(std::span<const abi::EventRecord> records);
  // The beginning of the rank's log is not there (records were lost before we came).
  void StartIsMissing() { start_missing_ = true; }
  // Makes the summaries of the iterations that are over. Requires: the clock's threads were sampled
  // after the newest record was written (else their CPU time is not known yet).
  void Close(bool last_call = false);
  // No record has come for seconds: decide what is still being learned, so that a job that hangs
  // early has iterations all the same.
  void Pause();
  // The process is gone: decide what was still being learned and close what can be closed.
  void Finish();

  // Iterations closed since the last call, in order; at most one run with the same anchor a call.
  ClosedIterations TakeClosed();
  // Long iterations stay until they have been compared: an episode is told by five slow ones
  // against eight before it. Requires: called every second or so.
  void DropOld(std::int64_t now_ns) {
    log_.DropOld(now_ns, kIterationsKept * typical_iteration_ns());
  }

  // The identity of the group in `slot`; id 0 where it is not known.
  const GroupIdentity& Group(std::uint16_t slot) const;
  std::uint32_t PeerToGlobal(std::uint16_t slot, std::uint32_t peer) const;
  // Who the peer of `row` is, in a message that has `peer` and `place_of_peer`: its rank, else its
  // place in a group whose members only the collector can put together.
  template <typename Message>
  void TellPeer(const OpRow& row, Message& message) const {
    const std::uint32_t rank = PeerToGlobal(row.group_slot, row.peer);
    message.set_peer(rank);
    if (rank == abi::kNoPeer && row.peer != abi::kNoPeer) message.set_place_of_peer(row.peer + 1);
  }

  const OpLog& log() const { return log_; }
  void LimitLog(std::size_t rows) { log_.LimitRows(rows); }
  OpJoiner& joiner() { return joiner_; }
  const JoinCounters& joiner_counters() const { return joiner_.counters(); }
  std::uint32_t sources_seen() const { return joiner_.sources_seen(); }
  const GpuClock& gpu_clock() const { return joiner_.gpu_clock(); }
  ThreadClock& clock() { return clock_; }
  const ThreadClock& clock() const { return clock_; }
  const IterationFinder& finder() const { return finder_; }
  WorkerClock& workers() { return workers_; }
  HeldBack& held_back() { return held_back_; }
  const HeldBack& held_back() const { return held_back_; }
  // Its newest marks tell of batches: who makes them is worth asking.
  bool LoadsBatches() const;
  // Number that the next closed iteration gets; the iteration in progress.
  std::int64_t iteration_in_progress() const { return finder_.anchor() ? next_number_ : -1; }
  std::int64_t iterations_closed() const { return iterations_closed_; }
  // Median duration of the newest closed iterations, 0 while none is known.
  std::int64_t typical_iteration_ns() const;
  const Rhythm& rhythm() const { return rhythm_; }
  const ThreadRoles& roles() const { return roles_; }
  // Of the training, not of what goes on beside it.
  struct NewestOp {
    std::uint32_t thread_id = 0;
    std::uint16_t group_slot = abi::kNoGroupSlot;
  };
  const std::optional<NewestOp>& newest_training_op() const { return newest_training_op_; }
  // Of the newest record of the training that is no mark: a rank that only collects garbage makes
  // no progress, nor does one whose heartbeat goes on. Of a job of one rank its batches and its
  // functions count too.
  std::int64_t newest_op_ns() const { return newest_op_ns_; }

 private:
  struct PendingSpan {
    IterationSpan span;
    GroupId anchor_group;
    bool relearned = false;
  };

  bool IsProgress(const abi::EventRecord& record) const;
  void TakeEntry(std::uint64_t row_number);
  void LabelAgain();
  void Boundary(std::uint64_t row_number);
  std::int64_t FirstNumber(std::uint64_t first_anchor_row, std::uint64_t anchors) const;
  bool AllEnded(const IterationSpan& span) const;
  // What no iteration to come can hold.
  void ForgetProducts();
  OpKey KeyOfRow(const OpRow& row) const;

  OpLog log_;
  OpJoiner joiner_;
  IterationFinder finder_;
  ThreadClock clock_;
  WorkerClock workers_;
  HeldBack held_back_;
  std::vector<GroupIdentity> groups_;
  std::vector<std::uint32_t> group_sizes_;
  bool alone_ = false;  // the job has one rank

  std::optional<AnchorMatcher> matcher_;
  bool start_missing_ = false;
  bool relearned_ = false;
  std::uint64_t span_first_row_ = 0;  // first row of the iteration in progress
  std::int64_t next_number_ = 0;
  std::int64_t last_end_ns_ = 0;  // end of the newest closed iteration; 0 = none
  std::int64_t iterations_closed_ = 0;
  std::deque<PendingSpan> pending_;
  std::deque<ClosedIterations> closed_;
  std::deque<std::int64_t> durations_;
  std::int64_t newest_op_ns_ = 0;
  std::optional<NewestOp> newest_training_op_;
  ThreadRoles roles_;
  Rhythm rhythm_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_RANK_PIPELINE_H_
