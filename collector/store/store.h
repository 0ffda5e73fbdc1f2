// The history: verdicts and ended jobs, and what was learnt of running ones, in one SQLite file
// that survives kill -9, or in PostgreSQL, for several collectors.
//
// Its members lie in store.cc (what is written and read), store_runs.cc (runs of jobs),
// store_accounts.cc (accounts of running jobs), store_fence.cc (who may write), store_checkpoint.cc
// (what owners hand on by the bus), store_month.cc (who used what over weeks), store_probes.cc
// (what probes found of nodes), store_recoveries.cc (records of recoveries) and store_upkeep.cc
// (how it stays in its file, and notices).
//
// Written by the verdict ledger's listener, by the diagnoser (ended jobs) and by LearntKeeper; read
// by the API, at the start by the collector (open verdicts), and by LearntKeeper.
// WAL with synchronous=NORMAL: what was written is there after the process is killed; after a loss
// of power the last moments may be missing, the file is sound.
//
// A file that cannot be opened, is damaged, of a later version or another collector's is left
// alone: the store goes on in memory, degraded() says why (metric fathom_store_degraded, /readyz),
// and Upkeep tries again. What could not be written is kept and read as if it were, and tried again
// at the next write and by Upkeep; degraded() says so until all of it is written. Where the history
// does not answer, what is read is empty, or no more than what waits: unread() says so. A file that
// was deleted is written anew from what the open one holds; one that another took the place of is
// told.
//
// Where several collectors write, each has a token for the jobs that it owns (Fence): what is
// written of such a job is refused with Aborted once a later owner has a higher one. It is counted
// and not tried again. Without a token nothing is asked. What it is told of such a job it puts into
// JobCheckpoints too, and of what the owner before had put on the bus (TakeUp) and of what it has
// itself it reads the newer.
//
// Units: wall ns. Thread-safety: thread-safe (one lock, one connection). Bounds: kMaxVerdicts
// closed verdicts, kMaxJobs jobs, kMaxRunsOfProfile runs of a profile and kMaxRuns of all, and of
// kMaxRunTimes runs how long they held their GPUs, kMaxRecoveries records of recoveries, none older
// than kMaxRecoveryDays; oldest leave; of Unwritten. A run that cannot be
// written is not tried again: it is written anew as it goes on. Cost: a write some 50 µs, on a
// server a round trip, and four more where the job has a token; never per iteration.
#ifndef FATHOM_COLLECTOR_STORE_STORE_H_
#define FATHOM_COLLECTOR_STORE_STORE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/job/summaries/learnt.h"
#include "collector/recovery/told_recovery.h"
#include "collector/store/database/database.h"
#include "collector/store/database/file_lock.h"
#include "collector/store/kept_notice.h"
#include "collector/store/run_record.h"
#include "collector/store/stored_job.h"
#include "collector/store/unwritten.h"
#include "collector/verdict/episode.h"
#include "collector/verdict/node_history.h"
#include "daemon/service/mutex.h"

namespace fathom::v1 {
class JobMemory;
class NodeProbe;
}  // namespace fathom::v1

namespace fathom::collector {

class JobCheckpoints;

class Store {
 public:
  static constexpr std::int64_t kMaxVerdicts = 20'000;
  static constexpr std::int64_t kMaxJobs = 2'000;
  static constexpr std::int64_t kMaxRunsOfProfile = 30;
  static constexpr std::int64_t kMaxRuns = 5'000;        // some 4 KB each
  static constexpr std::int64_t kMaxRunTimes = 100'000;  // some 100 bytes each
  static constexpr std::int64_t kMaxProbesOfNode = 50;
  static constexpr std::int64_t kMaxProbes = 20'000;  // some 4 KB each
  static constexpr std::int64_t kMaxRecoveriesOfJob = 100;
  static constexpr std::int64_t kMaxRecoveries = 5'000;      // some 1 KB each
  static constexpr std::int64_t kMaxRecoveryDays = 2 * 366;  // as far as losses reach back

  // Never fails: falls back to memory. Makes missing folders of `file`, and the file for its owner
  // and their group only. Or a postgresql:// address.
  static std::unique_ptr<Store> Open(const std::string& file);

  // From now on what is written of the job has this token. Aborted: a later owner has a higher one.
  // Unavailable: the store does not answer, and learns of it with the next write.
  absl::Status Fence(const std::string& job, std::uint64_t token);

  // Where what is told of owned jobs is put, too; it outlives the store. Null: nowhere.
  void KeepCheckpoints(JobCheckpoints* checkpoints);
  // The job is owned here from now on. `memory`: of the checkpoint of the owner before; null: there
  // is none. Requires: Fence was called for the job.
  void TakeUp(const std::string& job, const v1::JobMemory* memory);

  // To be called every few seconds: tries what failed, and looks whether the file is still in its
  // place. The open verdicts of a file that could be opened only now, which nobody here knows.
  std::vector<Episode> Upkeep();

  absl::Status Save(const Episode& episode);
  absl::Status Save(const StoredJob& job);
  absl::Status Save(const std::string& job, const Learnt& learnt);
  absl::Status Save(const RunRecord& run);

  // The account of a running job, as bytes: the newest. Not tried again: it comes again.
  absl::Status KeepAccount(const std::string& job, WallNs kept, std::string_view bytes);
  absl::Status ForgetAccount(const std::string& job);
  [[nodiscard]] std::optional<std::string> FindAccount(const std::string& job);

