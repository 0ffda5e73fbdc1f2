// All that the collector knows of one job while it runs: ranks, communicators, the window of
// summaries, fetched rows, the newest window of detail, switch and stacks that were ordered, what
// an earlier collector had learnt, and what diagnosis last said.
//
// Its members lie in job_state.cc (what comes in), job_state_read.cc (what is read),
// job_state_runs.cc (what the history of runs is made of) and job_state_orders.cc (windows of
// detail, switches, stacks).
//
// Owned by JobTable (shared_ptr: the API may still read a job that was forgotten). Written by
// collector/ingest and the diagnoser's thread, read by that, the API and the exporter.
//
// Model: one lock a job; every public function takes it but name(), begun_by(), InReach() and
// HeardAgo(). A restart (rank_table.h) voids the window, groups, rows, detail, orders, what was
// recalled of the former life and the last diagnosis; the incarnation number rises. Units: wall
// time for display, the collector's monotonic clock for ages. Thread-safety: thread-safe. Errors:
// RejectReason for what a peer sent. Cost: View() O(ranks) under the lock, and without it O(ranks ×
// iterations × communicators), some 100 ns a row; all else as its parts say.
#ifndef FATHOM_COLLECTOR_JOB_STATE_JOB_STATE_H_
#define FATHOM_COLLECTOR_JOB_STATE_JOB_STATE_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/admission/reject_reason.h"
#include "collector/job/orders/asked_stacks.h"
#include "collector/job/orders/detail_windows.h"
#include "collector/job/orders/source_switches.h"
#include "collector/job/ranks/group_table.h"
#include "collector/job/ranks/rank_table.h"
#include "collector/job/ranks/run_facts_table.h"
#include "collector/job/rows/row_cache.h"
#include "collector/job/summaries/histogram.h"
#include "collector/job/summaries/learnt.h"
#include "collector/job/summaries/summary_window.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/watch/watch.h"

namespace fathom::v1 {
class RankRows;
class RowsReply;
class RunFacts;
class StackReply;
class TraceReply;
class WindowReply;
}  // namespace fathom::v1

namespace fathom::collector {

// Whether the agent of a node is connected now.
using NodeConnected = std::function<bool(std::string_view node)>;

// Who rows are for. What a reader of the page asks for is kept apart: diagnosis judges only what it
// asked for itself, at a moment of its choice.
enum class RowsFor : std::uint8_t { kDiagnosis, kPage };

// Rows to ask of one agent. `iterations` are the job's; `own` the same in the ranks' own count.
struct RowsAsk {
  std::string node;
  std::vector<RankId> ranks;
  std::vector<std::int64_t> iterations;
  std::vector<std::int64_t> own;
  RowsFor whom = RowsFor::kDiagnosis;
  std::size_t ops = 0;  // of one of the ranks in an iteration, about; 0: not known
};

// Numbers for lists and metrics.
struct JobFigures {
  std::string name;
  std::uint32_t world_size = 0;
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t restart_count = 0;
  bool ended = false;
  std::int64_t iteration = -1;
  Nanos recent;    // median of the last iterations
  Nanos baseline;  // what is expected; 0 while not known
  double slowdown = 1;
  bool slow = false, stalled = false;
  std::int64_t slow_since = -1;                            // iteration, where it is slow
  std::map<std::string_view, std::uint32_t> switched_off;  // source → living ranks without it
  bool recalled = false;       // what is usual was learnt before this collector started
  bool authenticated = false;  // of each agent that told of it, it is known whose it is
  WallNs started;
  WallNs last_seen;
  Nanos unheard;  // since its agents' last word; 0 while that is fresh
};

// What a job's newest whole iterations computed, and how long nothing ran; for the API and metrics.
struct JobWork {
  static constexpr std::int64_t kIterations = 16;
  std::string device;  // "cpu", a GPU's model; empty: not known
  std::uint32_t ranks = 0;
  std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> iterations;  // ascending
};

// The same of one rank: means over the iterations that tell.
struct RankWork {
  RankId rank;
  Nanos duration, void_between, void_within;
  double flop = 0;  // an iteration; 0: not known
};

class JobState {
 public:
  struct SummaryResult {
    Rejection rejected;
    int rows = 0, repeats = 0, too_old = 0;
    std::int64_t newest = -1;  // iteration of the job
  };
  struct RankResult {
    Rejection rejected;
    bool added = false, restarted = false;
  };

