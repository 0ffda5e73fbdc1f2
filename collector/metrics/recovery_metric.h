// The metric of what `fathom recover` told of recoveries.
//
// Used by the collector. Header only. `recoveries` is null while nobody can tell anything yet.
// Thread-safety: pure.
#ifndef FATHOM_COLLECTOR_METRICS_RECOVERY_METRIC_H_
#define FATHOM_COLLECTOR_METRICS_RECOVERY_METRIC_H_

#include "collector/api/recovery/recovery_api.h"
#include "collector/metrics/metric_page.h"

namespace fathom::collector {

inline void WriteRecoveryMetric(const RecoveryApi* recoveries, MetricPage& page) {
  auto counter =
      page.Counter("fathom_recovery_records_total",
                   "Records of recoveries that fathom recover told, by what became of them.");
  const bool none = recoveries == nullptr;
  counter.Set(none ? 0 : static_cast<double>(recoveries->kept()), {{"result", "kept"}});
  counter.Set(none ? 0 : static_cast<double>(recoveries->refused()), {{"result", "refused"}});
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_METRICS_RECOVERY_METRIC_H_