  // Of a receiver and an episode the newest is kept. Not tried again: whoever keeps it still has
  // it.
  absl::Status Keep(const KeptNotice& notice);
  absl::Status ForgetNotice(const std::string& receiver, const std::string& key);
  std::vector<KeptNotice> KeptNotices();

  // Newest first; empty `job`: of all jobs.
  std::vector<Episode> Verdicts(const std::string& job, bool only_active, std::int64_t limit);
  std::vector<Episode> VerdictsOnNode(const std::string& node, std::int64_t limit);
  // Of the nodes that anything counts against since then, as far as it is written. Cost: an index
  // scan of the verdicts since.
  NodeRecords NodeRecordsSince(WallNs since);
  std::optional<Episode> Find(const std::string& id);
  [[nodiscard]] std::optional<StoredJob> FindJob(const std::string& name);
  // Nothing of a job that was never kept, and of a record that is damaged.
  [[nodiscard]] std::optional<Learnt> FindLearnt(const std::string& job);

  // The newest first, in the order in which they were first kept; empty `job`: of all jobs.
  std::vector<RunRecord> RunsOfProfile(const std::string& profile);
  std::vector<RunRecord> Runs(const std::string& job, std::int64_t limit);
  [[nodiscard]] std::optional<RunRecord> FindRun(const std::string& id);

  // Of runs that were there since then, also those whose records have left.
  std::vector<RunTime> RunTimesSince(WallNs since);
  // Verdicts that are open, or were since then; not those that another took the place of.
  std::vector<Episode> VerdictsSince(WallNs since);
  // Since when all verdicts are kept; not known: none has left yet.
  WallNs VerdictsReachBackTo();
  // What probes found of a node; not tried again where it cannot be written.
  absl::Status SaveProbe(const v1::NodeProbe& run);
  // The newest first; empty `node`: of all nodes, the newest kMaxRuns of them at most.
  std::vector<v1::NodeProbe> Probes(const std::string& node, std::int64_t limit);

  // How a recovery stands; the newest takes the place of the one before. Not tried again where it
  // cannot be written: whoever tells it tells it again.
  absl::Status Save(const ToldRecovery& recovery);
  // Those begun last first; empty `job`: of all jobs.
  std::vector<ToldRecovery> Recoveries(const std::string& job, std::int64_t limit);
  // Of which anything was heard since then.
  std::vector<ToldRecovery> RecoveriesSince(WallNs since);

  std::string degraded() const;  // why, naming the file; empty: all is well
  // Why what was last asked of the history could not be read; empty: it was.
  std::string unread() const;
  // Why what is read may lack something that is kept: that, or that it is kept in memory only.
  std::string lacks() const;
  std::uint64_t errors() const;
  std::uint64_t unwritten() const;  // verdicts and jobs that wait
  std::uint64_t refused() const;    // writes of jobs that another owns

 private:
  explicit Store(std::string file) : file_(std::move(file)) {}

  absl::Status OpenFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const Episode& episode) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const StoredJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const KeptNotice& notice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<KeptNotice> ReadNotices() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Note(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What came of reading, once all of it was.
  void NoteRead(const Statement& rows) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Runs the statement if what it writes of the job may be written by us.
  absl::Status Fenced(const std::string& job, Statement& statement)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckToken(const std::string& job, std::uint64_t token)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static constexpr char kLearntTable[] = "learnt", kAccountTable[] = "accounts";
  // To be in the job's next checkpoint.
  void Remember(const Episode& episode, bool written) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remember(const std::string& job, const Learnt& learnt, std::string_view record)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remember(const RunRecord& run, std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remember(const KeptNotice& notice) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RememberAccount(const std::string& job, WallNs kept, std::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeUp(const Episode& of_bus) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The record of the job that was kept last, be it here or on the bus, and when.
  std::optional<std::pair<WallNs, std::string>> Newest(const std::string& table,
                                                       const std::string& job)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<RunRecord> FindRememberedRun(const std::string& id) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<KeptNotice> WithRemembered(std::vector<KeptNotice> kept) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Episode> OpenIn(const std::string& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Episode> FindWritten(const std::string& id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tries what waits; the last error.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeFromMemory() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckPlace() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteAnew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TrimRuns() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteTime(const RunRecord& run) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TrimTimes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FillTimes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(const ToldRecovery& recovery) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TrimRecoveries(const ToldRecovery& newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<ToldRecovery> ReadRecoveries(const std::string& job, std::int64_t since_ns,
                                           std::int64_t limit)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TrimProbes(const std::string& node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FillNodes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static Episode EpisodeOf(const Statement& row);
  static StoredJob JobOf(const Statement& row);

  mutable service::Mutex mutex_;
  std::unique_ptr<Database> database_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<FileLock> lock_ ABSL_GUARDED_BY(mutex_);  // null: in memory
  // Device and inode of the file.
  std::pair<std::uint64_t, std::uint64_t> place_ ABSL_GUARDED_BY(mutex_);
  const std::string file_;
  std::string opened_ ABSL_GUARDED_BY(mutex_);  // why it could not be opened
  std::string moved_ ABSL_GUARDED_BY(mutex_);   // what became of the file
  Unwritten unwritten_ ABSL_GUARDED_BY(mutex_);
  std::string failing_ ABSL_GUARDED_BY(mutex_);  // why the last write failed
  std::string unread_ ABSL_GUARDED_BY(mutex_);   // why the last read failed
  std::uint64_t errors_ ABSL_GUARDED_BY(mutex_) = 0;
  // Tokens, by job.
  std::map<std::string, std::uint64_t> fences_ ABSL_GUARDED_BY(mutex_);
  JobCheckpoints* checkpoints_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t run_writes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_STORE_H_
