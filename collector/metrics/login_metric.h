// The metric of refused requests, the same for the collector and fathom-cordon.
//
// Used by their exporters. Header only. Thread-safety: pure.
#ifndef FATHOM_COLLECTOR_METRICS_LOGIN_METRIC_H_
#define FATHOM_COLLECTOR_METRICS_LOGIN_METRIC_H_

#include "collector/http/login.h"
#include "collector/metrics/metric_page.h"

namespace fathom::collector {

inline void WriteLoginFailures(const Login::Failures& failures, MetricPage& page) {
  auto counter =
      page.Counter("fathom_login_failures_total", "Requests refused for want of a right, by why.");
  counter.Set(static_cast<double>(failures.unknown), {{"reason", "token"}});
  counter.Set(static_cast<double>(failures.role), {{"reason", "role"}});
  counter.Set(static_cast<double>(failures.throttled), {{"reason", "throttled"}});
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_METRICS_LOGIN_METRIC_H_
