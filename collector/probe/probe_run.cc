#include "collector/probe/probe_run.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <map>
#include <utility>

namespace fathom::collector {
namespace {

using diagnosis::ProbedNode;
using diagnosis::ProbeJudgement;
using State = ProbeJudgement::State;

const char* StateName(State state) {
  switch (state) {
    case State::kFaulty:
      return "faulty";
    case State::kSlow:
      return "slow";
    case State::kClean:
      return "clean";
    case State::kUnknown:
      break;
  }
  return "unknown";
}

absl::Status FromJson(std::string_view json, google::protobuf::Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &message, options);
  return status.ok() ? absl::OkStatus() : absl::InvalidArgumentError(std::string(status.message()));
}

// Killed, too: a device that hangs is not well.
bool IsFault(const v1::ProbeResult& result) {
  return result.outcome() == "faulty" || result.outcome() == "killed";
}

ProbedNode NodeOf(const v1::NodeProbe& run) {
  ProbedNode node{
      .node = run.node(), .hardware = HardwareOf(run), .figures = {}, .faults = {}, .digests = {}};
  for (const v1::ProbeResult& result : run.results()) {
    if (IsFault(result)) node.faults.push_back({result.probe(), result.reason()});
    if (!result.digest().empty()) node.digests[result.probe()] = result.digest();
    for (const v1::ProbeFigure& figure : result.figures()) {
      node.figures.push_back({result.probe(), figure.name(), figure.where(), figure.unit(),
                              figure.value(), figure.less_is_better()});
    }
  }
  return node;
}

v1::ProbeJudgement ProtoOf(const ProbeJudgement& judgement) {
  v1::ProbeJudgement out;
  out.set_state(StateName(judgement.state));
  out.set_sees(judgement.judged > 0 ? judgement.sees : 0);
  out.set_why(judgement.why_unknown);
  for (const diagnosis::SlowFigure& slow : judgement.slow) {
    v1::ProbeFinding& told = *out.add_slow();
    told.set_probe(slow.figure.probe);
    told.set_figure(slow.figure.name);
    told.set_where(slow.figure.where);
    told.set_unit(slow.figure.unit);
    told.set_value(slow.figure.value);
    told.set_usual(slow.usual);
    told.set_loss(slow.loss);
    told.set_references(static_cast<std::uint32_t>(slow.references));
    told.set_against(slow.of_past ? "past" : "peers");
  }
  for (const diagnosis::ProbeFault& fault : judgement.faults) {
    v1::ProbeFault& told = *out.add_faults();
    told.set_probe(fault.probe);
    told.set_reason(fault.reason);
  }
  return out;
}

}  // namespace

absl::Status ReadProbeLines(std::string_view lines, v1::NodeProbe& run) {
  int number = 0;
  for (const absl::string_view text :
       absl::StrSplit(absl::string_view(lines.data(), lines.size()), '\n')) {
    ++number;
    if (text.empty()) continue;
    v1::ProbeLine line;
    const absl::Status read = FromJson({text.data(), text.size()}, line);
    if (!read.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", read.message()));
    }
    if (line.has_machine()) *run.mutable_machine() = std::move(*line.mutable_machine());
    if (line.has_result()) *run.add_results() = std::move(*line.mutable_result());
    if (line.has_gpu()) *run.add_gpus() = std::move(*line.mutable_gpu());
  }
  return absl::OkStatus();
}

std::string HardwareOf(const v1::ProbeMachine& machine) {
  constexpr double kStep = 1.125;  // so much, and the memory is another
  const double gib = static_cast<double>(machine.memory_bytes()) / 1073741824;
  const double rounded = gib > 0 ? std::pow(kStep, std::round(std::log(gib) / std::log(kStep))) : 0;
  return absl::StrCat(
      machine.cpu_model(), ", ", machine.instructions(), ", ", machine.cores_allowed(), " of ",
      machine.cores(), " cores, ", machine.numa_nodes(),
      machine.numa_nodes() == 1 ? " NUMA node, " : " NUMA nodes, ", std::llround(rounded), " GiB");
}

std::string HardwareOf(const v1::NodeProbe& run) {
  std::map<std::string, int> gpus;
  for (const v1::ProbeGpu& gpu : run.gpus()) ++gpus[gpu.name()];
  std::string hardware = HardwareOf(run.machine());
  for (const auto& [name, count] : gpus) absl::StrAppend(&hardware, ", ", count, " x ", name);
  return hardware;
}

bool FoundSomething(const v1::NodeProbe& run) {
  const std::string& state = run.judgement().state();
  return state == "faulty" || state == "slow";
}

void JudgeRun(const std::vector<v1::NodeProbe>& peers, const std::vector<v1::NodeProbe>& past,
              const diagnosis::ProbeLimits& limits, v1::NodeProbe& run) {
  std::vector<ProbedNode> others;
  for (const v1::NodeProbe& peer : peers) others.push_back(NodeOf(peer));
  std::vector<ProbedNode> before;
  for (const v1::NodeProbe& earlier : past) {
    if (!FoundSomething(earlier)) before.push_back(NodeOf(earlier));
  }
  *run.mutable_judgement() = ProtoOf(JudgeProbe(NodeOf(run), others, before, limits));
}

std::string ProbeRunJson(const v1::NodeProbe& run) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  return google::protobuf::util::MessageToJsonString(run, &json, options).ok() ? json : "{}";
}

absl::Status ReadProbeRun(std::string_view json, v1::NodeProbe& run) { return FromJson(json, run); }

}  // namespace fathom::collector
