#include "collector/agents/hardware_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fathom/v1/hardware.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::HardwareDevice;
using diagnosis::HardwareSeries;

// Null where it is not there.
HardwareDevice* Find(std::vector<HardwareDevice>& devices, DeviceKind kind,
                     const std::string& name) {
  for (HardwareDevice& device : devices) {
    if (device.kind == kind && device.name == name) return &device;
  }
  return nullptr;
}

HardwareSeries* Find(HardwareDevice& device, HardwareMetric metric) {
  for (HardwareSeries& series : device.series) {
    if (series.metric == metric) return &series;
  }
  return nullptr;
}

// Keeps first and last, and of the older half every other one.
void Thin(std::vector<diagnosis::HardwarePoint>& points) {
  std::vector<diagnosis::HardwarePoint> kept;
  const std::size_t half = points.size() / 2;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i >= half || i % 2 == 0) kept.push_back(points[i]);
  }
  points = std::move(kept);
}

void Add(WallNs at, double value, std::vector<diagnosis::HardwarePoint>& points) {
  // A message that came twice, or a clock that was set back.
  if (!points.empty() && at <= points.back().at) return;
  if (!points.empty() && points.back().value == value) return;
  points.push_back({at, value});
  if (points.size() > HardwareTable::kMostPoints) Thin(points);
}

bool Names(const v1::NodeHardware& news, const HardwareDevice& device) {
  const auto is = [&](const v1::HardwareDevice& told) {
    return told.kind() == static_cast<std::uint32_t>(device.kind) && told.name() == device.name;
  };
  return std::any_of(news.devices().begin(), news.devices().end(), is) ||
         std::any_of(news.later().begin(), news.later().end(), is);
}

}  // namespace

bool HardwareTable::MakeRoom(std::string_view node) {
  if (nodes_.size() < kMostNodes || nodes_.contains(node)) return true;
  const MonoNs now = clock_.Mono();
  std::erase_if(nodes_, [&](const auto& entry) { return now - entry.second.heard > kForgetAfter; });
  return nodes_.size() < kMostNodes;
}

void HardwareTable::Put(const v1::HardwareDevice& told, WallNs at, Entry& entry) {
  if (told.kind() >= kDeviceKindCount) {  // of an agent that knows more
    ++left_out_;
    return;
  }
  const auto kind = static_cast<DeviceKind>(told.kind());
  HardwareDevice* device = Find(entry.hardware.devices, kind, told.name());
  for (const auto& reading : told.readings()) {
    const auto metric = static_cast<HardwareMetric>(reading.metric());
    HardwareSeries* series = device == nullptr ? nullptr : Find(*device, metric);
    const bool full = series == nullptr && entry.series >= kMostSeries;
    if (full || reading.metric() >= kHardwareMetricCount) {
      ++left_out_;
      continue;
    }
    if (device == nullptr) {
      entry.hardware.devices.push_back({kind, told.name(), {}});
      device = &entry.hardware.devices.back();
    }
    if (series == nullptr) {
      device->series.push_back({metric, {}, ""});
      series = &device->series.back();
      ++entry.series;
    }
    Add(at, reading.value(), series->points);
    series->note = reading.note();
    ++readings_;
  }
}

void HardwareTable::Apply(std::string_view node, const v1::NodeHardware& news) {
  const service::MutexLock lock(mutex_);
  if (!MakeRoom(node)) {
    ++left_out_;
    return;
  }
  Entry& entry = nodes_[std::string(node)];
  entry.heard = clock_.Mono();
  entry.hardware.node = std::string(node);
  entry.hardware.newest = std::max(entry.hardware.newest, WallNs(news.sampled_wall_ns()));
  if (news.whole()) {
    std::erase_if(entry.hardware.devices, [&](const HardwareDevice& device) {
      if (Names(news, device)) return false;
      entry.series -= device.series.size();
      return true;
    });
  }
  const WallNs at(news.sampled_wall_ns());
  for (const auto& device : news.devices()) Put(device, at, entry);
  for (const auto& device : news.later()) Put(device, at, entry);
  if (news.sources().empty()) return;
  entry.hardware.sources.clear();
  for (const auto& source : news.sources()) {
    entry.hardware.sources.push_back({source.name(), source.state(), source.reason()});
  }
}

void HardwareTable::NothingNew(std::string_view node, WallNs at) {
  const service::MutexLock lock(mutex_);
  const auto known = nodes_.find(node);
  if (known == nodes_.end()) return;
  known->second.heard = clock_.Mono();
  known->second.hardware.newest = std::max(known->second.hardware.newest, at);
}

std::vector<diagnosis::NodeHardware> HardwareTable::Of(
    const std::vector<std::string>& nodes) const {
  return Chosen(nodes, false);
}

std::vector<diagnosis::NodeHardware> HardwareTable::ConnectionsOf(
    const std::vector<std::string>& nodes) const {
  return Chosen(nodes, true);
}

std::vector<diagnosis::NodeHardware> HardwareTable::Chosen(const std::vector<std::string>& nodes,
                                                           bool connections) const {
  const service::MutexLock lock(mutex_);
  std::vector<diagnosis::NodeHardware> out;
  for (const std::string& node : nodes) {
    const auto at = nodes_.find(node);
    if (at == nodes_.end()) continue;
    const diagnosis::NodeHardware& known = at->second.hardware;
    out.push_back({known.node, known.newest, {}, known.sources});
    std::copy_if(known.devices.begin(), known.devices.end(), std::back_inserter(out.back().devices),
                 [&](const HardwareDevice& device) {
                   return (device.kind == DeviceKind::kConnection) == connections;
                 });
  }
  return out;
}

std::uint64_t HardwareTable::readings() const {
  const service::MutexLock lock(mutex_);
  return readings_;
}

std::uint64_t HardwareTable::left_out() const {
  const service::MutexLock lock(mutex_);
  return left_out_;
}

}  // namespace fathom::collector
