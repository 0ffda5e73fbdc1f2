// What one rank's devices and its training thread did, event by event: for a drawing of it.
//
// Kept by an importer while it reads a trace, only when somebody will draw it (--perfetto); read by
// collector/export/perfetto.
//
// Model: of all that was traced the first so many events by begin, of the device and of the thread
// together, so that what is kept tells one stretch of time whole; `left_out` counts the others.
//
// Units: ns; times of the work count from `base`, `until` is a time of the view.
// Thread-safety: plain values. Ownership: owns all it holds. Errors: none.
// Cost: 40 bytes a kernel or copy, 24 an op, and the names.
#ifndef FATHOM_DIAGNOSIS_TABLES_DEVICE_TIMELINE_H_
#define FATHOM_DIAGNOSIS_TABLES_DEVICE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "diagnosis/tables/device_work.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

inline constexpr std::int64_t kNothingCut = std::numeric_limits<std::int64_t>::max();

struct DeviceTimeline {
  RankWork work;             // both lists by begin, of equal begins the longest first; no copies
  std::int64_t base = 0;     // time of the work + base = time of the view
  std::uint32_t thread = 0;  // the training thread, as rows number it
  std::uint64_t left_out = 0;
  std::int64_t until = kNothingCut;  // what begins from here on is left out

  bool empty() const { return work.device.empty() && work.host_ops.empty() && left_out == 0; }
};

// A rank has one for each window of the profiler, by time.
using DeviceTimelines = std::map<RankId, std::vector<DeviceTimeline>>;

// At most `most` events of `work`, with base 0.
DeviceTimeline TimelineOf(const RankWork& work, std::size_t most);

// Puts the times of the view in the place of those of the trace.
void Rebase(std::int64_t base, DeviceTimeline& timeline);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_TABLES_DEVICE_TIMELINE_H_
