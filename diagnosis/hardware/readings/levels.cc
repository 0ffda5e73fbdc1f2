#include "diagnosis/hardware/readings/levels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace fathom::diagnosis {
namespace {

// Calls visit(value, ns) for each value that stood within the stretch. False: none did.
template <typename Visit>
bool EachIn(const HardwareSeries& series, Stretch when, Visit visit) {
  bool any = false;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const std::int64_t begin = std::max(series.points[i].at.ns, when.from.ns);
    const std::int64_t next =
        i + 1 < series.points.size() ? series.points[i + 1].at.ns : when.to.ns;
    const std::int64_t end = std::min(next, when.to.ns);
    if (end <= begin) continue;
    visit(series.points[i].value, static_cast<double>(end - begin));
    any = true;
  }
  return any;
}

}  // namespace

const HardwareSeries* SeriesOf(const HardwareDevice& device, HardwareMetric metric) {
  for (const HardwareSeries& series : device.series) {
    if (series.metric == metric && !series.points.empty()) return &series;
  }
  return nullptr;
}

std::optional<double> LevelIn(const HardwareDevice& device, HardwareMetric metric, Stretch when) {
  const HardwareSeries* series = SeriesOf(device, metric);
  if (series == nullptr) return std::nullopt;
  std::vector<std::pair<double, double>> stood;  // value, ns
  double all = 0;
  EachIn(*series, when, [&](double value, double ns) {
    stood.emplace_back(value, ns);
    all += ns;
  });
  std::sort(stood.begin(), stood.end());
  double below = 0;
  for (const auto& [value, ns] : stood) {
    below += ns;
    if (2 * below >= all) return value;
  }
  return std::nullopt;
}

std::optional<double> IncreaseIn(const HardwareDevice& device, HardwareMetric metric,
                                 Stretch when) {
  const HardwareSeries* series = SeriesOf(device, metric);
  if (series == nullptr || series->points.front().at > when.to) return std::nullopt;
  double increase = 0;
  for (std::size_t i = 1; i < series->points.size(); ++i) {
    const HardwarePoint& point = series->points[i];
    if (point.at < when.from || point.at > when.to) continue;
    const double before = series->points[i - 1].value;
    increase += point.value >= before ? point.value - before : point.value;
  }
  return increase;
}

std::optional<double> BitShareIn(const HardwareDevice& device, HardwareMetric metric,
                                 std::uint64_t bit, Stretch when) {
  const HardwareSeries* series = SeriesOf(device, metric);
  if (series == nullptr) return std::nullopt;
  double set = 0, all = 0;
  const bool any = EachIn(*series, when, [&](double value, double ns) {
    all += ns;
    const bool sound = value >= 0 && value < 9e15;
    if (sound && (static_cast<std::uint64_t>(value) & bit) != 0) set += ns;
  });
  if (!any) return std::nullopt;
  return set / all;
}

WallNs SinceBeyond(const HardwareDevice& device, HardwareMetric metric, double limit) {
  const HardwareSeries* series = SeriesOf(device, metric);
  if (series == nullptr) return WallNs();
  const bool above = series->points.back().value > limit;
  WallNs since = series->points.back().at;
  for (auto at = series->points.rbegin(); at != series->points.rend(); ++at) {
    if ((at->value > limit) != above) return since;
    since = at->at;
  }
  return WallNs();
}

std::string ClockTime(WallNs at) {
  const std::int64_t seconds = at.ns / 1'000'000'000 % 86'400;
  return absl::StrFormat("%02d:%02d:%02d UTC", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string WithCommas(double value) {
  std::string text = absl::StrCat(static_cast<std::int64_t>(std::llround(value)));
  for (std::size_t at = text.size(); at > 3 && text[at - 4] != '-';) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace fathom::diagnosis
