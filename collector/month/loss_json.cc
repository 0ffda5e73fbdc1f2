#include "collector/month/loss_json.h"

#include <string_view>

#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

void WriteSums(const char* name, const std::vector<LossSum>& sums, JsonWriter& json) {
  const std::string_view list = name;
  json.Key(name).BeginArray();
  for (const LossSum& sum : sums) {
    json.BeginObject();
    if (list == "by_week") {
      json.Field("week_unix_ns", sum.week.ns);
    } else {
      json.Field("name", sum.key);
    }
    if (list == "by_cause") json.Field("owner", sum.owner);
    json.Field("used_gpu_hours", sum.used_h).Field("lost_gpu_hours", sum.lost_h);
    json.Field("verdicts", sum.verdicts).Field("jobs", sum.jobs).EndObject();
  }
  json.EndArray();
}

void WriteRows(const std::vector<LossRow>& rows, JsonWriter& json) {
  json.Key("rows").BeginArray();
  for (const LossRow& row : rows) {
    json.BeginObject().Field("week_unix_ns", row.week.ns).Field("team", row.team);
    json.Field("job", row.job).Field("cause", row.cause).Field("owner", row.owner);
    json.Field("node", row.node).Field("verdicts", row.verdicts.size());
    json.Field("used_gpu_hours", row.used_h).Field("lost_gpu_hours", row.lost_h).EndObject();
  }
  json.EndArray();
}

void WriteRecoveries(const RecoveryLosses& recoveries, JsonWriter& json) {
  json.Key("recoveries").BeginObject().Field("count", recoveries.count);
  json.Field("recovered", recoveries.recovered).Key("stages").BeginArray();
  for (const StageLoss& stage : recoveries.stages) {
    json.BeginObject().Field("stage", stage.stage).Field("minutes", stage.seconds / 60);
    json.Field("gpu_hours", stage.gpu_hours).EndObject();
  }
  json.EndArray().EndObject();
}

void WriteOffenders(const NodeRecords& records, const NodeHistorySettings& settings,
                    JsonWriter& json) {
  json.Key("repeat_offenders").BeginArray();
  for (const auto& [node, record] : records) {
    if (record.convicted_jobs < settings.repeat_jobs) continue;
    json.BeginObject().Field("node", node).Field("convicted_jobs", record.convicted_jobs);
    json.Field("last_convicted_unix_ns", record.last_convicted.ns).EndObject();
  }
  json.EndArray().Field("repeat_jobs", settings.repeat_jobs);
}

}  // namespace

std::string LossJson(const LossAccount& account, const NodeRecords& offenders,
                     const NodeHistorySettings& settings, WallNs reaches_back) {
  JsonWriter json;
  json.BeginObject().Field("schema", "fathom.losses.v1");
  json.Field("since_unix_ns", account.since.ns).Field("until_unix_ns", account.until.ns);
  json.Field("verdicts_since_unix_ns", reaches_back.ns);
  json.Field("used_gpu_hours", account.used_h).Field("lost_gpu_hours", account.lost_h);
  json.Field("leads_gpu_hours", account.leads_h);
  json.Field("runs", account.runs).Field("jobs", account.jobs);
  WriteSums("by_week", account.by_week, json);
  WriteSums("by_cause", account.by_cause, json);
  WriteSums("by_node", account.by_node, json);
  WriteSums("by_team", account.by_team, json);
  WriteSums("by_job", account.by_job, json);
  WriteRecoveries(account.recoveries, json);
  WriteOffenders(offenders, settings, json);
  WriteRows(account.rows, json);
  return json.EndObject().Take();
}

}  // namespace fathom::collector
