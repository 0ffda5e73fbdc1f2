// The collectors of the cluster, as they say of themselves every second.
//
// Owned by Cluster. Model: each says its name, how much it owns and whether anybody listens to its
// events; one that was not heard for kGoneAfter, or that said it leaves, is none.
//
// Thread-safety: thread-safe. Ownership: refers to its parts. Errors: Start gives the reason. Cost:
// a small word a second from each.
#ifndef FATHOM_COLLECTOR_CLUSTER_MEMBERS_H_
#define FATHOM_COLLECTOR_CLUSTER_MEMBERS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/bus/bus.h"
#include "collector/cluster/cluster_counters.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

class Members {
 public:
  static constexpr Nanos kGoneAfter{3'500'000'000};

  Members(Bus& bus, const Clock& clock, ClusterCounters& counters, std::string me)
      : bus_(bus), clock_(clock), counters_(counters), me_(std::move(me)) {}

  absl::Status Start();
  void Say(v1::BusMember member);

  std::vector<std::string> Others() const;
  // How many of them own fewer jobs than `jobs`, or as many and come first by name.
  std::size_t Before(std::size_t jobs) const;
  bool AnybodyListens() const;  // elsewhere

 private:
  struct Known {
    v1::BusMember said;
    MonoNs when;
  };
  void OnWord(std::string_view bytes);
  bool Lives(const Known& known) const { return clock_.Mono() - known.when < kGoneAfter; }

  Bus& bus_;
  const Clock& clock_;
  ClusterCounters& counters_;
  const std::string me_;
  mutable service::Mutex mutex_;
  std::map<std::string, Known> known_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Hearing> hearing_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_MEMBERS_H_
