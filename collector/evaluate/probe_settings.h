// When nodes are probed without anybody asking.
//
// Part of CollectorConfig, read by ProbeTrigger. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_EVALUATE_PROBE_SETTINGS_H_
#define FATHOM_COLLECTOR_EVALUATE_PROBE_SETTINGS_H_

#include <string>

namespace fathom::collector {

struct ProbeSettings {
  std::string mode = "asked";  // "asked", "after_jobs"
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_PROBE_SETTINGS_H_
