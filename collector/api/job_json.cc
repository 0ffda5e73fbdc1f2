#include "collector/api/job_json.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "collector/export/group_kind.h"
#include "collector/job/orders/trace_sources.h"

namespace fathom::collector {
namespace {

bool HasOpen(const std::vector<Episode>& episodes) {
  return !episodes.empty() && episodes.front().open();
}

std::string Format(const char* format, double a, double b = 0) {
  char text[160];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

// What to say of a job that no verdict speaks of.
std::string PlainSentence(const JobFigures& figures) {
  if (figures.ended) return "The job has ended.";
  if (figures.unheard.count > 0) {
    return Format("Nothing has been heard of this job for %.0f s: its agents are away.",
                  figures.unheard.Seconds());
  }
  if (figures.stalled) return "At least one rank has gone silent; looking for the reason.";
  if (figures.slow) {
    return Format(
        "An iteration takes %.2f times as long as before (%.3f s); looking for the reason.",
        figures.slowdown, figures.recent.Seconds());
  }
  if (figures.recent.count == 0) return "No iteration seen yet.";
  if (figures.baseline.count == 0) {
    return Format("Learning how long an iteration takes: %.3f s so far.", figures.recent.Seconds());
  }
  return Format("Nothing holds the job back: %.3f s an iteration.", figures.recent.Seconds());
}

const char* ProcessName(diagnosis::ProcessState state) {
  using enum diagnosis::ProcessState;
  switch (state) {
    case kRunning:
      return "running";
    case kSleeping:
      return "sleeping";
    case kUninterruptible:
      return "uninterruptible";
    case kStopped:
      return "stopped";
    case kTraced:
      return "traced";
    case kZombie:
      return "zombie";
    case kGone:
      return "gone";
    case kUnknown:
      break;
  }
  return "unknown";
}

void WriteRankHead(RankId rank, const RankState& state, const std::string& node, bool in_reach,
                   JsonWriter& json) {
  json.Field("rank", rank.value).Field("node", node).Field("pid", state.process.pid);
  const char* alive = in_reach ? ProcessName(state.health.state) : "unknown";
  json.Field("state", state.gone ? "gone" : alive);
  if (state.gpu == nullptr) return;
  json.Key("gpu").BeginObject().Field("number", state.gpu->number);
  json.Field("bus_id", state.gpu->bus_id).Field("uuid", state.gpu->uuid).EndObject();
}

using Series = std::uint64_t HeatCell::*;

void WriteSeries(const char* name, const std::vector<std::vector<HeatCell>>& heat, Series series,
                 JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const auto& cells : heat) {
    json.BeginArray();
    for (const HeatCell& cell : cells) {
      if (cell.present) {
        json.Value(cell.*series);
      } else {
        json.Null();
      }
    }
    json.EndArray();
  }
  json.EndArray();
}

void WriteStrip(const std::vector<StripEntry>& strip, JsonWriter& json) {
  json.Field("first", strip.empty() ? std::int64_t{-1} : strip.front().iteration);
  json.Key("iterations").BeginArray();
  for (const auto& entry : strip) json.Value(entry.iteration);
  json.EndArray().Key("begin_unix_ms").BeginArray();
  for (const auto& entry : strip) json.Value(entry.begin.ns / 1'000'000);
  json.EndArray().Key("duration_us").BeginArray();
  for (const auto& entry : strip) json.Value(entry.duration.count / 1000);
  json.EndArray().Key("irregular").BeginArray();
  for (const auto& entry : strip) json.Value(entry.irregular ? 1 : 0);
  json.EndArray();
}

void WriteSignal(const diagnosis::SignalState& signal, JsonWriter& json) {
  using Level = diagnosis::SignalState::Level;
  const char* level =
      signal.level == Level::kOn ? "on" : (signal.level == Level::kPartly ? "partly" : "off");
  json.BeginObject().Field("name", signal.name).Field("state", level);
  json.Field("hides", signal.hides).EndObject();
}

// on: it has told something; ready: its hooks are in place and nothing has come; switched_off: by a
// person, while the job runs; off: otherwise.
const char* SourceState(const RankState& state, std::uint32_t bit, bool window_refused) {
  const bool hooked = (state.process.sources & bit) != 0;
  if (hooked && (state.health.sources_off & bit) != 0) return "switched_off";
  if (bit == kCupti && window_refused) return "off";
  if ((state.health.sources_seen & bit) != 0) return "on";
  return hooked ? "ready" : "off";
}

// What is traced on the rank, by which source.
void WriteSources(const RankState& state, JsonWriter& json) {
  const std::string why = state.health.trouble ? state.health.trouble->window_refused : "";
  json.Key("sources").BeginObject();
  for (const TraceSource& source : kTraceSources) {
    if (source.bit == kNcclTransfers) continue;  // of the plugin; only told where it is switched
    json.Field(source.name, SourceState(state, source.bit, !why.empty()));
  }
  json.EndObject().Field("window_refused", why).Key("switched_off").BeginArray();
  for (const TraceSource& source : kTraceSources) {
    if ((state.health.sources_off & source.bit) != 0) json.Value(source.name);
  }
  json.EndArray();
}

void WriteRankHealth(const JobState& job, RankId rank, const RankState& state,
                     const std::string& node, bool connected, JsonWriter& json) {
  const RankHealthState& health = state.health;
  const bool in_reach = job.InReach(state, connected);
  json.BeginObject();
  WriteRankHead(rank, state, node, in_reach, json);
  // Whatever it did since its agent's last word was not seen.
  const bool old = health.known && !in_reach && !state.gone;
  const Nanos unseen = old ? job.HeardAgo(state) : Nanos();
  json.Field("last_event_age_s", (health.last_event_age + unseen).Seconds());
  json.Field("records_total", health.records_total).Field("records_lost", health.records_lost);
  json.Field("records_torn", health.records_torn);
  json.Field("records_invalid", health.records_invalid);
  json.Key("tracer_drops").BeginObject();
  if (health.trouble != nullptr) {
    for (const auto& [reason, count] : health.trouble->tracer_drops) json.Field(reason, count);
  }
  json.EndObject();
  WriteSources(state, json);
  json.EndObject();
}

}  // namespace

std::string_view JobStateName(const JobFigures& figures, const std::vector<Episode>& episodes) {
  if (figures.ended) return "ended";
  const auto open = [](const Episode& e) { return e.open(); };
  const bool hung = std::any_of(episodes.begin(), episodes.end(),
                                [&](const Episode& e) { return open(e) && IsHang(e.verdict); });
  if (hung) return "hung";
  if (figures.stalled) return "stalled";
  const bool slow = figures.slow || std::any_of(episodes.begin(), episodes.end(), open);
  return slow ? "slow" : "running";
}

void WriteJob(const JobFigures& figures, const std::vector<Episode>& episodes, JsonWriter& json) {
  const bool open = HasOpen(episodes);
  const auto count =
      std::count_if(episodes.begin(), episodes.end(), [](const Episode& e) { return e.open(); });
  json.Field("name", figures.name).Field("ranks", figures.ranks);
  json.Field("world_size", figures.world_size).Field("nodes", figures.nodes);
  json.Field("state", JobStateName(figures, episodes)).Field("iteration", figures.iteration);
  json.Field("iteration_s", figures.recent.Seconds());
  json.Field("baseline_s", figures.baseline.Seconds()).Field("slowdown", figures.slowdown);
  json.Field("verdicts", count).Field("restart_count", figures.restart_count);
  json.Field("sentence", open ? episodes.front().verdict.sentence : PlainSentence(figures));
  json.Field("last_seen_unix_ns", figures.last_seen.ns);
}

void WriteMembers(const JobState& job, const NodeConnected& connected, JsonWriter& json) {
  job.Read([&](const RankTable& ranks, const GroupTable& groups, const SummaryWindow&) {
    json.Key("groups").BeginArray();
    for (const auto& group : groups.View()) {
      json.BeginObject().Field("id", GroupIdText(group.id)).Field("name", group.name);
      json.Field("description", group.description);
      json.Field("kind", GroupKind(group, ranks.world_size())).Key("ranks").BeginArray();
      for (const RankId rank : group.members) json.Value(rank.value);
      json.EndArray().EndObject();
    }
    json.EndArray().Key("rank_info").BeginArray();
    std::vector<bool> there;
    for (const auto& node : ranks.nodes()) there.push_back(connected(node));
    for (const auto& [rank, state] : ranks.ranks()) {
      json.BeginObject();
      const bool there_now = there[state.process.node];
      WriteRankHead(rank, state, ranks.NodeOf(state), job.InReach(state, there_now), json);
      json.Field("agent_connected", there_now).EndObject();
    }
    json.EndArray();
  });
}

std::string IterationsJson(const JobState& job, std::int64_t after, std::size_t limit) {
  const diagnosis::Suspicion suspicion = job.suspicion();
  std::vector<StripEntry> strip;
  std::vector<std::vector<HeatCell>> heat;
  std::vector<RankId> ranks;
  // Copied under the job's lock; the text, far larger, is made outside of it.
  job.Read([&](const RankTable&, const GroupTable&, const SummaryWindow& window) {
    strip = window.Strip(after, limit);
    std::vector<std::int64_t> iterations;
    for (const auto& entry : strip) iterations.push_back(entry.iteration);
    heat = window.Heat(iterations);
    ranks = window.ranks();
  });
  JsonWriter json;
  json.BeginObject().Field("job", job.name());
  WriteStrip(strip, json);
  json.Key("onset");
  if (suspicion.slow && suspicion.onset.value >= 0) {
    json.Value(suspicion.onset.value);
  } else {
    json.Null();
  }
  json.Key("ranks").BeginArray();
  for (const RankId rank : ranks) json.Value(rank.value);
  json.EndArray();
  WriteSeries("late_us", heat, &HeatCell::late_us, json);
  WriteSeries("wait_us", heat, &HeatCell::wait_us, json);
  WriteSeries("cpu_us", heat, &HeatCell::cpu_us, json);
  WriteSeries("blocked_us", heat, &HeatCell::blocked_us, json);
  return json.EndObject().Take();
}

std::string HealthJson(const JobState& job, const std::vector<AgentFacts>& agents) {
  JsonWriter json;
  std::set<std::string> nodes, connected;
  for (const AgentFacts& agent : agents) {
    if (agent.connected) connected.insert(agent.node);
  }
  json.BeginObject().Key("ranks").BeginArray();
  job.Read([&](const RankTable& ranks, const GroupTable&, const SummaryWindow&) {
    nodes.insert(ranks.nodes().begin(), ranks.nodes().end());
    for (const auto& [rank, state] : ranks.ranks()) {
      const std::string& node = ranks.NodeOf(state);
      WriteRankHealth(job, rank, state, node, connected.contains(node), json);
    }
  });
  json.EndArray().Key("agents").BeginArray();
  for (const AgentFacts& agent : agents) {
    if (!nodes.contains(agent.node)) continue;
    json.BeginObject().Field("node", agent.node).Field("connected", agent.connected);
    json.Field("last_seen_unix_ns", agent.last_seen.ns).Field("version", agent.version);
    json.EndObject();
  }
  json.EndArray().Key("signals").BeginArray();
  for (const auto& signal : job.SignalStates()) WriteSignal(signal, json);
  return json.EndArray().EndObject().Take();
}

}  // namespace fathom::collector
