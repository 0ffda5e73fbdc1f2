// Every op of the jobs that are kept so, on the collector's disk, to be judged again later.
//
// Written by ingest with what was taken in of those jobs; read by `fathom analyze job://NAME`,
// which looks at the files and not at this. docs/formats/ops_store.md.
//
// Model: what agents said (who takes part, summaries, health, blocks of ops) is appended to files
// of the job, in the format of recordings. Entries gather in a block of the job; a thread of its
// own compresses and appends it after kBlockAge or kBlockBytes. A segment of `segment_bytes` is
// followed by the next one; beyond `max_bytes` or `max_age` the oldest segment of all jobs goes.
// Who takes part lies in a file of its own, once, so that any segment may go.
//
//   ingest ─► block of the job ─► queue ─► thread ─► STORE/JOB/BEGIN.fathom
//
// Bounds: kMaxPendingBytes in blocks, kMaxQueuedBytes behind them; what a disk that stands still
// does not take beyond that is dropped and counted. A job of which nothing came for kIdle is let go
// of. After kill -9 nothing is missing that was settled: a record is once its block is on the disk
// and synced, or was given up and counted. The rest its agents have not let go of, and send again.
//
// Units: bytes; wall ns of this machine. Thread-safety: thread-safe; callbacks come from its
// thread, without its lock. Ownership: owns thread and files; the destructor writes what waits.
// Errors: Open says what and where; later ones show in failing() until a write succeeds. Cost: one
// serialisation and copy of a message under the lock of all jobs; ops stay packed as they came.
#ifndef FATHOM_COLLECTOR_OPS_OP_STORE_H_
#define FATHOM_COLLECTOR_OPS_OP_STORE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <vector>

#include "collector/ops/kept_jobs.h"
#include "collector/ops/kept_stretches.h"
#include "collector/ops/recent_serials.h"
#include "collector/ops/segment_files.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::v1 {
class AgentMessage;
}

namespace fathom::collector {

struct OpStoreSettings {
  std::string folder;
  KeptJobs jobs;
  SegmentBounds bounds = {};
  // A line for the log, from any thread; empty: nowhere.
  std::function<void(bool error, const std::string& line)> log = {};
};

struct OpStoreCounters {
  std::uint64_t ops = 0;             // taken in
  std::uint64_t repeats = 0;         // blocks that were there already
  std::uint64_t dropped_ops = 0;     // found no room, or no disk
  std::uint64_t dropped_blocks = 0;  // likewise, of anything
  SegmentCounters files;
};

class OpStore {
 public:
  static constexpr Nanos kBlockAge{1'000'000'000};
  static constexpr Nanos kIdle{120'000'000'000};
  static constexpr std::size_t kBlockBytes = 256 << 10;
  static constexpr std::size_t kMaxPendingBytes = 32u << 20;
  static constexpr std::size_t kMaxQueuedBytes = 64u << 20;

  // The agent of which node, in which boot of it.
  struct Teller {
    std::string_view node, boot_id;
  };

  static absl::StatusOr<std::unique_ptr<OpStore>> Open(const OpStoreSettings& settings,
                                                       const Clock& clock);
  ~OpStore();
  OpStore(const OpStore&) = delete;
  OpStore& operator=(const OpStore&) = delete;

  const KeptJobs& jobs() const { return settings_.jobs; }
  // Requires: the message is of that job and was taken in; rank, group, gone, facts, summary,
  // health or ops. Once the record that it returns is settled, all that was kept so far is.
  std::uint64_t Keep(const std::string& job, const Teller& teller, const v1::AgentMessage& message);
  // Calls `done` once `record` is settled. False: it is already, and `done` is not called.
  [[nodiscard]] bool WhenSettled(std::uint64_t record, std::function<void()> done);

  // As KeptStretches, of all jobs; one caller.
  std::vector<KeptStretch> TakeStretches();
  const std::string& folder() const { return settings_.folder; }
  std::string failing() const;  // why nothing is written now; empty: all is well
  OpStoreCounters counters() const;

 private:
  struct Block {
    std::string raw;  // a RecordingBlock
    WallNs begin;
    MonoNs since;
    std::uint64_t first = 0;  // record
    std::uint64_t ops = 0;
  };
  struct Job {
    Block who, data;
    std::unordered_set<std::uint64_t> said;  // what is in `who`, by its hash
    RecentSerials serials;
    MonoNs heard;
  };
  struct Sealed {
    std::string job;
    bool who = false;
    Block block;
  };

  OpStore(const OpStoreSettings& settings, const Clock& clock)
      : settings_(settings), clock_(clock), files_(settings.folder, settings.bounds) {}
  void SayOnce(Job& job, const std::string& name, const Teller& teller,
               const v1::AgentMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Append(Block& block, const std::string& name, bool who, const std::string& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Seal(Block& block, const std::string& name, bool who) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SealAll(MonoNs begun_before) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // These two let go of the lock meanwhile.
  void WriteQueue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CallSettled() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t SettledNow() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Run();
  void Write(const Sealed& sealed);
  void Note(const absl::Status& written) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const OpStoreSettings settings_;
  const Clock& clock_;
  SegmentFiles files_;  // of the thread, once that runs

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, Job, std::less<>> jobs_ ABSL_GUARDED_BY(mutex_);
  KeptStretches stretches_ ABSL_GUARDED_BY(mutex_);
  std::size_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Sealed> queue_ ABSL_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t kept_ ABSL_GUARDED_BY(mutex_) = 0;     // records
  std::uint64_t settled_ ABSL_GUARDED_BY(mutex_) = 0;  // of them
  std::multimap<std::uint64_t, std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  OpStoreCounters counters_ ABSL_GUARDED_BY(mutex_);
  std::string failing_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_OP_STORE_H_
