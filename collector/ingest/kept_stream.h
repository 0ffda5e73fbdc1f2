// What one agent's stream puts into the store of ops.
//
// Owned by AgentSession, and by the cluster's DoorSession, which asks before it knows whether the
// owner of the job takes it in. Model: of the jobs that the store names, messages as they came; of
// health, ranks that go on every fifth time. Without a store nothing is kept and all of it is free.
//
// Thread-safety: thread-compatible. Ownership: refers to the store, which outlives it. Errors:
// counted by the store. Cost: that of OpStore::Keep.
#ifndef FATHOM_COLLECTOR_INGEST_KEPT_STREAM_H_
#define FATHOM_COLLECTOR_INGEST_KEPT_STREAM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fathom::v1 {
class AgentMessage;
class RankHealth;
}  // namespace fathom::v1

namespace fathom::collector {

class OpStore;

class KeptStream {
 public:
  explicit KeptStream(OpStore* store) : store_(store) {}

  // Whose stream it is.
  void Greeted(std::string node, std::string boot_id) {
    node_ = std::move(node);
    boot_id_ = std::move(boot_id);
  }
  bool Holds(const std::string& job) const;
  void Keep(const std::string& job, const v1::AgentMessage& message);
  void KeepHealth(const std::vector<const v1::RankHealth*>& ranks);
  std::uint64_t record() const { return record_; }  // OpStore's, of the last that was kept

 private:
  OpStore* const store_;  // null: there is none
  std::string node_, boot_id_;
  std::uint64_t healths_ = 0;  // batches of health that were kept, whole or in part
  std::uint64_t record_ = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_KEPT_STREAM_H_
