// The shape that every source of hardware readings has: a name, a pace, a budget, and one function
// that reads all of its devices once.
//
// Implemented in this folder (NVML, network devices, RDMA ports, disks, processors, memory,
// CPU limits), run by
// source_runner, each on a thread of its own, because a driver or a file of /sys may hang.
//
// Model: Sample() reads and returns; what changed, and what leaves the node, is decided elsewhere
// (reading_board). It says through `doing` which call it is about to make, so that a call that does
// not come back can be named.
//
// Thread-safety: Sample is called by one thread. Ownership: a source owns what it opened.
// Errors: NotFound: there is nothing of the kind on this node (asked again now and then); any other
// code: it is there and cannot be read, and the message says which call or file.
// Cost: each source's header says; source_runner keeps it within the budget.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_HARDWARE_SOURCE_H_
#define FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_HARDWARE_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/types/hardware_metric.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

struct Reading {
  DeviceKind kind = DeviceKind::kUnknown;
  std::string device;
  HardwareMetric metric = HardwareMetric::kUnknown;
  double value = 0;
  std::string note;
};

// Which call a source is in, for those who wonder why it does not come back. Thread-safe.
class CallInProgress {
 public:
  explicit CallInProgress(std::function<MonoNs()> now) : now_(std::move(now)) {}

  // `call` lives for ever: a literal. `device`: its number, −1 for none.
  void Enter(const char* call, int device = -1) {
    device_.store(device, std::memory_order_relaxed);
    since_ns_.store(now_().ns, std::memory_order_relaxed);
    call_.store(call, std::memory_order_release);
  }
  void Leave() { call_.store(nullptr, std::memory_order_release); }

  const char* call() const { return call_.load(std::memory_order_acquire); }
  int device() const { return device_.load(std::memory_order_relaxed); }
  MonoNs since() const { return MonoNs(since_ns_.load(std::memory_order_relaxed)); }

 private:
  const std::function<MonoNs()> now_;
  std::atomic<const char*> call_{nullptr};
  std::atomic<int> device_{-1};
  std::atomic<std::int64_t> since_ns_{0};
};

class HardwareSource {
 public:
  virtual ~HardwareSource() = default;
  virtual std::string_view name() const = 0;
  // Processor time that it may take, as a share of a core: after a sample that took c it rests for
  // c / budget at least.
  virtual double budget() const { return 0.0002; }
  virtual absl::Status Sample(CallInProgress& doing, std::vector<Reading>& out) = 0;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_HARDWARE_HARDWARE_SOURCE_H_
