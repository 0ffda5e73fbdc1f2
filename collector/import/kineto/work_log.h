// Keeps, of the events of one trace, what the classic tables need: kernels, copies, the calls that
// launched them, and the ops of the framework.
//
// Filled by RankTraceBuilder while a trace is streamed; its result goes to diagnosis/tables.
//
// Model: a launch and what it launched bear the same correlation id and come in any order, so they
// are joined in Take(). Copies are summed by kind as they come.
//
// Units: ns since the base of the trace. Thread-safety: belongs to one thread.
// Errors: none. Cost: one hash of a name an event; memory as diagnosis::RankWork says.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_WORK_LOG_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_WORK_LOG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/import/kineto/trace_event.h"
#include "diagnosis/stats/interval_set.h"
#include "diagnosis/tables/device_work.h"

namespace fathom::collector::kineto {

using diagnosis::IntervalSet;
using Stretch = IntervalSet::Stretch;

// Calls on the host that launch work, by correlation id.
using Launches = std::unordered_map<std::int64_t, Stretch>;

class WorkLog {
 public:
  void AddDevice(diagnosis::WorkKind kind, const TraceEvent& event, const EventArgs& args);
  void AddHostOp(const TraceEvent& event);

  // `training_thread`: whose ops are kept, and only where no device worked. Call once.
  diagnosis::RankWork Take(const Launches& launches, std::int64_t training_thread);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::uint32_t NameOf(std::string_view name);
  std::uint16_t StreamOf(std::int64_t stream);
  void AddCopy(const TraceEvent& event, std::int64_t bytes);

  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> name_ids_;
  std::vector<std::int64_t> correlations_;  // of work_.device
  std::map<std::int64_t, std::vector<diagnosis::HostOp>> ops_by_thread_;
  diagnosis::RankWork work_;
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_WORK_LOG_H_
