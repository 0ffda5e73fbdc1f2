#include "tests/diagnosis/scenario.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

#include "tests/diagnosis/job_builder.h"

namespace fathom::diagnosis::testing {
namespace {

using Setters = std::map<std::string, std::function<void(const YAML::Node&)>>;

void Read(const YAML::Node& node, const Setters& setters, const std::string& where) {
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto it = setters.find(key);
    if (it == setters.end()) throw std::runtime_error(where + ": unknown field " + key);
    it->second(entry.second);
  }
}

template <typename T>
std::function<void(const YAML::Node&)> Into(T& target) {
  return [&target](const YAML::Node& node) { target = node.as<T>(); };
}

template <typename T>
std::function<void(const YAML::Node&)> Into(std::optional<T>& target) {
  return [&target](const YAML::Node& node) { target = node.as<T>(); };
}

JobType TypeNamed(const std::string& name) {
  static const std::map<std::string, JobType> kTypes = {{"ddp", JobType::kDdp},
                                                        {"tensor_data", JobType::kTensorData},
                                                        {"pipeline", JobType::kPipeline},
                                                        {"ring", JobType::kRing}};
  return kTypes.at(name);
}

FaultKind KindNamed(const std::string& name) {
  static const std::map<std::string, FaultKind> kKinds = {{"compute", FaultKind::kCompute},
                                                          {"sleep", FaultKind::kSleep},
                                                          {"gc", FaultKind::kGc},
                                                          {"data_loader", FaultKind::kDataLoader},
                                                          {"link", FaultKind::kLink},
                                                          {"contention", FaultKind::kContention},
                                                          {"growth", FaultKind::kGrowth},
                                                          {"longer", FaultKind::kLonger},
                                                          {"stop", FaultKind::kStop},
                                                          {"loop", FaultKind::kLoop},
                                                          {"idle", FaultKind::kIdle},
                                                          {"dead", FaultKind::kDead},
                                                          {"mismatch", FaultKind::kMismatch},
                                                          {"skip", FaultKind::kSkip},
                                                          {"link_down", FaultKind::kLinkDown}};
  return kKinds.at(name);
}

Fault ReadFault(const YAML::Node& node, const std::string& where) {
  Fault fault;
  Read(node,
       {{"kind", [&](const YAML::Node& n) { fault.kind = KindNamed(n.as<std::string>()); }},
        {"rank", Into(fault.rank)},
        {"from", Into(fault.from)},
        {"every", Into(fault.every)},
        {"until", Into(fault.until)},
        {"ms", Into(fault.ms)}},
       where);
  return fault;
}

void ReadJob(const YAML::Node& node, JobSpec& job, const std::string& where) {
  Read(node,
       {{"type", [&](const YAML::Node& n) { job.type = TypeNamed(n.as<std::string>()); }},
        {"ranks", Into(job.ranks)},
        {"ranks_per_node", Into(job.ranks_per_node)},
        {"tensor", Into(job.tensor)},
        {"replicas", Into(job.replicas)},
        {"micro_batches", Into(job.micro_batches)},
        {"last_stage_times", Into(job.last_stage_times)},
        {"iterations", Into(job.iterations)},
        {"iteration_ms", Into(job.iteration_ms)},
        {"transfer_ms", Into(job.transfer_ms)},
        {"rendezvous", Into(job.rendezvous)},
        {"jitter", Into(job.jitter)},
        {"preempt_rate", Into(job.preempt_rate)},
        {"preempt_ms", Into(job.preempt_ms)},
        {"seed", Into(job.seed)},
        {"stuck_s", Into(job.stuck_s)},
        {"waits", Into(job.waits)},
        {"op_cpu", Into(job.op_cpu)},
        {"cpu", Into(job.cpu)},
        {"marks", Into(job.marks)},
        {"members", Into(job.members)}},
       where);
}

ExpectedVerdict ReadVerdict(const YAML::Node& node, const std::string& where) {
  ExpectedVerdict expected;
  Read(node,
       {{"name", Into(expected.name)},
        {"grade", Into(expected.grade)},
        {"owner", Into(expected.owner)},
        {"class", Into(expected.problem_class)},
        {"victims", Into(expected.victims)},
        {"since", Into(expected.since)},
        {"since_within", Into(expected.since_within)},
        {"says", Into(expected.says)},
        {"slowdown_least", Into(expected.slowdown_least)},
        {"slowdown_most", Into(expected.slowdown_most)}},
       where);
  return expected;
}

// As if the rank's recording had been cut there.
void EndRecording(std::uint32_t rank, int iterations, JobView& view) {
  const auto later = [&](const auto& row) { return row.iteration.value >= iterations; };
  RankRows& rows = view.rows[RankId(rank)];
  std::erase_if(rows.ops, later);
  std::erase_if(rows.marks, later);
  for (IterationSummary& it : view.window) {
    if (it.index.value < iterations) continue;
    std::erase_if(it.ranks, [&](const RankIteration& r) { return r.rank == RankId(rank); });
  }
}

LiveOutcome RunOffline(const JobView& view, const DiagnosisConfig& config) {
  LiveOutcome outcome;
  outcome.suspicion = Watch(view, config);
  outcome.diagnosis = Diagnose(view, outcome.suspicion, config);
  outcome.ever = outcome.diagnosis.verdicts;
  return outcome;
}

}  // namespace

