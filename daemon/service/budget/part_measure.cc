#include "daemon/service/budget/part_measure.h"

#include <algorithm>

namespace fathom::service {
namespace {

constexpr double kSmooth = 0.3;  // of the newest look, in what is smoothed

}  // namespace

double Smoothed(double before, double now) {
  return before == 0 ? now : before + kSmooth * (now - before);
}

void PartMeasure::Learn(const PartCost& cost, double seconds) {
  const auto took_ns = static_cast<double>(cost.cpu_ns);
  if (cost.events > 0) {
    ns_per_event = Smoothed(ns_per_event, took_ns / static_cast<double>(cost.events));
  }
  if (cost.runs > 0) {
    ns_per_run = Smoothed(ns_per_run, took_ns / static_cast<double>(cost.runs));
  }
  const double now = static_cast<double>(cost.events) / seconds;
  smooth_per_s = Smoothed(smooth_per_s, now);
  per_s = std::max(now, smooth_per_s);
}

}  // namespace fathom::service
