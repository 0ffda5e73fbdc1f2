// What a series of readings was in a stretch of time: its level, its increase, since when.
//
// Used by hardware/rules. Model: the level is the median over time, each value weighing as long as
// it stood; a series that begins after the stretch has no level in it. A reset of a counter (it
// falls) counts from zero.
//
// Units: those of the metric. Thread-safety: pure. Errors: nullopt where the series does not reach
// into the stretch. Cost: O(points × log).
#ifndef FATHOM_DIAGNOSIS_HARDWARE_READINGS_LEVELS_H_
#define FATHOM_DIAGNOSIS_HARDWARE_READINGS_LEVELS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "diagnosis/model/hardware.h"

namespace fathom::diagnosis {

struct Stretch {
  WallNs from, to;
};

// Null where the device has no such series.
const HardwareSeries* SeriesOf(const HardwareDevice& device, HardwareMetric metric);

std::optional<double> LevelIn(const HardwareDevice& device, HardwareMetric metric, Stretch when);
// Of a counter.
std::optional<double> IncreaseIn(const HardwareDevice& device, HardwareMetric metric, Stretch when);
// Share of the stretch in which `bit` of a mask was set.
std::optional<double> BitShareIn(const HardwareDevice& device, HardwareMetric metric,
                                 std::uint64_t bit, Stretch when);
// When the series last came over to the side of `limit` that it ends on; not known: it was there
// from its first point on.
WallNs SinceBeyond(const HardwareDevice& device, HardwareMetric metric, double limit);

// "12:03:20 UTC".
std::string ClockTime(WallNs at);
// "1,980".
std::string WithCommas(double value);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_READINGS_LEVELS_H_
