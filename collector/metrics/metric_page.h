// Puts metric families together: name, help and type once, then samples.
//
// Used by PrometheusExporter. Families are prometheus-cpp's own model, written by its serializer.
// Thread-safety: thread-compatible. Cost: O(samples).
#ifndef FATHOM_COLLECTOR_METRICS_METRIC_PAGE_H_
#define FATHOM_COLLECTOR_METRICS_METRIC_PAGE_H_

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace fathom::collector {

using MetricLabels = std::initializer_list<std::pair<const char*, std::string>>;

class MetricPage {
 public:
  class Family {
   public:
    explicit Family(prometheus::MetricFamily& family) : family_(family) {}
    void Set(double value, MetricLabels labels = {});
    // `counts` per bucket, the last one overflow; `bounds` upper bounds.
    template <typename Counts, typename Bounds>
    void Observe(const Counts& histogram, const Bounds& bounds, MetricLabels labels = {});

   private:
    prometheus::ClientMetric& Add(MetricLabels labels);
    prometheus::MetricFamily& family_;
  };

  Family Gauge(const char* name, const char* help);
  Family Counter(const char* name, const char* help);
  Family Histogram(const char* name, const char* help);
  std::string Text() const;

 private:
  Family Begin(const char* name, const char* help, prometheus::MetricType type);
  std::vector<prometheus::MetricFamily> families_;
};

template <typename Counts, typename Bounds>
void MetricPage::Family::Observe(const Counts& histogram, const Bounds& bounds,
                                 MetricLabels labels) {
  prometheus::ClientMetric::Histogram& out = Add(labels).histogram;
  out.sample_count = histogram.count;
  out.sample_sum = histogram.sum_s;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    cumulative += histogram.counts[i];
    out.bucket.push_back({cumulative, bounds[i]});
  }
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_METRICS_METRIC_PAGE_H_
