#include "collector/metrics/metric_page.h"

#include <prometheus/text_serializer.h>

namespace fathom::collector {

prometheus::ClientMetric& MetricPage::Family::Add(MetricLabels labels) {
  prometheus::ClientMetric& metric = family_.metric.emplace_back();
  for (const auto& [name, value] : labels) metric.label.push_back({name, value});
  return metric;
}

void MetricPage::Family::Set(double value, MetricLabels labels) {
  prometheus::ClientMetric& metric = Add(labels);
  if (family_.type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

MetricPage::Family MetricPage::Begin(const char* name, const char* help,
                                     prometheus::MetricType type) {
  // Families are filled one after the other: the reference is not kept past the next Begin.
  prometheus::MetricFamily& family = families_.emplace_back();
  family.name = name;
  family.help = help;
  family.type = type;
  return Family(family);
}

MetricPage::Family MetricPage::Gauge(const char* name, const char* help) {
  return Begin(name, help, prometheus::MetricType::Gauge);
}

MetricPage::Family MetricPage::Counter(const char* name, const char* help) {
  return Begin(name, help, prometheus::MetricType::Counter);
}

MetricPage::Family MetricPage::Histogram(const char* name, const char* help) {
  return Begin(name, help, prometheus::MetricType::Histogram);
}

std::string MetricPage::Text() const { return prometheus::TextSerializer().Serialize(families_); }

}  // namespace fathom::collector
