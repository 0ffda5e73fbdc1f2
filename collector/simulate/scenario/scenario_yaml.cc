#include "collector/simulate/scenario/scenario_yaml.h"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::simulate {
namespace {

// Thrown inside this file only; ParseScenario() turns it into a status.
struct Wrong {
  int line;
  std::string reason;
};

using Setter = std::function<void(const YAML::Node&)>;
using Setters = std::map<std::string, Setter>;

void Read(const YAML::Node& node, const Setters& setters, const std::string& where) {
  if (!node.IsMap()) throw Wrong{node.Mark().line + 1, absl::StrCat(where, ": keys are expected")};
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto it = setters.find(key);
    if (it == setters.end()) {
      std::string known;
      for (const auto& [name, setter] : setters) absl::StrAppend(&known, " ", name);
      throw Wrong{entry.first.Mark().line + 1,
                  absl::StrCat(where, ": unknown key ", key, "; there are:", known)};
    }
    it->second(entry.second);
  }
}

template <typename T>
Setter Into(T& target) {
  return [&target](const YAML::Node& node) { target = node.as<T>(); };
}

template <typename E>
Setter Named(E& target, std::map<std::string, E> names) {
  return [&target, names = std::move(names)](const YAML::Node& node) {
    const auto it = names.find(node.as<std::string>());
    if (it == names.end()) {
      std::string known;
      for (const auto& [name, value] : names) absl::StrAppend(&known, " ", name);
      throw Wrong{node.Mark().line + 1,
                  absl::StrCat("unknown name ", node.as<std::string>(), "; there are:", known)};
    }
    target = it->second;
  };
}

std::map<std::string, FaultKind> FaultNames() {
  std::map<std::string, FaultKind> names;
  for (int i = 0; i <= static_cast<int>(FaultKind::kHangLink); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    names[std::string(ToString(kind))] = kind;
  }
  return names;
}

Fault ReadFault(const YAML::Node& node) {
  Fault fault;
  Read(node,
       {{"kind", Named(fault.kind, FaultNames())},
        {"rank", Into(fault.rank)},
        {"peer", Into(fault.peer)},
        {"factor", Into(fault.factor)},
        {"ms", Into(fault.ms)},
        {"from", Into(fault.from)},
        {"until", Into(fault.until)},
        {"every", Into(fault.every)},
        {"lasting", Into(fault.lasting)}},
       "faults");
  return fault;
}

Setter ModelSetter(ModelShape& model) {
  return [&model](const YAML::Node& node) {
    Read(node,
         {{"layers", Into(model.layers)},
          {"hidden", Into(model.hidden)},
          {"sequence", Into(model.sequence)},
          {"micro_batches", Into(model.micro_batches)},
          {"experts", Into(model.experts)},
          {"top_k", Into(model.top_k)}},
         "model");
  };
}

Setter PlanSetter(ParallelPlan& plan) {
  return [&plan](const YAML::Node& node) {
    Read(node,
         {{"tensor", Into(plan.tensor)},
          {"sequence_parallel", Into(plan.sequence_parallel)},
          {"context", Into(plan.context)},
          {"pipeline", Into(plan.pipeline)},
          {"data", Into(plan.data)},
          {"expert", Into(plan.expert)},
          {"virtual_stages", Into(plan.virtual_stages)},
          {"schedule", Named(plan.schedule, {{"1f1b", Schedule::kOneForwardOneBackward},
                                             {"interleaved", Schedule::kInterleaved},
                                             {"zero_bubble", Schedule::kZeroBubble}})},
          {"sharding", Named(plan.sharding, {{"none", Sharding::kNone},
                                             {"zero1", Sharding::kZero1},
                                             {"fsdp", Sharding::kFsdp}})}},
         "plan");
  };
}

