#include "collector/export/hardware_json.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

constexpr double kMsOfNs = 1e-6;

// The GPU that the rank drives, or its process.
bool IsOf(const diagnosis::RankFacts& facts, const std::string& node,
          const diagnosis::HardwareDevice& device) {
  if (device.kind == DeviceKind::kProcess) {
    return facts.node == node && device.name == absl::StrCat(facts.pid);
  }
  const bool gpu = device.kind == DeviceKind::kGpu && facts.gpu && facts.node == node;
  // CUDA writes four digits of the domain, NVML eight.
  return gpu && !facts.gpu->bus_id.empty() &&
         (absl::EndsWithIgnoreCase(device.name, facts.gpu->bus_id) ||
          absl::EndsWithIgnoreCase(facts.gpu->bus_id, device.name));
}

void WriteSeries(const diagnosis::HardwareSeries& series, JsonWriter& json) {
  const MetricTraits traits = TraitsOf(series.metric);
  json.BeginObject().Field("metric", traits.name).Field("unit", traits.unit);
  json.Field("counter", traits.counter).Field("note", series.note);
  json.Key("points").BeginArray();
  for (const diagnosis::HardwarePoint& point : series.points) {
    json.BeginArray().Value(static_cast<double>(point.at.ns) * kMsOfNs).Value(point.value);
    json.EndArray();
  }
  json.EndArray().EndObject();
}

void WriteDevice(const diagnosis::JobView& view, const std::string& node,
                 const diagnosis::HardwareDevice& device, JsonWriter& json) {
  json.BeginObject().Field("kind", DeviceKindName(device.kind)).Field("name", device.name);
  json.Key("ranks").BeginArray();
  for (const diagnosis::RankFacts& facts : view.ranks) {
    if (IsOf(facts, node, device)) json.Value(facts.rank.value);
  }
  json.EndArray().Key("series").BeginArray();
  for (const diagnosis::HardwareSeries& series : device.series) WriteSeries(series, json);
  json.EndArray().EndObject();
}

}  // namespace

std::string HardwareJson(const diagnosis::JobView& view,
                         const std::vector<diagnosis::NodeHardware>& nodes) {
  JsonWriter json;
  json.BeginObject().Key("nodes").BeginArray();
  for (const diagnosis::NodeHardware& node : nodes) {
    json.BeginObject().Field("node", node.node);
    json.Field("newest_ms", static_cast<double>(node.newest.ns) * kMsOfNs);
    json.Key("sources").BeginArray();
    for (const diagnosis::HardwareSourceState& source : node.sources) {
      json.BeginObject().Field("name", source.name).Field("state", source.state);
      json.Field("reason", source.reason).EndObject();
    }
    json.EndArray().Key("devices").BeginArray();
    for (const diagnosis::HardwareDevice& device : node.devices) {
      WriteDevice(view, node.node, device, json);
    }
    json.EndArray().EndObject();
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fathom::collector