  // `begun_by`: the node whose agent told of it first.
  JobState(std::string name, const Clock& clock, std::string begun_by = {});

  // From agents. Requires: the message is valid; `node` is the session's.
  // `boot_id`: which boot of the node tells it, where that is known.
  RankResult Apply(const v1::RankInfo& info, std::string_view node, std::size_t room,
                   std::string_view boot_id = {});
  Rejection Apply(const v1::GroupInfo& info, std::string_view node);
  Rejection Apply(const v1::RankGone& gone, std::string_view node);
  Rejection Apply(const v1::RankHealth& health, std::string_view node);
  SummaryResult Apply(const v1::SummaryBatch& batch, std::string_view node);
  Rejection Apply(const v1::WindowReply& reply, std::string_view node);
  Rejection Apply(const v1::TraceReply& reply, std::string_view node);
  Rejection Apply(const v1::StackReply& reply, std::string_view node);
  Rejection Apply(const v1::RunFacts& facts, std::string_view node);
  // Of what only pages asked for: rows that are kept of it, and how many may be.
  std::size_t shown_rows() const;
  void LimitShownRows(std::size_t most);
  // Something of it came from an agent of which nobody knows whose it is.
  void HeardFromAnybody();
  // What was applied last an earlier collector heard then.
  void HeardAt(WallNs when);
  // Rows of a reply to `ask`; ranks that were not asked for are ignored. Rows taken in.
  std::size_t AddRows(const v1::RowsReply& reply, const RowsAsk& ask);

  // For the diagnoser. What shows from BeginLook on is left to the next look (progress).
  void BeginLook();
  diagnosis::JobView View(const NodeConnected& connected) const;
  void FillRows(const diagnosis::RowsWanted& wanted, diagnosis::JobView& view) const;
  // How far its iterations have come.
  struct Progress {
    std::int64_t newest = -1;  // that some rank reported
    std::int64_t whole = -1;   // that all did
    MonoNs partial_since;      // since when `newest` is beyond `whole`; else old
    Nanos took;              // the longest whole one since the last look, the median over the ranks
    Nanos usual, noise;      // as the last look saw them; 0: not known
    MonoNs whole_since;      // when `whole` became so
    int rising = 0;          // whole ones in a row that took longer than usual, if by little
    bool rank_lost = false;  // since the last look
  };
  Progress progress() const;
  std::vector<RowsAsk> MissingRows(const diagnosis::RowsWanted& wanted,
                                   RowsFor whom = RowsFor::kDiagnosis) const;
  void SetSuspicion(const diagnosis::Suspicion& suspicion);
  void SetDiagnosis(const diagnosis::Diagnosis& diagnosis);
  // What the last Watch() has learnt, as of now. Nothing: the job is over, or no iteration judged.
  std::optional<Learnt> learnt() const;
  // Where the episode that it saw began; −1: there is none.
  Iteration onset() const;
  // What an earlier collector had learnt of a job of this name: it is gone on from if it is of this
  // life of the job. Before the first iteration: these get the numbers that they had then.
  void Recall(Learnt learnt);
  // Ends a job whose agents have been away since `deadline`, or whose ranks are all gone.
  bool UpdateEnded(MonoNs deadline);

  // For the history of runs: what makes this run comparable, and with what it was started.
  struct RunSeen {
    bool known = false;
    diagnosis::JobProfile profile;
    diagnosis::RunSetup setup;
  };
  RunSeen Run() const;
  // That a rank of it is on.
  std::set<std::string> Nodes() const;
  // Of its newest whole iterations, mean over the ranks; and of each rank, by rank.
  JobWork Work() const;
  std::vector<RankWork> WorkOfRanks() const;
  // See SummaryWindow::PartsAfter.
  std::vector<std::pair<std::int64_t, diagnosis::IterationParts>> IterationsAfter(
      std::int64_t after) const;

  // A window of detail, on a person's request: what to tell which agent.
  struct WindowOrders {
    std::vector<WindowAsk> asks;
    Nanos patience;
  };
  absl::StatusOr<WindowOrders> PlanWindow(std::uint64_t id, const WindowWish& wish);
  void RefuseWindow(std::uint64_t id, const WindowAsk& ask, const std::string& why);
  DetailWindows detail() const;  // a copy