Setter ClusterSetter(Cluster& cluster) {
  return [&cluster](const YAML::Node& node) {
    Read(node,
         {{"gpus_per_node", Into(cluster.gpus_per_node)},
          {"nodes_per_leaf", Into(cluster.nodes_per_leaf)},
          {"rails", Into(cluster.rails)},
          {"gpu_tflops", Into(cluster.gpu_tflops)},
          {"nvlink_gbytes_s", Into(cluster.nvlink_gbytes_s)},
          {"nic_gbytes_s", Into(cluster.nic_gbytes_s)},
          {"nvlink_latency_us", Into(cluster.nvlink_latency_us)},
          {"nic_latency_us", Into(cluster.nic_latency_us)},
          {"leaf_latency_us", Into(cluster.leaf_latency_us)},
          {"flows_told", Into(cluster.flows_told)}},
         "cluster");
  };
}

Setter NoiseSetter(Noise& noise) {
  return [&noise](const YAML::Node& node) {
    Read(node,
         {{"kernel_sigma", Into(noise.kernel_sigma)},
          {"gpu_spread", Into(noise.gpu_spread)},
          {"iteration_sigma", Into(noise.iteration_sigma)},
          {"host_jitter_rate", Into(noise.host_jitter_rate)},
          {"host_jitter_us", Into(noise.host_jitter_us)},
          {"transfer_sigma", Into(noise.transfer_sigma)},
          {"sequence_sigma", Into(noise.sequence_sigma)},
          {"routing_sigma", Into(noise.routing_sigma)},
          {"clock_offset_ms", Into(noise.clock_offset_ms)},
          {"clock_drift_ppm", Into(noise.clock_drift_ppm)}},
         "noise");
  };
}

Scenario ReadScenario(const YAML::Node& node) {
  Scenario s;
  std::optional<std::uint32_t> world;
  Read(node,
       {{"about", Into(s.about)},
        {"model", ModelSetter(s.model)},
        {"plan", PlanSetter(s.plan)},
        {"cluster", ClusterSetter(s.cluster)},
        {"noise", NoiseSetter(s.noise)},
        {"faults",
         [&s](const YAML::Node& n) {
           if (!n.IsSequence() && !n.IsNull())
             throw Wrong{n.Mark().line + 1, "faults: a list is expected"};
           for (const auto& fault : n) s.faults.push_back(ReadFault(fault));
         }},
        {"iterations", Into(s.iterations)},
        {"stuck_s", Into(s.stuck_s)},
        {"seed", Into(s.seed)},
        {"world_size", [&world](const YAML::Node& n) { world = n.as<std::uint32_t>(); }}},
       "scenario");
  if (world && *world != s.plan.WorldSize()) {
    throw Wrong{
        node["world_size"].Mark().line + 1,
        absl::StrCat("world_size (", *world, ") is not tensor × context × pipeline × data (",
                     s.plan.WorldSize(), ")")};
  }
  return s;
}

std::string Stem(std::string name) {
  const std::size_t slash = name.rfind('/');
  if (slash != std::string::npos) name.erase(0, slash + 1);
  return name.substr(0, name.rfind('.'));
}

// The line of the section that an error of Finalize() is about: its first word.
int LineOf(const YAML::Node& node, const std::string& message) {
  const std::string section = message.substr(0, message.find_first_of(".: "));
  const YAML::Node at = node.IsMap() ? node[section] : YAML::Node();
  return at.IsDefined() ? at.Mark().line + 1 : 1;
}

}  // namespace

absl::StatusOr<Scenario> ParseScenario(const std::string& text, const std::string& name) {
  const auto error = [&name](int line, const std::string& reason) {
    return absl::InvalidArgumentError(absl::StrCat(name, ":", line, ": ", reason));
  };
  try {
    const YAML::Node node = YAML::Load(text);
    Scenario scenario = ReadScenario(node);
    scenario.name = Stem(name);
    if (absl::Status fits = Finalize(scenario); !fits.ok()) {
      const std::string reason(fits.message());
      return error(LineOf(node, reason), reason);
    }
    return scenario;
  } catch (const Wrong& wrong) {
    return error(wrong.line, wrong.reason);
  } catch (const YAML::Exception& exception) {
    return error(exception.mark.line + 1, exception.msg);
  }
}

}  // namespace fathom::simulate
