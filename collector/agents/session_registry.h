// The agents: who is connected, what they last said of their node, and how to reach them.
//
// Written by sessions; asked by the diagnoser (is the agent of a node there?), by RowRequests,
// WindowRequests and TraceRequests (how to send to it), by the API and the exporter. A node that
// connects again replaces its former stream. A node that has been away for kForgetAfter is
// forgotten.
//
// Units: wall time for display, collector's monotonic clock for ages. Thread-safety: thread-safe.
// Ownership: channels are owned by their streams and held weakly. Errors: kTooManyNodes,
// kWrongName.
// Cost: O(log nodes).
#ifndef FATHOM_COLLECTOR_AGENTS_SESSION_REGISTRY_H_
#define FATHOM_COLLECTOR_AGENTS_SESSION_REGISTRY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/admission/reject_reason.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::v1 {
class AgentCounters;
class CaptureRequest;
class CollectorMessage;
class Hello;
class NodeHealth;
class NodePlan;
class ProbeOrder;
class RowsRequest;
class StackRequest;
class TraceOrder;
class WindowRequest;
}  // namespace fathom::v1

namespace fathom::collector {

// The way down to one agent. Thread-safe.
class RowsChannel {
 public:
  virtual ~RowsChannel() = default;
  // False, of all of these: the queue is full or the stream is over.
  virtual bool Pass(v1::CollectorMessage message) = 0;
  bool Send(const v1::RowsRequest& request);
  [[nodiscard]] bool SendWindow(const v1::WindowRequest& request);
  [[nodiscard]] bool SendTrace(const v1::TraceOrder& order);
  [[nodiscard]] bool SendStacks(const v1::StackRequest& request);
  [[nodiscard]] bool SendCapture(const v1::CaptureRequest& request);
  [[nodiscard]] bool SendProbe(const v1::ProbeOrder& order);
};

struct AgentFacts {
  // What it does at which rate, and what it takes; null: it has not told.
  std::shared_ptr<const v1::NodePlan> plan;
  std::string node;
  std::string version;
  std::uint32_t cores = 0;
  bool connected = false;
  WallNs last_seen;
  bool health_known = false;
  double cpu_busy_ratio = 0;
  double load1 = 0;
  double pressure_cpu = -1, pressure_memory = -1, pressure_io = -1;  // −1: not available
  std::uint64_t memory_available_bytes = 0;
};

// Sums of what all agents counted, monotonic also over agents' restarts.
struct AgentTotals {
  std::uint64_t records = 0;
  std::uint64_t messages_dropped = 0;
  std::map<std::string, std::uint64_t> records_dropped;  // at most kMaxReasons, then "other"
  std::map<std::string, std::uint64_t> messages_shed;    // by kind; likewise
};

class SessionRegistry {
 public:
  static constexpr std::size_t kMaxNodes = 100'000;
  static constexpr std::size_t kMaxReasons = 32;
  static constexpr Nanos kSheddingFor{30'000'000'000};  // after it last gave something up
  static constexpr Nanos kForgetAfter{3600ll * 1'000'000'000};

  explicit SessionRegistry(const Clock& clock) : clock_(clock) {}

  // `identity`: whose the stream is; empty where nothing is known. A node that is connected is
  // taken over by its own identity only (kWrongName).
  Rejection Connect(std::uint64_t session, const v1::Hello& hello,
                    std::weak_ptr<RowsChannel> channel, const std::string& identity = {});
  void Disconnect(std::uint64_t session, std::string_view node);
  void Seen(std::string_view node);
  void Health(std::string_view node, const v1::NodeHealth& health);
  void Counters(std::string_view node, const v1::AgentCounters& counters);
  // Requires: `plan` is valid (ingest/validate.h).
  void Plan(std::string_view node, const v1::NodePlan& plan);

  bool Connected(std::string_view node) const;
  std::shared_ptr<RowsChannel> ChannelOf(std::string_view node) const;
  std::vector<AgentFacts> Agents() const;  // by node
  std::size_t connected_count() const;
  AgentTotals Totals() const;
  // Of those nodes, the agents that could not send all in time lately.
  std::size_t Shedding(const std::set<std::string>& nodes) const;

 private:
  struct Entry {
    AgentFacts facts;
    std::uint64_t session = 0;
    std::string identity;
    std::weak_ptr<RowsChannel> channel;
    MonoNs seen_mono;
    std::uint64_t records = 0, messages_dropped = 0;
    std::map<std::string, std::uint64_t> dropped, shed;
    MonoNs shed_mono;  // when it last gave something up
  };
  using Counts = std::map<std::string, std::uint64_t>;

  // Adds to `total` what has grown since the last time; whether anything has.
  template <typename Told>
  static bool AddGrown(const Told& told, Counts& last, Counts& total);

  void ForgetOld(MonoNs now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  mutable service::Mutex mutex_;
  std::map<std::string, Entry, std::less<>> agents_ ABSL_GUARDED_BY(mutex_);
  AgentTotals totals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_SESSION_REGISTRY_H_
