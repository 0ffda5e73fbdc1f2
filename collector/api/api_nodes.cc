// The part of Api below /api/v1/nodes.
#include <algorithm>
#include <map>
#include <set>

#include "collector/api/api.h"
#include "collector/api/plan/plan_json.h"
#include "collector/export/report.h"
#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

// All that is known of a node, whether it has an agent now or not.
struct NodeFacts {
  std::string name;
  AgentFacts agent;  // of one that never was: not connected, never seen
  std::uint32_t ranks = 0;
  bool suspect = false;
  NodeRecord record;
};

std::int64_t Shown(WallNs time) { return time.known() ? time.ns : 0; }

void WriteNode(const NodeFacts& node, const NodeHistorySettings& settings, JsonWriter& json) {
  json.Field("name", node.name).Field("connected", node.agent.connected);
  json.Field("ranks", node.ranks).Field("last_seen_unix_ns", Shown(node.agent.last_seen));
  json.Field("suspect", node.suspect).Key("cpu_busy_ratio");
  node.agent.health_known ? json.Value(node.agent.cpu_busy_ratio) : json.Null();
  json.Key("load1");
  node.agent.health_known ? json.Value(node.agent.load1) : json.Null();
  json.Field("convicted_jobs", node.record.convicted_jobs);
  json.Field("last_convicted_unix_ns", Shown(node.record.last_convicted));
  json.Field("repeat_offender", node.record.convicted_jobs >= settings.repeat_jobs);
}

std::map<std::string, std::uint32_t> RanksByNode(JobTable& jobs) {
  std::map<std::string, std::uint32_t> ranks;
  for (const auto& job : jobs.All()) {
    if (job->Figures().ended) continue;
    job->Read([&](const RankTable& table, const GroupTable&, const SummaryWindow&) {
      for (const auto& [rank, state] : table.ranks()) ranks[table.NodeOf(state)] += !state.gone;
    });
  }
  return ranks;
}

// Those with an agent, and those that something counts against.
std::map<std::string, NodeFacts> FactsOf(const Api::Parts& parts) {
  std::map<std::string, NodeFacts> nodes;
  for (const AgentFacts& agent : parts.registry.Agents()) nodes[agent.node].agent = agent;
  const WallNs since = parts.node_history.Since(parts.clock.Wall());
  for (const auto& [name, record] : parts.store.NodeRecordsSince(since)) {
    nodes[name].record = record;
  }
  const auto ranks = RanksByNode(parts.jobs);
  const auto open = parts.ledger.Open();
  for (auto& [name, node] : nodes) {
    node.name = name;
    if (const auto at = ranks.find(name); at != ranks.end()) node.ranks = at->second;
    node.suspect = std::any_of(open.begin(), open.end(), [&, &of = name](const Episode& e) {
      return e.verdict.entity.node == of;
    });
  }
  return nodes;
}

}  // namespace

Response Api::Nodes() const {
  JsonWriter json;
  json.BeginObject().Key("nodes").BeginArray();
  for (const auto& [name, node] : FactsOf(parts_)) {
    json.BeginObject();
    WriteNode(node, parts_.node_history, json);
    json.EndObject();
  }
  json.EndArray().Field("repeat_days", parts_.node_history.days);
  json.Field("repeat_jobs", parts_.node_history.repeat_jobs);
  WriteLacks(json);
  return Response::Json(json.EndObject().Take());
}

// Of one node, of those that a job is on, or of all and of this collector.
Response Api::Plan(const Request& request) const {
  const std::string node = request.Text("node"), job = request.Text("job");
  std::vector<AgentFacts> agents = parts_.registry.Agents();
  if (!job.empty()) {
    const auto state = parts_.jobs.Find(job);
    if (state == nullptr) return Response::Error(404, "no job " + job + "; see /api/v1/jobs");
    const std::set<std::string> nodes = state->Nodes();
    std::erase_if(agents, [&](const AgentFacts& agent) { return !nodes.contains(agent.node); });
  }
  if (!node.empty()) {
    std::erase_if(agents, [&](const AgentFacts& agent) { return agent.node != node; });
    if (agents.empty()) return Response::Error(404, "no node " + node + "; see /api/v1/nodes");
  }
  if (!job.empty() || !node.empty() || !parts_.plan) {
    return Response::Json(PlanJson(nullptr, agents));
  }
  const CentrePlan centre = parts_.plan();
  return Response::Json(PlanJson(&centre, agents));
}

Response Api::Node(const std::string& name) const {
  auto verdicts = parts_.store.VerdictsOnNode(name, kMaxVerdicts);
  const auto on_node = [&](const Episode& each) { return each.verdict.entity.node == name; };
  if (!parts_.store.lacks().empty()) AddStanding(on_node, verdicts);
  const auto nodes = FactsOf(parts_);
  const auto at = nodes.find(name);
  if (at == nodes.end() && verdicts.empty()) {
    if (auto unread = Unread()) return *std::move(unread);
    return Response::Error(404, "no node " + name + "; see /api/v1/nodes");
  }
  NodeFacts unseen;
  unseen.name = name;
  JsonWriter json;
  json.BeginObject();
  WriteNode(at == nodes.end() ? unseen : at->second, parts_.node_history, json);
  json.Field("repeat_days", parts_.node_history.days);
  json.Field("repeat_jobs", parts_.node_history.repeat_jobs);
  WriteLacks(json);
  json.Key("verdicts").BeginArray();
  for (const Episode& episode : verdicts) json.Raw(VerdictJson(episode));
  return Response::Json(json.EndArray().EndObject().Take());
}

}  // namespace fathom::collector
