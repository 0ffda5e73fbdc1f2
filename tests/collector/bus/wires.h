// Bus, leases and checkpoints in all their forms, for tests that are the same for both.
//
// Used as the parameter of the tests of bus and cluster: "memory", and "nats" with a real server.
// Each collector has a bus and leases of its own (Join), as separate processes would.
// Thread-safety: of one thread. Errors: skips() says why a test cannot run here.
#ifndef FATHOM_TESTS_COLLECTOR_BUS_WIRES_H_
#define FATHOM_TESTS_COLLECTOR_BUS_WIRES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "collector/bus/memory_bus.h"
#include "collector/bus/memory_checkpoints.h"
#include "collector/bus/memory_leases.h"
#include "collector/cluster/nats_wires.h"
#include "tests/collector/bus/nats_server.h"

namespace fathom::collector {

class Wires {
 public:
  Wires(const std::string& kind, const Clock& clock, Nanos term)
      : clock_(clock), term_(term), book_(clock, term) {
    if (kind == "nats") {
      server_ = std::make_unique<NatsServer>();
    } else {
      bus_ = std::make_shared<MemoryBus>();
    }
  }

  std::string skips() const { return server_ ? server_->reason() : ""; }
  bool real() const { return server_ != nullptr; }
  NatsServer& server() { return *server_; }

  ClusterWires Join(const std::string& name) {
    if (!server_) {
      return {nullptr, bus_, std::make_shared<MemoryLeases>(book_, name), checkpoints_};
    }
    auto wires = OpenNatsWires({.urls = server_->url(), .name = name}, term_, clock_);
    EXPECT_TRUE(wires.ok()) << wires.status();
    return wires.ok() ? *std::move(wires) : ClusterWires();
  }

 private:
  const Clock& clock_;
  const Nanos term_;
  std::unique_ptr<NatsServer> server_;
  std::shared_ptr<MemoryBus> bus_;
  std::shared_ptr<MemoryCheckpoints> checkpoints_ = std::make_shared<MemoryCheckpoints>();
  MemoryLeaseBook book_;
};

// Waits for what comes from other threads; false: it did not come.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_BUS_WIRES_H_
