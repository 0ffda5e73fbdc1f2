#include "collector/api/plan/plan_json.h"

#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

void WriteSpend(const char* name, const v1::PlanSpend& spend, JsonWriter& json) {
  json.Key(name).BeginObject().Field("cores", spend.cores());
  json.Field("bytes_per_s", spend.bytes_per_s()).Field("memory_bytes", spend.memory_bytes());
  json.EndObject();
}

void WritePart(const v1::PlanPart& part, JsonWriter& json) {
  json.BeginObject().Field("name", part.name()).Field("rate", part.rate());
  json.Field("level", part.level()).Field("levels", part.levels());
  WriteSpend("spend", part.spend(), json);
  json.Field("ns_per_event", part.ns_per_event()).Field("events_per_s", part.events_per_s());
  json.EndObject();
}

// After whose it is.
void WritePlan(const v1::NodePlan& plan, JsonWriter& json) {
  json.Field("told_unix_ns", plan.told_wall_ns()).Field("fits", plan.fits());
  WriteSpend("budget", plan.budget(), json);
  WriteSpend("spend", plan.spend(), json);
  json.Field("changes", plan.changes()).Field("changed_unix_ns", plan.changed_wall_ns());
  json.Field("why", plan.why()).Key("parts").BeginArray();
  for (const v1::PlanPart& part : plan.parts()) WritePart(part, json);
  json.EndArray().EndObject();
}

}  // namespace

std::string PlanJson(const CentrePlan* centre, const std::vector<AgentFacts>& agents) {
  JsonWriter json;
  json.BeginObject().Key("plan").BeginArray();
  if (centre != nullptr) {
    json.BeginObject().Field("collector", centre->collector);
    WritePlan(centre->plan, json);
  }
  for (const AgentFacts& agent : agents) {
    if (agent.plan == nullptr) continue;
    json.BeginObject().Field("node", agent.node).Field("connected", agent.connected);
    WritePlan(*agent.plan, json);
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace fathom::collector
