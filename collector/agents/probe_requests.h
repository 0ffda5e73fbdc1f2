// Orders probes from the agents of chosen nodes and judges what comes back.
//
// Used by the API (Ask, Stop, All) and by sessions (OnAnswer); serve writes to the store what is
// done and tells the verdicts. Model: an order goes to each node; a node answers once, with its
// lines or with why not. When all have answered, or the time is over, each run is judged against
// the others of the order and what the history holds (collector/probe), and `done` hears of it.
//
// Thread-safety: thread-safe; `done` and `history` are called without the lock. Ownership: refers
// to registry and clock. Units: seconds, wall ns. Errors: InvalidArgument for a wish that cannot
// be; ResourceExhausted when too many are under way; NotFound for an id that is none; kUnasked.
// Cost: one message a node. Bounds: kMostNodes of an order, kMostUnderWay, kMostKept.
#ifndef FATHOM_COLLECTOR_AGENTS_PROBE_REQUESTS_H_
#define FATHOM_COLLECTOR_AGENTS_PROBE_REQUESTS_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/agents/session_registry.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::collector {

struct ProbeWish {
  std::vector<std::string> nodes = {};
  std::string job = {};  // for whose suspects; empty: for none
  std::string asked_by = {};
  bool full = false;
  std::string probes = {};
  double seconds = 0;            // of all probes of a node; 0: by the set
  std::uint32_t memory_mib = 0;  // 0: by the agent
  bool beside_training = false;
};

// One order, as it stands.
struct ProbeRequest {
  std::uint64_t id = 0;
  ProbeWish wish = {};
  WallNs asked = {};
  WallNs ended = {};  // not known: under way
  std::set<std::string> waits = {};
  std::map<std::string, v1::NodeProbe> runs = {};  // of those that answered
};

class ProbeRequests {
 public:
  static constexpr std::size_t kMostNodes = 256;
  static constexpr std::size_t kMostUnderWay = 8;
  static constexpr std::size_t kMostKept = 64;
  static constexpr double kMostSeconds = 3600;
  static constexpr std::size_t kMostBytes = 512 << 10;  // of an answer's lines

  using Listener = std::function<void(const ProbeRequest&)>;
  // Earlier runs, the newest first: of a node, or of all nodes where `node` is empty.
  using History = std::function<std::vector<v1::NodeProbe>(const std::string& node)>;

  ProbeRequests(const SessionRegistry& registry, const Clock& clock, History history, Listener done)
      : registry_(registry), clock_(clock), history_(std::move(history)), done_(std::move(done)) {}

  // The order's id.
  absl::StatusOr<std::uint64_t> Ask(const ProbeWish& wish);
  absl::Status Stop(std::uint64_t id);
  Rejection OnAnswer(std::string_view node, const v1::ProbeAnswer& answer);
  // Ends orders whose time is over. To be called every few seconds.
  void Expire();

  std::vector<ProbeRequest> All() const;  // the newest first
  absl::StatusOr<ProbeRequest> Find(std::uint64_t id) const;

 private:
  struct Entry {
    ProbeRequest request;
    MonoNs deadline;
  };

  bool Send(const std::string& node, const v1::ProbeOrder& order) const;
  std::size_t UnderWay() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Judges and tells an order that nobody waits for any more.
  void Conclude(ProbeRequest request);
  void ForgetOld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SessionRegistry& registry_;
  const Clock& clock_;
  const History history_;
  const Listener done_;
  mutable service::Mutex mutex_;
  std::map<std::uint64_t, Entry> requests_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_PROBE_REQUESTS_H_