  // Sources to switch, and stacks to read, likewise.
  struct SwitchOrders {
    std::vector<SwitchAsk> asks;
    Nanos patience;
  };
  absl::StatusOr<SwitchOrders> PlanSwitch(std::uint64_t id, const SwitchWish& wish);
  void RefuseSwitch(std::uint64_t id, const SwitchAsk& ask, const std::string& why);
  SourceSwitches switches() const;  // a copy
  absl::StatusOr<std::vector<StackAsk>> PlanStacks(std::uint64_t id,
                                                   const std::vector<RankId>& ranks);
  void RefuseStacks(std::uint64_t id, const StackAsk& ask, const std::string& why);
  AskedStacks stacks() const;  // a copy

  // For the page: rows of either kind.
  void FillShownRows(const diagnosis::RowsWanted& wanted, diagnosis::JobView& view) const;

  // For the API and the exporter.
  const std::string& name() const { return name_; }
  const std::string& begun_by() const { return begun_by_; }
  JobFigures Figures() const;
  diagnosis::Suspicion suspicion() const;
  diagnosis::Diagnosis last_diagnosis() const;
  IterationHistogram Histogram() const;
  std::vector<diagnosis::SignalState> SignalStates() const;
  std::size_t rank_count() const;
  // That a node has told of, and whether the job has not ended.
  std::size_t RanksOn(std::string_view node) const;
  bool ended() const;
  // Whether what is known of a rank is of now: its agent is connected, and told of it lately, or it
  // is gone. Of another its last state is old. Like HeardAgo it takes no lock: for use in Read.
  bool InReach(const RankState& state, bool connected) const;
  // Since its agent last told of it.
  Nanos HeardAgo(const RankState& state) const {
    return clock_.Mono() - state.health.received_mono;
  }
  std::size_t BytesPerRank() const;  // the largest over the ranks; 0 without ranks
  // Calls read(ranks, groups, window) under the lock. Requires: read calls nothing that locks.
  void Read(const std::function<void(const RankTable&, const GroupTable&, const SummaryWindow&)>&
                read) const;

 private:
  static constexpr std::size_t kRecentIterations = 9;

  void ResetForRestart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RowCache& CacheOf(RowsFor whom) { return whom == RowsFor::kPage ? shown_ : rows_; }
  void AddRankRows(const v1::RankRows& rows, const RowsAsk& ask, std::size_t& taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  diagnosis::RankFacts FactsOf(RankId rank, const RankState& state, bool connected) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void JoinSockets(diagnosis::JobView& view) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<diagnosis::SignalState> Signals() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether what was recalled is of the life that this rank takes part in.
  void NoteLifeOf(const RankState& rank) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GoOnFromRecalled(diagnosis::JobView& view) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string name_;
  const std::string begun_by_;
  const Clock& clock_;
  mutable service::Mutex mutex_;
  RankTable ranks_ ABSL_GUARDED_BY(mutex_);
  GroupTable groups_ ABSL_GUARDED_BY(mutex_);
  RunFactsTable run_facts_ ABSL_GUARDED_BY(mutex_);
  SummaryWindow window_ ABSL_GUARDED_BY(mutex_);
  RowCache rows_ ABSL_GUARDED_BY(mutex_){kMaxCachedRowsPerJob};
  RowCache shown_ ABSL_GUARDED_BY(mutex_){kMaxShownRowsPerJob};  // what only the page asked for
  DetailWindows detail_ ABSL_GUARDED_BY(mutex_);
  SourceSwitches switches_ ABSL_GUARDED_BY(mutex_);
  AskedStacks stacks_ ABSL_GUARDED_BY(mutex_);
  IterationHistogram histogram_ ABSL_GUARDED_BY(mutex_);
  diagnosis::Suspicion suspicion_ ABSL_GUARDED_BY(mutex_);
  diagnosis::Diagnosis diagnosis_ ABSL_GUARDED_BY(mutex_);
  std::optional<Learnt> recalled_ ABSL_GUARDED_BY(mutex_);
  bool of_this_life_ ABSL_GUARDED_BY(mutex_) = false;  // what was recalled
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool heard_from_anybody_ ABSL_GUARDED_BY(mutex_) = false;
  WallNs last_seen_ ABSL_GUARDED_BY(mutex_);
  MonoNs last_seen_mono_ ABSL_GUARDED_BY(mutex_);
  MonoNs partial_since_ ABSL_GUARDED_BY(mutex_);
  MonoNs whole_since_ ABSL_GUARDED_BY(mutex_);
  bool rank_lost_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_STATE_JOB_STATE_H_
