#include "collector/recovery/recovery_facts.h"

#include <algorithm>
#include <set>

#include "collector/cli/text/verdict_fields.h"
#include "collector/probe/probe_run.h"

namespace fathom::collector {
namespace {

using cli::BoolField;
using cli::GradeStrength;
using cli::IntField;
using cli::IsOpen;
using cli::Json;
using cli::ListField;
using cli::NumberField;
using cli::ObjectField;
using cli::TextField;

int Strength(const Json& verdict) {
  const int grade = GradeStrength(TextField(verdict, "grade"));
  const bool names = !TextField(ObjectField(verdict, "entity"), "node").empty();
  return grade == 0 ? 0 : 2 * grade + (names ? 1 : 0);
}

// The newest run in which the node was measured; state and hardware.
void ReadProbe(const Json& answer, std::string& state, std::string& hardware) {
  for (const Json& json : ListField(answer, "probes")) {
    v1::NodeProbe run;
    if (!ReadProbeRun(json.dump(), run).ok() || run.results().empty()) continue;
    state = run.judgement().state();
    hardware = cli::Printable(HardwareOf(run));
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

absl::StatusOr<RecoveryFacts> AskForFacts(const RecoveryQuestions& questions) {
  const absl::StatusOr<Json> job = questions.job();
  if (!job.ok()) return job.status();
  const absl::StatusOr<Json> verdicts = questions.verdicts();
  if (!verdicts.ok()) return verdicts.status();
  RecoveryFacts facts{SickJobOf(*job, *verdicts), {}};
  if (facts.job.node.empty() && !questions.anyway) return facts;
  const absl::StatusOr<Json> nodes = questions.nodes();
  if (!nodes.ok()) return nodes.status();
  const absl::StatusOr<Json> actions = questions.actions();  // there may be no fathom-cordon
  facts.nodes = NodesOf(*nodes, actions.ok() ? *actions : Json::object());
  std::size_t asked = 0;
  for (SpareNode& node : facts.nodes) {
    const bool matters = node.name == facts.job.node || (node.connected && node.ranks == 0);
    if (!matters || ++asked > kMostAsked) continue;
    const absl::StatusOr<Json> probes = questions.probes(node.name);
    if (!probes.ok()) continue;
    ReadProbe(*probes, node.probe, node.hardware);
    if (node.name == facts.job.node) facts.job.hardware = node.hardware;
  }
  return facts;
}

}  // namespace fathom::collector
