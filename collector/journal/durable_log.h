// Something that keeps what agents told, so that it may be acknowledged.
//
// Waited for by ingest/agent_stream; a Journal (this machine's disk) or a Bus (shared by several
// collectors). Thread-safety: thread-safe; callbacks come from the log's own thread, without its
// lock. Errors: none; what cannot be kept now is not durable yet. Cost: O(log of who waits).
#ifndef FATHOM_COLLECTOR_JOURNAL_DURABLE_LOG_H_
#define FATHOM_COLLECTOR_JOURNAL_DURABLE_LOG_H_

#include <cstdint>
#include <functional>

namespace fathom::collector {

class DurableLog {
 public:
  virtual ~DurableLog() = default;
  // Calls `done` once `record` is durable. False: it is already, and `done` is not called.
  [[nodiscard]] virtual bool WhenDurable(std::uint64_t record, std::function<void()> done) = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOURNAL_DURABLE_LOG_H_
