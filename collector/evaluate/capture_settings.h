// When stacks are captured without anybody asking.
//
// Part of CollectorConfig, read by CaptureTrigger. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_EVALUATE_CAPTURE_SETTINGS_H_
#define FATHOM_COLLECTOR_EVALUATE_CAPTURE_SETTINGS_H_

#include <cstdint>
#include <string>

namespace fathom::collector {

struct CaptureSettings {
  std::string mode = "on";     // "on", "off"
  std::int64_t per_hour = 12;  // of one job
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_CAPTURE_SETTINGS_H_
