#include "collector/api/communicators_json.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "collector/admission/limits.h"
#include "collector/export/group_kind.h"
#include "collector/http/json_writer.h"
#include "diagnosis/tables/job_tables.h"

namespace fathom::collector {
namespace {

using diagnosis::IterationSummary;
using diagnosis::JobView;

// Of one member in one communicator.
struct Sums {
  std::int64_t late_us = 0, wait_us = 0, ops = 0, iterations = 0;
};
using Members = std::map<RankId, Sums>;
using ByGroup = std::map<GroupId, Members>;

struct Elapsed {
  std::int64_t us = 0;
  RankId rank;
  std::uint32_t count = 0;
};

void Charge(const IterationSummary& summary, ByGroup& groups) {
  std::map<GroupId, std::vector<Elapsed>> elapsed;
  for (const auto& row : summary.ranks) {
    for (const auto& group : row.groups) {
      elapsed[group.group].push_back({group.elapsed.count / 1000, row.rank, group.count});
    }
  }
  for (auto& [id, members] : elapsed) {
    std::ranges::sort(members, {}, &Elapsed::us);
    const std::int64_t median = members[members.size() / 2].us;
    for (const Elapsed& member : members) {
      Sums& sums = groups[id][member.rank];
      sums.late_us += std::max<std::int64_t>(0, median - member.us);
      sums.wait_us += member.us - members.front().us;
      sums.ops += member.count;
      ++sums.iterations;
    }
  }
}

void WriteMeans(std::string_view name, const std::vector<RankId>& ranks, const Members& members,
                std::int64_t Sums::*field, JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const RankId rank : ranks) {
    const auto at = members.find(rank);
    if (at == members.end()) {
      json.Null();
    } else {
      json.Value(at->second.*field / at->second.iterations);
    }
  }
  json.EndArray();
}

double OpsAnIteration(const Members& members) {
  double most = 0;
  for (const auto& [rank, sums] : members) {
    most = std::max(most, static_cast<double>(sums.ops) / static_cast<double>(sums.iterations));
  }
  return most;
}

void WriteGroup(const diagnosis::Group& group, const Members& members, std::uint32_t world,
                JsonWriter& json) {
  std::vector<RankId> ranks = group.members;
  if (ranks.empty()) {
    for (const auto& [rank, sums] : members) ranks.push_back(rank);
  }
  json.BeginObject().Field("id", GroupIdText(group.id)).Field("name", group.name);
  json.Field("description", group.description).Field("kind", GroupKind(group, world));
  json.Field("members_known", !group.members.empty());
  json.Field("ops", OpsAnIteration(members)).Key("ranks").BeginArray();
  for (const RankId rank : ranks) json.Value(rank.value);
  json.EndArray();
  WriteMeans("late_us", ranks, members, &Sums::late_us, json);
  WriteMeans("wait_us", ranks, members, &Sums::wait_us, json);
  json.EndObject();
}

// What ranks that are stuck in an op have on the way to their peers.
void WriteLinks(const JobView& view, JsonWriter& json) {
  json.Key("links").BeginArray();
  for (const auto& facts : view.ranks) {
    for (const diagnosis::PathState& path : facts.paths) {
      json.BeginObject().Field("from", facts.rank.value).Field("to", path.peer.value);
      json.Field("queued_bytes", path.queued).Field("unread_bytes", path.unread);
      json.Field("unconfirmed_segments", path.unacknowledged);
      json.Field("since_received_s", path.since_received.Seconds()).EndObject();
    }
  }
  json.EndArray();
}

}  // namespace

std::string CommunicatorsJson(const JobView& view, std::size_t iterations) {
  const auto& window = view.window;
  const std::size_t last = window.size() - std::min(window.size(), kSettlingIterations);
  const std::size_t first = last - std::min(last, iterations);
  ByGroup sums;
  for (std::size_t at = first; at < last; ++at) Charge(window[at], sums);
  JsonWriter json;
  json.BeginObject().Field("job", view.name);
  json.Field("first", last > first ? window[first].index.value : -1);
  json.Field("last", last > first ? window[last - 1].index.value : -1);
  json.Field("iterations", last - first).Key("groups").BeginArray();
  const Members none;
  for (const auto& group : view.groups) {
    const auto at = sums.find(group.id);
    WriteGroup(group, at == sums.end() ? none : at->second, view.world_size, json);
  }
  json.EndArray();
  WriteLinks(view, json);
  return json.EndObject().Take();
}

std::string BandwidthJson(const JobView& view, const diagnosis::RowsWanted& wanted, int asked) {
  JsonWriter json;
  json.BeginObject().Field("job", view.name).Field("asked", asked).Key("iterations").BeginArray();
  for (const Iteration iteration : wanted.iterations) json.Value(iteration.value);
  json.EndArray().Field("ranks", static_cast<std::int64_t>(wanted.ranks.size()));
  json.Key("bandwidth").BeginArray();
  // What the tracer tells of an all-gather is the buffer of one member.
  const auto rows = BandwidthsIn(view, {}, diagnosis::GatherBytes::kPart);
  for (const diagnosis::BandwidthRow& row : rows) {
    json.BeginObject().Field("group", row.group).Field("kind", CollectiveKindName(row.kind));
    json.Field("bytes", static_cast<std::int64_t>(row.bytes));
    json.Field("members", static_cast<std::int64_t>(row.members));
    json.Field("count", static_cast<std::int64_t>(row.count));
    json.Field("transfer_s", row.transfer).Field("bus_bandwidth_bytes_per_s", row.bus);
    json.Field("slow_bus_bandwidth_bytes_per_s", row.bus_slow).EndObject();
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fathom::collector
