// The history: verdicts and ended jobs, and what was learnt of running ones, in one SQLite file
// that survives kill -9.
//
// Written by the verdict ledger's listener, by the diagnoser (ended jobs) and by LearntKeeper; read
// by the API, at the start by the collector (open verdicts), and by LearntKeeper.
// WAL with synchronous=NORMAL: what was written is there after the process is killed; after a loss
// of power the last moments may be missing, the file is sound.
//
// A file that cannot be opened, is damaged or of a later version is left alone: the store goes on
// in memory and degraded() says why (metric fathom_store_degraded, /readyz). A write that fails
// later is counted and also shows in degraded() until one succeeds.
//
// Units: wall ns. Thread-safety: thread-safe (one lock, one connection). Bounds: kMaxVerdicts
// closed verdicts and kMaxJobs jobs, oldest leave. Cost: a write some 50 µs, never per iteration.
#ifndef FATHOM_COLLECTOR_STORE_STORE_H_
#define FATHOM_COLLECTOR_STORE_STORE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/job/summaries/learnt.h"
#include "collector/store/database.h"
#include "collector/store/node_history.h"
#include "collector/verdict/episode.h"

namespace fathom::collector {

struct StoredJob {
  std::string name;
  std::uint32_t ranks = 0, world_size = 0, nodes = 0;
  WallNs started, last_seen;
  std::int64_t iterations = 0;
  std::string report_json;
};

class Store {
 public:
  static constexpr std::int64_t kMaxVerdicts = 20'000;
  static constexpr std::int64_t kMaxJobs = 2'000;

  // Never fails: falls back to memory. Makes missing folders of `file`.
  static std::unique_ptr<Store> Open(const std::string& file);

  absl::Status Save(const Episode& episode);
  absl::Status Save(const StoredJob& job);
  absl::Status Save(const std::string& job, const Learnt& learnt);

  // Newest first; empty `job`: of all jobs.
  std::vector<Episode> Verdicts(const std::string& job, bool only_active, std::int64_t limit);
  std::vector<Episode> VerdictsOnNode(const std::string& node, std::int64_t limit);
  // Of the nodes that anything counts against since then. Cost: an index scan of the verdicts
  // since.
  NodeRecords NodeRecordsSince(WallNs since);
  std::optional<Episode> Find(const std::string& id);
  std::optional<StoredJob> FindJob(const std::string& name);
  // Nothing of a job that was never kept, and of a record that is damaged.
  std::optional<Learnt> FindLearnt(const std::string& job);

  std::string degraded() const;  // why, naming the file; empty: all is well
  std::uint64_t errors() const;
  const std::string& file() const { return file_; }

 private:
  Store(std::unique_ptr<Database> database, std::string file, std::string degraded)
      : database_(std::move(database)), file_(std::move(file)), opened_(std::move(degraded)) {}

  absl::Status Note(absl::Status status);
  absl::Status Trim();
  void FillNodes();
  static Episode EpisodeOf(const Statement& row);

  mutable std::mutex mutex_;  // guards everything below
  std::unique_ptr<Database> database_;
  const std::string file_;
  const std::string opened_;  // why it could not be opened
  std::string failing_;       // why the last write failed
  std::uint64_t errors_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_STORE_H_
