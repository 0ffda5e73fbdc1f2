#include "diagnosis/hardware/tell/path_flows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "diagnosis/hardware/readings/levels.h"
#include "diagnosis/model/lookup.h"

namespace fathom::diagnosis {
namespace {

struct Connection {
  RankId rank;
  std::string local, peer;
  const HardwareDevice* device = nullptr;
  WallNs newest;
};

using RankOfProcess = std::map<std::pair<std::string_view, std::uint32_t>, RankId>;

std::optional<Connection> ConnectionOf(const NodeHardware& node, const HardwareDevice& device,
                                       const RankOfProcess& ranks) {
  if (device.kind != DeviceKind::kConnection) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(device.name, ' ');
  std::uint32_t pid = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &pid)) return std::nullopt;
  const auto rank = ranks.find({node.node, pid});
  if (rank == ranks.end()) return std::nullopt;
  return Connection{rank->second, std::string(parts[1]), std::string(parts[2]), &device,
                    node.newest};
}

std::vector<Connection> ConnectionsOf(const std::vector<NodeHardware>& hardware,
                                      const JobView& view) {
  RankOfProcess ranks;
  for (const RankFacts& facts : view.ranks) ranks[{facts.node, facts.pid}] = facts.rank;
  std::vector<Connection> connections;
  for (const NodeHardware& node : hardware) {
    for (const HardwareDevice& device : node.devices) {
      auto connection = ConnectionOf(node, device, ranks);
      if (connection) connections.push_back(*std::move(connection));
    }
  }
  return connections;
}

using BothEnds = std::pair<std::string_view, std::string_view>;

// Which rank has the connection with these ends; kNoRank: several have.
std::map<BothEnds, RankId> EndsOf(const std::vector<Connection>& connections) {
  std::map<BothEnds, RankId> ends;
  for (const Connection& each : connections) {
    const auto [at, first] = ends.emplace(BothEnds(each.local, each.peer), each.rank);
    if (!first && at->second != each.rank) at->second = kNoRank;
  }
  return ends;
}

// Of "10.0.0.3:41234" without the port.
std::string_view AddressOf(std::string_view end) { return end.substr(0, end.rfind(':')); }

// A counter of the connection's whole life: what it was at the first point, and its increase.
double UpTo(const HardwareDevice& device, HardwareMetric metric, WallNs end) {
  const HardwareSeries* series = SeriesOf(device, metric);
  if (series == nullptr || series->points.front().at > end) return 0;
  const HardwarePoint& first = series->points.front();
  return first.value + IncreaseIn(device, metric, {first.at, end}).value_or(0);
}

Nanos NanosOf(double seconds) { return Nanos::FromSeconds(std::clamp(seconds, 0.0, 1e9)); }

std::uint64_t BytesOf(double bytes) {
  return static_cast<std::uint64_t>(std::clamp(bytes, 0.0, 1e18));
}

void AddTo(const Connection& connection, WallNs onset, PathFlow& flow) {
  const HardwareDevice& device = *connection.device;
  const auto before = [&](HardwareMetric metric) { return UpTo(device, metric, onset); };
  // Of a connection that was first seen later all is taken for since.
  const auto since = [&](HardwareMetric metric) {
    return UpTo(device, metric, connection.newest) - before(metric);
  };
  flow.bytes_before += BytesOf(before(HardwareMetric::kConfirmedBytes));
  flow.busy_before = flow.busy_before + NanosOf(before(HardwareMetric::kSendingTime));
  flow.bytes_since += BytesOf(since(HardwareMetric::kConfirmedBytes));
  flow.busy_since = flow.busy_since + NanosOf(since(HardwareMetric::kSendingTime));
}

bool LooksForConnections(const NodeHardware& node) {
  return std::any_of(node.sources.begin(), node.sources.end(), [](const auto& source) {
    return source.name == "connection" && source.state == "on";
  });
}

}  // namespace

std::vector<std::string> FlowNodesWanted(const JobView& view) {
  std::set<std::string> nodes;
  for (const RankFacts& facts : view.ranks) {
    nodes.insert(facts.node);
    if (nodes.size() > kMostFlowNodes) return {};
  }
  return {nodes.begin(), nodes.end()};
}

void TellFlows(const std::vector<NodeHardware>& hardware, WallNs onset, JobView& view) {
  const std::vector<Connection> connections = ConnectionsOf(hardware, view);
  const auto ends = EndsOf(connections);
  std::map<std::pair<RankId, RankId>, PathFlow> flows;
  for (const Connection& each : connections) {
    const auto own = ends.find({each.local, each.peer});
    const auto other = ends.find({each.peer, each.local});
    if (other == ends.end() || other->second == kNoRank || own->second == kNoRank) continue;
    if (other->second == each.rank) continue;
    PathFlow& flow = flows[{each.rank, other->second}];
    flow.peer = other->second;
    flow.within_host = AddressOf(each.local) == AddressOf(each.peer);
    AddTo(each, onset, flow);
  }
  if (flows.empty() && std::any_of(hardware.begin(), hardware.end(), LooksForConnections)) {
    view.signals.push_back({kPathsAwaited, SignalState::Level::kPartly,
                            "which path of a slow group it is: no connection is known yet"});
  }
  for (RankFacts& facts : view.ranks) {
    for (auto at = flows.lower_bound({facts.rank, RankId(0)});
         at != flows.end() && at->first.first == facts.rank; ++at) {
      facts.flows.push_back(at->second);
    }
  }
}

}  // namespace fathom::diagnosis
