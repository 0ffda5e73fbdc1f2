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
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WORK_LOG_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WORK_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/import/kineto/trace/trace_event.h"
#include "diagnosis/stats/interval_set.h"
#include "diagnosis/tables/device_work.h"

namespace fathom::collector::kineto {

using diagnosis::IntervalSet;
using Stretch = IntervalSet::Stretch;

// Calls on the host that launch work, by correlation id.
using Launches = absl::flat_hash_map<std::int64_t, Stretch>;

class WorkLog {
 public:
  // `whole`: keeps ops beside work on a device too.
  explicit WorkLog(bool whole = false) : whole_(whole) {}

  // The same number for the same name, from 0 on.
  std::uint32_t NameOf(std::string_view name);
  // `name`: NameOf that of the event.
  void AddDevice(diagnosis::WorkKind kind, std::uint32_t name, const TraceEvent& event,
                 const EventArgs& args);
  void AddHostOp(const TraceEvent& event);

  // `training_thread`: whose ops are kept, and unless whole only where no device worked. Call once.
  diagnosis::RankWork Take(const Launches& launches, std::int64_t training_thread);

 private:
  std::uint16_t StreamOf(std::int64_t stream);
  void AddCopy(const TraceEvent& event, std::int64_t bytes);

  const bool whole_;
  absl::flat_hash_map<std::string, std::uint32_t> name_ids_;
  std::vector<std::int64_t> correlations_;  // of work_.device
  std::map<std::int64_t, std::vector<diagnosis::HostOp>>
      ops_by_thread_;  // unless whole until a device works
  diagnosis::RankWork work_;
};

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_WORK_LOG_H_
