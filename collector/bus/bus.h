// What several collectors share: a log of each job, passing words, and questions to one another.
//
// Used by collector/cluster. Two forms: MemoryBus (within one process: tests) and NatsBus (NATS
// JetStream). Both pass tests/collector/bus. docs/formats/bus.md, docs/design/0019-several-
// collectors.md.
//
// Model: a job's log is an ordered sequence of records; sequences rise, with gaps. A record has a
// place, of which the newest kRecordsOfPlace are kept: what a rank told of one kind is a place, so
// a job's log is bounded by its ranks however long it runs. Follow hands out the log from its
// oldest record on, in order, each record once, then says that it has caught up, then hands out
// what comes. Words (Tell, Hear) reach who listens now and nobody else. A question (Ask) is
// answered by whoever answers to that name.
//
// Units: bytes; ns. Thread-safety: thread-safe. Callbacks come from the bus's threads, one at a
// time for each Hearing, and never after its destructor has returned; they must not destroy it.
// Ownership: a Hearing must not outlive its bus. Errors: Append never fails: what cannot be kept
// now is kept as soon as it can, up to kMaxWaitingBytes; beyond, it is given up and counted, and
// becomes durable all the same, for agents' buffers are bounded. Ask and Follow give the reason.
// Cost: Append copies the record once.
#ifndef FATHOM_COLLECTOR_BUS_BUS_H_
#define FATHOM_COLLECTOR_BUS_BUS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "collector/journal/durable_log.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

struct BusCounters {
  std::uint64_t appended = 0;     // records that the bus keeps
  std::uint64_t redelivered = 0;  // records that were sent again, for nothing was heard of them
  std::uint64_t given_up = 0;     // records that waited and had no room
  std::uint64_t waiting = 0;      // records that the bus has not said it keeps
  std::uint64_t errors = 0;       // answers of the bus that were no
  std::uint64_t reconnects = 0;
};

// A subscription: ends with it.
class Hearing {
 public:
  virtual ~Hearing() = default;
};

class Bus : public DurableLog {
 public:
  // Summaries of a rank come in batches: 256 of them reach back further than a job's window.
  static constexpr std::int64_t kRecordsOfPlace = 256;
  static constexpr std::size_t kMaxWaitingBytes = 64u << 20;

  struct Place {
    std::string job;
    std::string key;  // tokens (bus_names.h) with '.' between them
  };
  struct Kept {
    std::uint64_t sequence = 0;
    std::uint64_t behind = 0;  // records of the job that are in the log and come after it
    std::string_view bytes;
  };
  using OnKept = std::function<void(const Kept&)>;
  using OnWord = std::function<void(std::string_view bytes)>;
  using OnAsked = std::function<std::string(std::string_view bytes)>;

  // Once the record that it returns is durable, all that was appended so far by this bus is.
  virtual std::uint64_t Append(const Place& place, std::string bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Hearing>> Follow(const std::string& job, OnKept on_kept,
                                                          std::function<void()> caught_up) = 0;
  // Drops what the log of the job has before `sequence`.
  virtual void Forget(const std::string& job, std::uint64_t before) = 0;

  virtual void Tell(const std::string& topic, std::string_view bytes) = 0;
  virtual absl::StatusOr<std::unique_ptr<Hearing>> Hear(const std::string& topic,
                                                        OnWord on_word) = 0;
  // NotFound: nobody of that name is there. Internal: whoever was asked ended instead. Unavailable:
  // no answer within `patience`, or the connection broke before one came.
  virtual absl::StatusOr<std::string> Ask(const std::string& name, std::string_view bytes,
                                          Nanos patience) = 0;
  virtual absl::StatusOr<std::unique_ptr<Hearing>> Answer(const std::string& name,
                                                          OnAsked on_asked) = 0;

  // Why nothing is kept now; empty: all is well.
  virtual std::string failing() const = 0;
  virtual BusCounters counters() const = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_BUS_H_
