#include "collector/cli/recover/recovery_facts.h"

#include <algorithm>
#include <set>

#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace {

int Strength(const Json& verdict) {
  const int grade = GradeStrength(TextField(verdict, "grade"));
  const bool names = !TextField(ObjectField(verdict, "entity"), "node").empty();
  return grade == 0 ? 0 : 2 * grade + (names ? 1 : 0);
}

// The newest run in which the node was measured; state and hardware.
void ReadProbe(const Json& answer, std::string& state, std::string& hardware) {
  for (const Json& json : ListField(answer, "probes")) {
    v1::NodeProbe run;
    if (!collector::ReadProbeRun(json.dump(), run).ok() || run.results().empty()) continue;
    state = run.judgement().state();
    hardware = Printable(collector::HardwareOf(run));
    return;
  }
}

}  // namespace

SickJob SickJobOf(const Json& job, const Json& verdicts) {
  SickJob sick;
  sick.name = TextField(job, "name");
  sick.processes = static_cast<int>(std::max(IntField(job, "ranks"), IntField(job, "world_size")));
  sick.iteration_s = NumberField(job, "iteration_s");
  sick.usual_s = NumberField(job, "baseline_s");
  sick.iteration = IntField(job, "iteration", -1);
  sick.slowdown = std::max(1.0, NumberField(job, "slowdown", 1));
  const Json* best = nullptr;
  for (const Json& verdict : ListField(verdicts, "verdicts")) {
    if (IsOpen(verdict) && (best == nullptr || Strength(verdict) > Strength(*best)))
      best = &verdict;
  }
  if (best == nullptr) return sick;
  sick.verdict = TextField(*best, "id");
  sick.grade = TextField(*best, "grade");
  sick.cause = TextField(*best, "cause");
  sick.sentence = TextField(*best, "sentence");
  sick.proof = TextField(ObjectField(*best, "proof"), "state");
  sick.node = TextField(ObjectField(*best, "entity"), "node");
  const std::string kind = TextField(*best, "class");
  sick.stands_still = kind == "communication_hang" || kind == "noncommunication_hang";
  sick.slowdown = std::max(sick.slowdown, NumberField(ObjectField(*best, "cost"), "slowdown", 1));
  sick.since_ns = IntField(ObjectField(*best, "since"), "time_unix_ns");
  return sick;
}

std::vector<SpareNode> NodesOf(const Json& nodes, const Json& actions) {
  std::set<std::string> held;
  for (const Json& action : ListField(actions, "actions")) {
    const std::string phase = TextField(action, "phase");
    if (phase == "acted" || phase == "acting" || phase == "undoing") {
      held.insert(TextField(action, "node"));
    }
  }
  std::vector<SpareNode> all;
  for (const Json& node : ListField(nodes, "nodes")) {
    SpareNode spare;
    spare.name = TextField(node, "name");
    spare.connected = BoolField(node, "connected");
    spare.ranks = static_cast<int>(IntField(node, "ranks"));
    spare.suspect = BoolField(node, "suspect");
    spare.repeat_offender = BoolField(node, "repeat_offender");
    spare.held = held.contains(spare.name);
    all.push_back(std::move(spare));
  }
  return all;
}

absl::StatusOr<RecoveryFacts> AskForFacts(const CollectorApi& api, const std::string& job) {
  const absl::StatusOr<Json> told = api.Job(job);
  if (!told.ok()) return told.status();
  const absl::StatusOr<Json> verdicts = api.Verdicts(job, true);
  if (!verdicts.ok()) return verdicts.status();
  const absl::StatusOr<Json> nodes = api.Nodes();
  if (!nodes.ok()) return nodes.status();
  const absl::StatusOr<Json> actions = api.Actions();  // there may be no fathom-cordon
  RecoveryFacts facts{SickJobOf(*told, *verdicts),
                      NodesOf(*nodes, actions.ok() ? *actions : Json::object()), LayoutOf(*told)};
  std::size_t asked = 0;
  for (SpareNode& node : facts.nodes) {
    const bool matters = node.name == facts.job.node || (node.connected && node.ranks == 0);
    if (!matters || ++asked > kMostAsked) continue;
    const absl::StatusOr<Json> probes = api.NodeProbes(node.name);
    if (!probes.ok()) continue;
    ReadProbe(*probes, node.probe, node.hardware);
    if (node.name == facts.job.node) facts.job.hardware = node.hardware;
  }
  return facts;
}

}  // namespace fathom::cli
