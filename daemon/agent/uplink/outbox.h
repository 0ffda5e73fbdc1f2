// What is to be sent to the collector: numbered on each stream, kept until acknowledged.
//
// Filled by the poll loop, emptied by collector_link's writer; acknowledgements come from its
// reader. docs/formats/stream.md.
//
// Model: five kinds of message.
//   standing   who takes part (ranks, groups): said again at the beginning of every stream, because
//              a collector may come back knowing nothing; of a process that is gone until all is
//              acknowledged that was kept of it: without it a collector could not place the rest;
//   death      that a process has ended: kept until acknowledged, sent again on the next stream;
//   durable    summaries and what became of orders: likewise;
//   momentary  health, counters, answers: worth nothing later; dropped when no stream is up. Of
//              health, counters and plan the newest alone waits: a stream that stands still must
//              not begin with old ones.
//   bulk       blocks of ops: kept until acknowledged and sent again on the next stream, in memory
//              only.
// Beyond the limit the oldest bulk message is dropped, then the oldest momentary one, then the
// oldest durable one, each counted by what it is; never the hello, nor who takes part, nor a death
// (some 300 bytes each). With a spool every durable message and death is on disk as well. Those
// beyond the limit are there alone, and come back into memory in their order as room becomes free;
// only while the disk takes nothing is it as without one. What an earlier agent left there is sent
// first. Numbers start at 1 on every stream (the hello) and rise by 1.
//
// Once the collector takes them, what waits goes out together: a node's ranks tell of an iteration
// at about one time, and each write less spares a read at the other end.
//
// Thread-safety: thread-safe.
// Ownership: owns its messages; Next hands out copies. The spool must outlive it.
// Errors: none; a message above the size limit is dropped and counted.
// Cost: one lock an operation; memory bounded by `limit_bytes` plus the standing messages.
#ifndef FATHOM_DAEMON_AGENT_UPLINK_OUTBOX_H_
#define FATHOM_DAEMON_AGENT_UPLINK_OUTBOX_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "daemon/agent/spool/spool.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::agent {

struct OutboxCounters {
  std::uint64_t dropped = 0;                             // durable messages that were lost
  std::map<std::string, std::uint64_t> dropped_by_kind;  // of all kinds: "summary", "health", …
  // Momentary messages that did not go out or of which that is not known: who tells only what is
  // new tells all again once this has risen.
  std::uint64_t momentary_lost = 0;
  std::uint64_t bytes_sent = 0;  // payload handed to the stream, repeats included
  std::uint64_t sent = 0;
  std::size_t waiting = 0;  // not acknowledged
};

class Outbox {
 public:
  static constexpr std::size_t kMaxMessageBytes = 4 * 1024 * 1024 - 64 * 1024;
  static constexpr int kMostTogether = 64;                  // a collector takes four times as many
  static constexpr std::size_t kBytesTogether = 32 * 1024;  // none is added beyond

  explicit Outbox(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Before anything else is called.
  void KeepIn(Spool& spool);

  // `key` orders them: "1/rank" before "2/group". The same key again replaces.
  void PutStanding(const std::string& key, v1::AgentMessage message);
  // Its process is gone: it stands until what is kept now was acknowledged.
  void RetireStanding(const std::string& key);
  void PutDurable(v1::AgentMessage message);
  void PutMomentary(v1::AgentMessage message);
  void PutBulk(v1::AgentMessage message);

  // A stream begins: hello first, then what stands, then what was not acknowledged.
  void BeginStream(const v1::Hello& hello);
  void EndStream();

  // The collector of this stream takes messages that follow another within it.
  void SendTogether();

  // The next message, numbered, with those that wait behind it where they may go together; waits
  // until there is one. Nothing when the stream has ended, or at `deadline`.
  std::optional<v1::AgentMessage> Next(std::chrono::steady_clock::time_point deadline);

  void Acknowledge(std::uint64_t number);

  // True once everything was acknowledged; waits until `deadline`.
  bool WaitUntilEmpty(std::chrono::steady_clock::time_point deadline);

  OutboxCounters counters() const;

 private:
  enum class Kind : std::uint8_t { kStanding, kDeath, kDurable, kMomentary, kBulk };
  struct Entry {
    v1::AgentMessage message;
    std::size_t bytes = 0;
    std::uint64_t number = 0;  // on this stream; 0 = not sent yet
    Kind kind = Kind::kMomentary;
    std::uint64_t serial = 0;  // of a durable one or a death, over all streams; else 0
  };
  struct Standing {
    v1::AgentMessage message;
    std::uint64_t until = 0;  // retired: the serial after the last kept of it; else 0
  };

  // The next one, numbered. Requires: there is one.
  const Entry& TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Push(v1::AgentMessage message, Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Shrink() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool DropOldest(Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(std::deque<Entry>::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountDrop(const v1::AgentMessage& message, Kind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // An older one of the same kind that was not sent yet.
  void DropSuperseded(const v1::AgentMessage& message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether it can be left on the disk for later.
  [[nodiscard]] bool Spill(std::uint64_t serial, const v1::AgentMessage& message, std::size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the next messages from the disk. Lets go of the lock while it reads.
  void Refill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRefill() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return spilled_ && bytes_ < limit_bytes_;
  }
  // The serial up to which nothing waits.
  std::uint64_t Done() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Those whose last message is not waiting any more.
  void ForgetRetired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t limit_bytes_;
  mutable service::Mutex mutex_;
  service::ConditionVariable changed_;
  std::map<std::string, Standing> standing_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t last_serial_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);  // sent ones first
  std::size_t sent_ ABSL_GUARDED_BY(mutex_) = 0;       // how many entries of the front were sent
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_number_ ABSL_GUARDED_BY(mutex_) = 1;
  bool streaming_ ABSL_GUARDED_BY(mutex_) = false;
  bool together_ ABSL_GUARDED_BY(mutex_) = false;
  Spool* spool_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Later messages than `loaded_` are on the disk alone.
  bool spilled_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t loaded_ ABSL_GUARDED_BY(mutex_) = 0;  // serial
  // Entries were kept in memory while older ones were on the disk.
  bool disordered_ ABSL_GUARDED_BY(mutex_) = false;
  OutboxCounters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_UPLINK_OUTBOX_H_
