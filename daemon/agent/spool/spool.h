// The agent's memory on disk: what waits for the collector, kept over the end of the agent.
//
// Filled and read by Outbox, opened by agent where --spool names a folder. docs/formats/spool.md.
//
// Model: every durable message is written, with its serial, as it comes; so is who takes part,
// again at the head of each segment. What was acknowledged is noted, and segments of which all was
// are removed. An agent that starts anew finds what was not acknowledged (TakeLeft), and sends it.
// A thread of its own writes, and syncs once a second: nobody waits for the disk. What a full disk
// does not take is kept in memory up to kMaxQueuedBytes and tried again each second; healthy() is
// false meanwhile, so that the outbox keeps in memory what comes.
//
// Units: bytes; wall ns. Thread-safety: thread-safe. Ownership: owns its thread and files; Close
// (or
//   the destructor) writes what waits, and joins.
// Errors: Open says what and where; later ones are logged once until one succeeds, and counted.
// Cost: a copy of each message; one write for what came within kGather; one fdatasync a second.
#ifndef FATHOM_DAEMON_AGENT_SPOOL_SPOOL_H_
#define FATHOM_DAEMON_AGENT_SPOOL_SPOOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/service/mutex.h"
#include "daemon/service/segment_log.h"
#include "fathom/v1/agent.pb.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct SpoolSettings {
  std::string folder;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  Nanos max_age = Nanos::FromSeconds(24 * 3600);
  std::uint64_t segment_bytes = 8u << 20;
};

struct SpoolCounters {
  std::uint64_t bytes = 0;  // on the disk
  std::uint64_t write_errors = 0;
  std::uint64_t damaged = 0;     // records and tails that could not be read
  std::uint64_t pushed_out = 0;  // messages that the caps of size and age took, or the disk refused
};

class Spool {
 public:
  static constexpr std::size_t kMaxQueuedBytes = 8u << 20;
  using WallClock = std::function<WallNs()>;

  struct Message {
    std::uint64_t serial = 0;
    v1::AgentMessage message;
  };
  // What an earlier agent left.
  struct Left {
    std::map<std::string, v1::AgentMessage> standing;  // who took part, by key
    std::uint64_t acknowledged = 0;                    // serial
    std::uint64_t last = 0;                            // serial; `acknowledged` where nothing waits
  };

  static absl::StatusOr<std::unique_ptr<Spool>> Open(const SpoolSettings& settings,
                                                     WallClock wall_now);
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  const Left& left() const { return left_; }

  void PutStanding(const std::string& key, const v1::AgentMessage& message);
  void ForgetStanding(const std::string& key);
  // Requires: serials rise.
  void PutDurable(std::uint64_t serial, const v1::AgentMessage& message);
  void Acknowledge(std::uint64_t serial);

  // The messages after `serial`, oldest first, until they are more than `bytes`. Reads the disk.
  std::vector<Message> After(std::uint64_t serial, std::uint64_t bytes);

  bool healthy() const;  // whether what comes now will be on the disk soon
  bool settled() const;  // nothing waits to be written
  SpoolCounters counters() const;
  void Close();

 private:
  struct Queued {
    std::string record;
    std::uint64_t serial = 0;  // of a durable message; else 0
  };
  // Up to which serial, before which sequence of the log.
  struct Mark {
    std::uint64_t serial = 0, sequence = 0;
  };

  Spool(const SpoolSettings& settings, WallClock wall_now)
      : settings_(settings), wall_now_(std::move(wall_now)) {}
  absl::Status OpenLog();
  void ReadLeft();
  std::vector<std::string> Heads() const;
  void Enqueue(Queued queued) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  void WriteBatch(std::vector<Queued>& batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_mutex_);
  void Tidy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_mutex_);
  void CountPushedOut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_mutex_);

  const SpoolSettings settings_;
  const WallClock wall_now_;
  Left left_;

  mutable service::Mutex log_mutex_
      ABSL_ACQUIRED_BEFORE(mutex_);  // of the log and what belongs to it
  std::unique_ptr<service::SegmentLog> log_ ABSL_GUARDED_BY(log_mutex_);
  std::deque<Mark> marks_ ABSL_GUARDED_BY(log_mutex_);
  Mark read_ ABSL_GUARDED_BY(log_mutex_);  // where After ended

  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<std::string, std::string> standing_ ABSL_GUARDED_BY(mutex_);  // key → message
  std::deque<Queued> queue_ ABSL_GUARDED_BY(mutex_);
  std::size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t noted_ ABSL_GUARDED_BY(mutex_) = 0;  // of acknowledged_, on the disk
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool failing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  SpoolCounters counters_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SPOOL_SPOOL_H_
