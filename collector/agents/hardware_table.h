// What the hardware of each node has said of itself lately: readings over time, by node.
//
// Filled by ingest/agent_session, read by evaluate (what the hardware of accused ranks says) and by
// the API (strips on the page).
//
// Model: connections are many and matter to the rules on links alone, so they are asked for apart.
// A series keeps where its value changed, at most kMostPoints: then every other point of its
// older half goes, so that long ago is known in less detail. Readings that are not in a message are
// as before; one that is whole drops what it does not name. A node that was not heard of for
// kForgetAfter is forgotten, when there is need of room. Times are the node's own.
//
// Thread-safety: thread-safe. Ownership: owns the readings. Errors: past the bounds readings are
// left out and counted, and those of kinds that only a later agent knows. Cost: O(readings) a
// message, a copy of the nodes asked for a look. Memory: some 40 KiB a node with eight GPUs after
// an hour, at most kMostSeries × kMostPoints × 16 B.
#ifndef FATHOM_COLLECTOR_AGENTS_HARDWARE_TABLE_H_
#define FATHOM_COLLECTOR_AGENTS_HARDWARE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/process/clock.h"
#include "daemon/service/mutex.h"
#include "diagnosis/model/hardware.h"

namespace fathom::v1 {
class HardwareDevice;
class NodeHardware;
}  // namespace fathom::v1

namespace fathom::collector {

class HardwareTable {
 public:
  static constexpr std::size_t kMostNodes = 20'000;
  static constexpr std::size_t kMostSeries = 2048;  // of a node
  static constexpr std::size_t kMostPoints = 64;
  static constexpr Nanos kForgetAfter{3600ll * 1'000'000'000};

  explicit HardwareTable(const Clock& clock) : clock_(clock) {}

  // Requires: `news` is valid (ingest/validate.h).
  void Apply(std::string_view node, const v1::NodeHardware& news);
  // At that time, by the clock of the node, all was as it had told. 0: not known.
  void NothingNew(std::string_view node, WallNs at);
  // Of those that have said something, in the order asked: all but connections, and these alone.
  std::vector<diagnosis::NodeHardware> Of(const std::vector<std::string>& nodes) const;
  std::vector<diagnosis::NodeHardware> ConnectionsOf(const std::vector<std::string>& nodes) const;
  std::uint64_t readings() const;  // taken in
  std::uint64_t left_out() const;  // for want of room

 private:
  struct Entry {
    diagnosis::NodeHardware hardware;
    std::size_t series = 0;
    MonoNs heard;
  };

  [[nodiscard]] bool MakeRoom(std::string_view node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<diagnosis::NodeHardware> Chosen(const std::vector<std::string>& nodes,
                                              bool connections) const;
  void Put(const v1::HardwareDevice& told, WallNs at, Entry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  mutable service::Mutex mutex_;
  std::map<std::string, Entry, std::less<>> nodes_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t readings_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_HARDWARE_TABLE_H_
