#include "collector/api/probes/probe_api.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include "collector/api/probes/probe_json.h"
#include "collector/evaluate/probe_trigger.h"
#include "collector/http/json_writer.h"
#include "collector/probe/probe_run.h"
#include "fathom/v1/probe.pb.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMostPeers = 16;
constexpr std::int64_t kDefaultPeers = 3;  // the fewest that a judgement takes

Response Refused(const absl::Status& status) {
  const int code = absl::IsNotFound(status) ? 404 : absl::IsResourceExhausted(status) ? 429 : 400;
  return Response::Error(code, std::string(status.message()));
}

Response OrderOr(const absl::StatusOr<ProbeRequest>& order) {
  return order.ok() ? Response::Json(ProbeRequestJson(*order)) : Refused(order.status());
}

}  // namespace

Response ProbeApi::Answer(const Request& request) const {
  return request.segments[2] == "nodes" ? OfNode(request) : Probes(request);
}

Response ProbeApi::Ask(const Request& request) const {
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  auto wish = ParseProbeWish(request);
  if (!wish.ok()) return Refused(wish.status());
  if (!wish->job.empty()) {
    const auto peers = request.Number("peers", kDefaultPeers);
    if (!peers || *peers < 0 || *peers > static_cast<std::int64_t>(kMostPeers)) {
      return Response::Error(400, "peers is a number from 0 to 16");
    }
    const auto job = parts_.jobs.Find(wish->job);
    auto nodes = SuspectsAndPeers(wish->job, job.get(), parts_.ledger, parts_.registry,
                                  static_cast<std::size_t>(*peers), /*only_hardware=*/false);
    if (!nodes.ok()) return Refused(nodes.status());
    wish->nodes = *std::move(nodes);
  }
  const absl::StatusOr<std::uint64_t> id = parts_.probes.Ask(*wish);
  return id.ok() ? OrderOr(parts_.probes.Find(*id)) : Refused(id.status());
}

Response ProbeApi::Probes(const Request& request) const {
  const auto& at = request.segments;
  parts_.probes.Expire();
  if (at.size() == 3 && request.method == "POST") return Ask(request);
  if (at.size() == 3) {
    JsonWriter json;
    json.BeginObject().Key("probes").BeginArray();
    for (const ProbeRequest& order : parts_.probes.All()) json.Raw(ProbeRequestJson(order));
    return Response::Json(json.EndArray().EndObject().Take());
  }
  std::uint64_t id = 0;
  if (!absl::SimpleAtoi(at[3], &id)) return Response::Error(404, "no order " + at[3]);
  if (at.size() == 4) return OrderOr(parts_.probes.Find(id));
  if (request.method != "POST") return Response::Error(405, "only POST is answered here");
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  const absl::Status stopped = parts_.probes.Stop(id);
  return stopped.ok() ? OrderOr(parts_.probes.Find(id)) : Refused(stopped);
}

Response ProbeApi::OfNode(const Request& request) const {
  const std::string& name = request.segments[3];
  const auto limit = request.Number("limit", Store::kMaxProbesOfNode);
  if (!limit || *limit < 1 || *limit > Store::kMaxProbesOfNode) {
    return Response::Error(400, "limit is a number from 1 to 50");
  }
  JsonWriter json;
  json.BeginObject().Field("node", name).Key("probes").BeginArray();
  for (const v1::NodeProbe& run : parts_.store.Probes(name, *limit)) {
    json.Raw(ProbeRunJson(run));
  }
  return Response::Json(json.EndArray().EndObject().Take());
}

}  // namespace fathom::collector
