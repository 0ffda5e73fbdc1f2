// The agents that are connected to this collector, for orders that owners of jobs send them.
//
// Written by DoorSession, asked for each BusOrder. Thread-safety: thread-safe. Ownership: channels
// are owned by their streams and held weakly. Errors: false where the agent is not there any more.
// Cost: O(log agents).
#ifndef FATHOM_COLLECTOR_CLUSTER_DOOR_TABLE_H_
#define FATHOM_COLLECTOR_CLUSTER_DOOR_TABLE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

#include "collector/agents/session_registry.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::v1 {
class BusOrder;
}

namespace fathom::collector {

class DoorTable {
 public:
  explicit DoorTable(const Clock& clock) : clock_(clock) {}

  // The name of a new connection: no other has had it at this door. `again` is set when the agent
  // is to say again who takes part.
  std::uint64_t Add(std::weak_ptr<RowsChannel> channel, std::shared_ptr<std::atomic<bool>> again);
  void Remove(std::uint64_t connection);
  bool Pass(const v1::BusOrder& order);

 private:
  struct Entry {
    std::weak_ptr<RowsChannel> channel;
    std::shared_ptr<std::atomic<bool>> again;
  };

  const Clock& clock_;
  service::Mutex mutex_;
  std::map<std::uint64_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t newest_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CLUSTER_DOOR_TABLE_H_
