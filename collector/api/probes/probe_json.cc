#include "collector/api/probes/probe_json.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <set>

#include "collector/http/json_writer.h"
#include "collector/probe/probe_run.h"

namespace fathom::collector {

std::string ProbeRequestJson(const ProbeRequest& request) {
  JsonWriter json;
  // A text: JavaScript's numbers end at 2^53.
  json.BeginObject().Field("id", absl::StrCat(request.id)).Field("job", request.wish.job);
  json.Field("asked_by", request.wish.asked_by).Field("asked_unix_ns", request.asked.ns);
  json.Field("ended_unix_ns", request.ended.known() ? request.ended.ns : 0);
  json.Field("state", request.ended.known() ? "done" : "under way");
  json.Field("full", request.wish.full).Field("probes", request.wish.probes);
  json.Field("beside_training", request.wish.beside_training).Key("waits").BeginArray();
  for (const std::string& node : request.waits) json.Value(node);
  json.EndArray().Key("runs").BeginArray();
  for (const auto& [node, run] : request.runs) json.Raw(ProbeRunJson(run));
  return json.EndArray().EndObject().Take();
}

absl::StatusOr<ProbeWish> ParseProbeWish(const Request& request) {
  ProbeWish wish;
  std::set<std::string> nodes;
  for (const absl::string_view node :
       absl::StrSplit(request.Text("nodes"), ',', absl::SkipEmpty())) {
    nodes.insert(std::string(node));
  }
  wish.nodes.assign(nodes.begin(), nodes.end());
  wish.job = request.Text("job");
  if (wish.nodes.empty() == wish.job.empty()) {
    return absl::InvalidArgumentError("give either nodes=A,B or job=JOB");
  }
  const auto full = request.Number("full", 0), beside = request.Number("beside_training", 0);
  const auto seconds = request.Number("seconds", 0), memory = request.Number("memory_mib", 0);
  if (!full || !beside || !seconds || !memory || *memory < 0 || *memory > (1 << 20)) {
    return absl::InvalidArgumentError(
        "full and beside_training are 0 or 1, seconds and memory_mib numbers");
  }
  wish.full = *full != 0;
  wish.beside_training = *beside != 0;
  wish.seconds = static_cast<double>(*seconds);
  wish.memory_mib = static_cast<std::uint32_t>(*memory);
  wish.probes = request.Text("probes");
  wish.asked_by = request.person.name;
  return wish;
}

}  // namespace fathom::collector
