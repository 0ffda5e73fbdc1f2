#include "collector/runs/run_json.h"

#include "collector/http/json_writer.h"
#include "collector/runs/run_words.h"
#include "diagnosis/history/metric_shift.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::collector {
namespace {

using diagnosis::Distribution;

void WriteRun(const RunRecord& run, bool running, JsonWriter& json) {
  json.Field("id", run.id).Field("job", run.job);
  json.Field("profile", ProfileId(run.profile)).Field("profile_name", run.profile.name);
  json.Field("profile_text", ProfileInWords(run.profile));
  json.Field("started_unix_ns", run.started.ns).Field("last_seen_unix_ns", run.last_seen.ns);
  json.Field("state", running ? "running" : "ended");
  json.Field("iterations", run.iterations).Field("healthy_iterations", run.whole.count);
  json.Field("ranks", run.ranks).Field("iteration_s", run.whole.Location());
  json.Field("outcome", ToString(run.outcome)).Field("sentence", run.sentence);
}

void WriteDistribution(const char* name, const Distribution& from, JsonWriter& json) {
  if (!from.known()) return;
  json.Key(name).BeginObject().Field("iterations", from.count);
  json.Field("iteration_s", from.Location()).Field("mean_s", from.mean.duration_s);
  json.Field("computing_s", from.mean.computing_s);
  json.Field("communication_s", from.mean.communication_s).Field("host_s", from.mean.host_s());
  json.Field("cores_s", from.mean.cores_s).Field("gc_s", from.mean.gc_s);
  json.Field("dataloader_s", from.mean.dataloader_s).Field("net_s", from.net_s);
  json.Field("void_between_s", from.mean.void_between_s);
  json.Field("void_within_s", from.mean.void_within_s);
  json.Field("flop", SumOf(from.mean.flop));
  json.Field("busy_flop_per_s", diagnosis::FlopRate(from.mean));
  json.Field("issue_s", diagnosis::TypicalIssue_s(from.mean.issued));
  json.Key("quantiles_s").BeginArray();
  for (const double quantile : from.quantiles) json.Value(quantile);
  json.EndArray().EndObject();
}

void WriteSetup(const diagnosis::RunSetup& setup, JsonWriter& json) {
  json.Key("setup").BeginArray();
  for (const diagnosis::SetupVariant& variant : setup.variants) {
    json.BeginObject().Key("nodes").BeginArray();
    for (const std::string& node : variant.nodes) json.Value(node);
    json.EndArray().Key("facts").BeginObject();
    for (const auto& [name, value] : variant.facts) json.Field(name, value);
    json.EndObject().EndObject();
  }
  json.EndArray();
}

void WriteChanges(const std::vector<diagnosis::SetupChange>& changes, JsonWriter& json) {
  json.Key("changed").BeginArray();
  for (const diagnosis::SetupChange& change : changes) {
    json.BeginObject().Field("what", change.what).Field("before", change.before);
    json.Field("after", change.after).Field("nodes", change.on).Field("of", change.of);
    json.Field("text", InWords(change)).Field("owner", ToString(OwnerOf(change))).EndObject();
  }
  json.EndArray();
}

std::string ComparedInWords(const Distribution& before, const Distribution& after) {
  if (!before.known() || !after.known()) return "too little of one of them is healthy to compare";
  const double was = before.Location(), is = after.Location();
  std::string text = is > was ? "The second takes longer: " : "The second is no slower: ";
  text +=
      "an iteration takes " + diagnosis::Duration(is) + " instead of " + diagnosis::Duration(was);
  const std::string part = diagnosis::LeadingPart(before.mean, after.mean);
  return text + (is > was && !part.empty() ? ", most of it " + part : "");
}

}  // namespace

std::string RunJson(const RunRecord& run, bool running) {
  JsonWriter json;
  json.BeginObject();
  WriteRun(run, running, json);
  return json.EndObject().Take();
}

std::string WholeRunJson(const RunRecord& run, bool running) {
  JsonWriter json;
  json.BeginObject();
  WriteRun(run, running, json);
  WriteDistribution("first", run.first, json);
  WriteDistribution("start", run.start, json);
  WriteDistribution("whole", run.whole, json);
  WriteSetup(run.setup, json);
  return json.EndObject().Take();
}

std::string ComparedRunsJson(const RunRecord& before, const RunRecord& after,
                             const std::string& before_json, const std::string& after_json) {
  const auto [was, is] = CommonStretch(before, after);
  JsonWriter json;
  json.BeginObject().Key("before").Raw(before_json).Key("after").Raw(after_json);
  json.Field("other_profile", WhyOther(after.profile, before.profile));
  json.Field("sentence", ComparedInWords(was, is));
  WriteDistribution("stretch_before", was, json);
  WriteDistribution("stretch_after", is, json);
  WriteChanges(ChangesBetween(before.setup, after.setup), json);
  json.Field("setup_known", before.setup.known() && after.setup.known());
  return json.EndObject().Take();
}

}  // namespace fathom::collector
