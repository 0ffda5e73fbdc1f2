// The live collector over again, on what agents recorded: same messages, same order, their clock.
//
// Used by fathom_importer.
//
// Model: entries of all nodes are fed in order of wall time into the collector's own parts: session
// state machine with its validation, job state, diagnoser, ledger of verdicts. The diagnoser looks
// at every kLook of recorded time, in long recordings after each thousandth of what has passed, so
// a verdict opens at most that much later than it did live. Where live the diagnoser would ask
// agents for rows, it gets those that were recorded up to then. Captures of stacks are told to the
// verdicts as live.
//
//   entry ─► clock ─► AgentSession ─► JobState ┐
//                └──► rows, summaries ─► WholeJob ─┴─► Diagnoser ─► VerdictLedger
//
// The thresholds are those of limits.thresholds.
//
// Units: wall ns of the recording; a node whose clock jumps back waits for the others.
// Thread-safety: single-threaded. Ownership: owns all parts.
// Errors: Add() says why a node's recording is refused as a whole; single bad messages are counted.
// Cost: that of the live collector for the same messages, less the waiting.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_REPLAY_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_REPLAY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "collector/evaluate/diagnoser.h"
#include "collector/import/fathom/recorded_captures.h"
#include "collector/import/fathom/whole_job.h"
#include "collector/import/reading/importer.h"
#include "collector/ingest/agent_session.h"
#include "collector/ops/recent_serials.h"
#include "fathom/v1/recording.pb.h"

namespace fathom::collector {

struct ReplayedJob {
  std::string name;
  diagnosis::JobView view;         // the whole recording
  std::vector<Episode> episodes;   // as the live collector would have told them
  std::int64_t forgotten = 0;      // iterations left out of the view for its bounds
  std::uint32_t incarnations = 1;  // more: the job began anew, the last one is shown
};

class Replay {
 public:
  static constexpr Nanos kLook{1'000'000'000};
  static constexpr std::int64_t kLooksAnEpoch = 1000;

  explicit Replay(const ImportLimits& limits);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // The next entry of the file `file`, which is one node's or says of each entry whose it is.
  // Requires: entries of one node in their order.
  absl::Status Add(std::size_t file, const v1::RecordingEntry& entry);
  // The jobs, that with the most ranks first. Called once, at the end.
  std::vector<ReplayedJob> Finish();

  std::uint64_t rejected() const { return rejected_; }  // messages that made no sense

 private:
  class ReplayClock;
  struct Parts;

  AgentSession& SessionOf(std::size_t file, const v1::RecordingEntry& entry);
  void Keep(const v1::RecordingEntry& entry);
  void KeepOps(const std::string& node, const v1::OpsBlock& block);
  bool OfAnother(const std::string& node, const v1::OpsBlock& block) const;
  void KeepRows(const v1::RowsReply& reply);
  void KeepCapture(const v1::AgentMessage& message);
  void Look();

  std::unique_ptr<Parts> parts_;
  RecordedCaptures captures_;
  RecentSerials serials_;
  // By file; or by node, where one file is of many.
  std::map<std::pair<std::size_t, std::string>, std::unique_ptr<AgentSession>> sessions_;
  std::uint64_t last_session_ = 0;
  MonoNs first_;
  MonoNs next_look_;
  std::uint64_t rejected_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_REPLAY_H_
