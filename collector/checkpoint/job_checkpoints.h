// What this collector keeps in the history of the jobs that it owns, once more in memory: what its
// checkpoints on the bus are made of.
//
// Where there are several collectors, Store puts here what it was told of a job, whether it could
// be written or not, and reads from here what it could not: so a new owner to whom the former one's
// checkpoint was handed (Begin) finds in its store what that had kept, while the history is away.
// cluster/checkpoint_keeper takes what changed and puts it on the bus.
//
// Model: of each kind the newest record of a job, as the bytes of the history; verdicts while they
// are open, and closed ones until they are in the history. A job is urgent once a verdict of it
// opens, changes grade or closes, an episode of slowness begins or ends, or a receiver was told.
//
// Thread-safety: thread-safe; `news` is called under the lock of whoever puts, and must be cheap.
// Errors: none; what belongs to a job that was not begun is left out. Cost: a copy of a record; a
// job is some 10 KB, more with many ranks and verdicts.
#ifndef FATHOM_COLLECTOR_CHECKPOINT_JOB_CHECKPOINTS_H_
#define FATHOM_COLLECTOR_CHECKPOINT_JOB_CHECKPOINTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/service/mutex.h"
#include "fathom/v1/checkpoint.pb.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

class JobCheckpoints {
 public:
  // The job is owned here from now on; `memory` is what is known of it.
  void Begin(const std::string& job, v1::JobMemory memory);
  // It is not owned any more, or is over.
  void Forget(const std::string& job);

  // `written`: the history has it.
  void Put(const std::string& job, v1::JobMemory::Standing verdict, bool written);
  enum class Kind : std::uint8_t { kLearnt, kAccount, kRun };
  // `turn`: an episode began or ended with it. Empty bytes: there is none any more.
  void Put(const std::string& job, Kind kind, WallNs kept, std::string_view bytes,
           bool turn = false);
  // To the job of which the verdict `told.key()` is.
  void Put(v1::JobMemory::Told told);
  void DropTold(const std::string& receiver, const std::string& key);

  struct Record {
    WallNs kept;
    std::string bytes;
  };
  std::optional<Record> Find(const std::string& job, Kind kind) const;
  // Of all jobs.
  std::vector<std::string> Runs() const;
  std::vector<v1::JobMemory::Told> AllTold() const;

  // Called each time that a job becomes urgent. Empty: nobody is.
  void OnNews(std::function<void()> news);
  std::vector<std::string> Jobs() const;  // by name
  // What is known of the job, if it changed since it was taken; `only_urgent`: if it is urgent.
  std::optional<v1::JobMemory> TakeChanged(const std::string& job, bool only_urgent);
  // What was taken was not kept: it is urgent again.
  void Untake(const std::string& job);

 private:
  struct Entry {
    v1::JobMemory memory;
    bool changed = false, urgent = false;
  };
  static const v1::JobMemory::Record& Of(const v1::JobMemory& memory, Kind kind);
  static v1::JobMemory::Record& Of(v1::JobMemory& memory, Kind kind);
  // The job of which the verdict is; null: none.
  Entry* JobOf(const std::string& verdict) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(Entry& entry, bool urgent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable service::Mutex mutex_;
  std::map<std::string, Entry> jobs_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> news_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CHECKPOINT_JOB_CHECKPOINTS_H_
