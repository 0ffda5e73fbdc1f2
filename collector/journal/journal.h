// What agents told, on disk before it is acknowledged: after kill -9 the collector knows the jobs,
// their ranks and their windows again.
//
// Written by ingest with each announcement, death and summary that was taken in, and by the
// collector when a job's end was reported; read once, at the start, by ingest/replay.
// docs/formats/journal.md.
//
// Model: records in segments (daemon/service/segment_log). A thread of its own writes what came
// within kGather in one go and syncs it; then `durable()` rises and whoever waits for it is called.
// Who takes part is at the head of each segment, so that old segments may go: those whose summaries
// are all older than a job's window or of jobs that ended, those older than `max_age`, and beyond
// `max_bytes` the oldest. While the disk takes nothing, nothing becomes durable and so nothing is
// acknowledged; beyond kMaxQueuedBytes of it the journal gives those records up, counts them, and
// lets them be acknowledged all the same: the collector has them, and agents' buffers are bounded.
//
// Units: bytes; wall ns. Thread-safety: thread-safe; callbacks come from its thread, without its
// lock. Ownership: owns thread and files; the destructor writes what waits. Errors: Open says what
// and where; later ones show in failing() until a write succeeds. Cost: Append serialises the
// message; a write and an fdatasync for all that came meanwhile; who takes part stays in memory,
// some 300 bytes for each rank and each group of a rank.
#ifndef FATHOM_COLLECTOR_JOURNAL_JOURNAL_H_
#define FATHOM_COLLECTOR_JOURNAL_JOURNAL_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/journal/durable_log.h"
#include "collector/journal/journal_record.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"
#include "daemon/service/segment_log.h"

namespace fathom::collector {

struct JournalSettings {
  std::string folder;
  std::uint64_t max_bytes = 256u << 20;
  Nanos max_age = Nanos::FromSeconds(7 * 24 * 3600.0);
  std::uint64_t segment_bytes = 4u << 20;
  // A line for the log, from any thread; empty: nowhere.
  std::function<void(bool error, const std::string& line)> log = {};
};

struct JournalCounters {
  std::uint64_t bytes = 0;  // on the disk
  std::uint64_t records = 0;
  std::uint64_t write_errors = 0;
  std::uint64_t damaged = 0;     // records and tails that could not be read at the start
  std::uint64_t given_up = 0;    // records that no disk took
  std::uint64_t pushed_out = 0;  // segments of running jobs that max_bytes or max_age took
};

class Journal final : public DurableLog {
 public:
  static constexpr std::size_t kMaxQueuedBytes = 64u << 20;

  struct Reader {
    // In the order of old. Gives back how far the job has come with it, as Append is told.
    std::function<std::int64_t(const Told& told)> told;
    std::function<void(const std::string& job)> concluded;  // that job's end has been reported
  };

  static absl::StatusOr<std::unique_ptr<Journal>> Open(const JournalSettings& settings,
                                                       const Clock& clock);
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Hands out what an earlier collector kept, and begins to write. Requires: called once, before
  // anything is appended.
  void Read(const Reader& reader);

  // Once the record that it returns is durable, all that was appended so far is. `newest`: of a
  // summary, the newest iteration that the job then has. Requires: the message is a rank, group,
  // gone or summary that was taken in.
  std::uint64_t Append(const Teller& teller, const v1::AgentMessage& message, std::int64_t newest);
  void Concluded(const std::string& job);

  [[nodiscard]] bool WhenDurable(std::uint64_t record, std::function<void()> done) override;

  std::string failing() const;  // why nothing is written now; empty: all is well
  JournalCounters counters() const;

 private:
  // Of a rank: its process, its groups and its death, in this order; by kind and group.
  using RankHeads = std::map<std::pair<HeadKind, std::uint64_t>, std::string>;
  struct JobHeads {
    std::map<std::uint32_t, RankHeads> ranks;
    std::int64_t newest = -1;  // iteration
  };
  // The newest iteration that each job had while the segment was written.
  using Reach = std::map<std::string, std::int64_t>;

  Journal(const JournalSettings& settings, const Clock& clock)
      : settings_(settings), clock_(clock) {}
  absl::Status OpenLog();
  // Notes what it says of who takes part. False: that is known already.
  bool NoteHead(const Teller& teller, const HeadPlace& place, const std::string& record)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const std::string& job);
  void NoteReach(const std::string& job, std::int64_t newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Attribute(std::uint64_t segment) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enqueue(std::string record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<std::string> Heads() const;
  void Run();
  void Log(bool error, const std::string& line) const;
  [[nodiscard]] bool GiveBack(std::vector<std::string>& batch, std::size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets go of the lock meanwhile.
  void CallDurable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const std::vector<std::string>& batch);
  void LetGo();
  bool Needed(const Reach& reach) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const JournalSettings settings_;
  const Clock& clock_;
  std::unique_ptr<service::SegmentLog> log_;  // by the thread only, once that runs

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, JobHeads> jobs_ ABSL_GUARDED_BY(mutex_);
  // By the first sequence of a segment.
  std::map<std::uint64_t, Reach> reaches_ ABSL_GUARDED_BY(mutex_);
  // Of what is in no segment yet.
  Reach fresh_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> queue_ ABSL_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t appended_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t durable_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multimap<std::uint64_t, std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::string failing_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  JournalCounters counters_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOURNAL_JOURNAL_H_
