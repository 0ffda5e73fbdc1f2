#include "collector/cli/probe/ordered_probes.h"

#include <thread>
#include <vector>

#include "collector/cli/probe/probe_view.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace {

std::vector<v1::NodeProbe> RunsOf(const Json& order) {
  std::vector<v1::NodeProbe> runs;
  for (const Json& json : ListField(order, "runs")) {
    v1::NodeProbe run;
    if (collector::ReadProbeRun(json.dump(), run).ok()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

std::string ProbeOrderPath(const ProbeOrderWish& wish) {
  std::string path = "/api/v1/probes?";
  if (wish.nodes.empty()) {
    AppendTo(&path, "job=", PercentEncode(wish.job), "&peers=", wish.peers);
  } else {
    AppendTo(&path, "nodes=", PercentEncode(wish.nodes));
  }
  if (wish.full) AppendTo(&path, "&full=1");
  if (wish.beside_training) AppendTo(&path, "&beside_training=1");
  if (!wish.probes.empty()) AppendTo(&path, "&probes=", PercentEncode(wish.probes));
  if (wish.seconds > 0) AppendTo(&path, "&seconds=", static_cast<std::int64_t>(wish.seconds + 0.5));
  if (wish.memory_mib > 0) AppendTo(&path, "&memory_mib=", wish.memory_mib);
  return path;
}

absl::StatusOr<Json> OrderProbes(const CollectorApi& api, const ProbeOrderWish& wish,
                                 std::chrono::minutes patience,
                                 const std::function<bool()>& interrupted) {
  absl::StatusOr<Json> order = api.Order(ProbeOrderPath(wish), "runs");
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (order.ok() && TextField(*order, "state") != "done") {
    const std::string id = TextField(*order, "id");
    if (interrupted()) {
      const auto stopped = api.Order(Cat("/api/v1/probes/", PercentEncode(id), "/stop"), "runs");
      return stopped.ok() ? absl::CancelledError("stopped") : stopped.status();
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::DeadlineExceededError(
          Cat("order ", id, " is not done; see /api/v1/probes/", id));
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
    order = api.ProbeOrder(id);
  }
  return order;
}

std::string OrderedProbesText(const Json& order) {
  std::string out;
  for (const v1::NodeProbe& run : RunsOf(order)) AppendTo(&out, ProbeSentence(run), "\n");
  return out;
}

bool AnyFound(const Json& order) {
  for (const v1::NodeProbe& run : RunsOf(order)) {
    if (collector::FoundSomething(run)) return true;
  }
  return false;
}

bool AnyMeasured(const Json& order) {
  for (const v1::NodeProbe& run : RunsOf(order)) {
    if (run.refused().empty()) return true;
  }
  return false;
}

}  // namespace fathom::cli