Scenario LoadScenario(const std::string& path) {
  Scenario s;
  s.file = path;
  std::string about;
  Read(YAML::LoadFile(path),
       {{"about", Into(about)},
        {"job", [&](const YAML::Node& n) { ReadJob(n, s.job, path); }},
        {"faults",
         [&](const YAML::Node& n) {
           for (const auto& f : n) s.job.faults.push_back(ReadFault(f, path));
         }},
        {"seeds", Into(s.seeds)},
        {"signals_off", Into(s.signals_off)},
        {"rows_withheld", Into(s.rows_withheld)},
        {"rows_begin",
         [&](const YAML::Node& n) { s.rows_begin = n.as<std::map<std::uint32_t, int>>(); }},
        {"recording_ends",
         [&](const YAML::Node& n) { s.recording_ends = n.as<std::map<std::uint32_t, int>>(); }},
        {"unreachable", Into(s.unreachable)},
        {"offline", Into(s.offline)},
        {"verdicts",
         [&](const YAML::Node& n) {
           for (const auto& v : n) s.verdicts.push_back(ReadVerdict(v, path));
         }},
        {"abstained", Into(s.abstained)},
        {"slow", Into(s.slow)},
        {"settled", Into(s.settled)}},
       path);
  if (about.empty()) throw std::runtime_error(path + ": says not what it is about");
  return s;
}

std::vector<std::string> ScenarioFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

JobView ViewOf(const Scenario& scenario, const JobSpec& job) {
  JobView view = PlayJob(job);
  for (std::uint32_t rank : scenario.rows_withheld) view.rows.erase(RankId(rank));
  for (const auto& [rank, end] : scenario.recording_ends) EndRecording(rank, end, view);
  for (const auto& [rank, first] : scenario.rows_begin) {
    std::erase_if(view.rows[RankId(rank)].ops,
                  [begin = first](const CommOp& op) { return op.iteration.value < begin; });
  }
  for (RankFacts& facts : view.ranks) {
    const auto& gone = scenario.unreachable;
    if (std::find(gone.begin(), gone.end(), facts.rank.value) == gone.end()) continue;
    facts.agent_reachable = false;
    facts.state = ProcessState::kUnknown;
    facts.groups.clear();
    facts.open_ops.clear();
  }
  for (const std::string& name : scenario.signals_off) {
    view.signals.push_back({name, SignalState::Level::kOff, ""});
  }
  return view;
}

LiveOutcome Judge(const Scenario& scenario, const JobView& view, const DiagnosisConfig& config,
                  std::size_t every) {
  return scenario.offline ? RunOffline(view, config) : RunLive(view, config, every);
}

}  // namespace fathom::diagnosis::testing
