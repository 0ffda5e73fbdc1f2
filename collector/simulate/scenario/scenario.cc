#include "collector/simulate/scenario/scenario.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace fathom::simulate {
namespace {

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

// More than anybody has, and what a machine can hold.
constexpr std::uint64_t kMostRanks = 1 << 20;
constexpr std::uint64_t kMostPasses = 1 << 16;  // of layers and micro-batches on a rank

absl::Status CheckSize(const ParallelPlan& plan, const ModelShape& model) {
  std::uint64_t ranks = 1;
  for (std::uint64_t degree : {plan.tensor, plan.context, plan.pipeline, plan.data}) {
    ranks *= degree;
    if (ranks > kMostRanks) return Bad(absl::StrFormat("plan: more than %d ranks", kMostRanks));
  }
  const std::uint64_t passes = std::uint64_t{model.layers} * model.micro_batches;
  if (passes > kMostPasses) {
    return Bad(absl::StrFormat("model: layers × micro_batches is more than %d", kMostPasses));
  }
  return absl::OkStatus();
}

absl::Status CheckNoise(const Noise& noise) {
  for (double value : {noise.kernel_sigma, noise.gpu_spread, noise.iteration_sigma,
                       noise.transfer_sigma, noise.sequence_sigma, noise.routing_sigma}) {
    if (!(value >= 0 && value <= 2)) return Bad("noise: a sigma is between 0 and 2");
  }
  if (!(noise.host_jitter_rate >= 0 && noise.host_jitter_rate <= 1)) {
    return Bad("noise.host_jitter_rate is between 0 and 1");
  }
  for (double value : {noise.host_jitter_us, noise.clock_offset_ms, noise.clock_drift_ppm}) {
    if (!(value >= 0 && value <= 1e6)) return Bad("noise: a time or drift is between 0 and 1e6");
  }
  return absl::OkStatus();
}

absl::Status CheckCluster(const Cluster& cluster, const ParallelPlan& plan) {
  if (cluster.gpus_per_node == 0 || cluster.nodes_per_leaf == 0) {
    return Bad("cluster: gpus_per_node and nodes_per_leaf are at least 1");
  }
  for (double speed : {cluster.gpu_tflops, cluster.nvlink_gbytes_s, cluster.nic_gbytes_s}) {
    if (!(speed > 0 && speed < 1e9)) return Bad("cluster: a speed is above 0 and below 1e9");
  }
  for (double latency :
       {cluster.nvlink_latency_us, cluster.nic_latency_us, cluster.leaf_latency_us}) {
    if (!(latency >= 0 && latency <= 1e6)) return Bad("cluster: a latency is between 0 and 1e6");
  }
  if (plan.tensor > cluster.gpus_per_node) {
    return Bad(absl::StrFormat("plan.tensor (%d) does not fit a node of %d GPUs", plan.tensor,
                               cluster.gpus_per_node));
  }
  return absl::OkStatus();
}

absl::Status CheckPlan(const ParallelPlan& plan, const ModelShape& model) {
  if (plan.tensor == 0 || plan.context == 0 || plan.pipeline == 0 || plan.data == 0 ||
      plan.expert == 0 || plan.virtual_stages == 0) {
    return Bad("plan: every degree is at least 1");
  }
  const bool interleaved = plan.schedule == Schedule::kInterleaved;
  if (!interleaved && plan.virtual_stages > 1) {
    return Bad("plan.virtual_stages needs schedule: interleaved");
  }
  if (interleaved && plan.pipeline <= 2) return Bad("plan: interleaved needs pipeline > 2");
  if (interleaved && model.micro_batches % plan.pipeline != 0) {
    return Bad(absl::StrFormat("model.micro_batches (%d) is no multiple of plan.pipeline (%d)",
                               model.micro_batches, plan.pipeline));
  }
  if (model.layers % (plan.pipeline * plan.virtual_stages) != 0) {
    return Bad(absl::StrFormat("model.layers (%d) do not divide into %d stages of %d chunks",
                               model.layers, plan.pipeline, plan.virtual_stages));
  }
  if (plan.data % plan.expert != 0) {
    return Bad(
        absl::StrFormat("plan.expert (%d) does not divide plan.data (%d)", plan.expert, plan.data));
  }
  if (plan.expert > 1 && model.experts % plan.expert != 0) {
    return Bad(absl::StrFormat("model.experts (%d) do not divide over plan.expert (%d)",
                               model.experts, plan.expert));
  }
  if (plan.expert > 1 && model.experts == 0) return Bad("plan.expert needs model.experts");
  return absl::OkStatus();
}

absl::Status CheckFaults(const Scenario& s) {
  for (const Fault& fault : s.faults) {
    if (fault.rank >= s.plan.WorldSize() || fault.peer >= s.plan.WorldSize()) {
      return Bad(absl::StrFormat("faults: there is no rank %d in a job of %d",
                                 std::max(fault.rank, fault.peer), s.plan.WorldSize()));
    }
    if (fault.every < 1 || fault.lasting < 1)
      return Bad("faults: every and lasting are at least 1");
    if (!(fault.factor >= 1 && fault.factor <= 1000) || !(fault.ms >= 0 && fault.ms <= 1e6)) {
      return Bad("faults: factor is between 1 and 1000, ms between 0 and 1e6");
    }
    if (fault.kind == FaultKind::kExpertImbalance && s.model.experts == 0) {
      return Bad("faults: expert_imbalance needs model.experts");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::uint32_t ParallelPlan::Dimensions() const {
  std::uint32_t count = sequence_parallel ? 1 : 0;
  for (std::uint32_t degree : {tensor, context, pipeline, data, expert}) count += degree > 1;
  return count;
}

absl::Status Finalize(const Scenario& s) {
  if (s.model.layers == 0 || s.model.hidden == 0 || s.model.sequence == 0 ||
      s.model.micro_batches == 0) {
    return Bad("model: layers, hidden, sequence and micro_batches are at least 1");
  }
  for (const absl::Status& status : {CheckSize(s.plan, s.model), CheckPlan(s.plan, s.model),
                                     CheckCluster(s.cluster, s.plan), CheckNoise(s.noise)}) {
    if (!status.ok()) return status;
  }
  if (s.iterations < 1) return Bad("iterations: at least 1");
  if (!(s.stuck_s >= 0 && s.stuck_s <= 1e6)) return Bad("stuck_s is between 0 and 1e6");
  return CheckFaults(s);
}

bool IsHang(FaultKind kind) {
  return kind == FaultKind::kHangProcess || kind == FaultKind::kHangLink;
}

bool IsImbalance(FaultKind kind) {
  return kind == FaultKind::kStageImbalance || kind == FaultKind::kSequenceImbalance ||
         kind == FaultKind::kExpertImbalance || kind == FaultKind::kGrowth;
}

std::string_view ToString(FaultKind kind) {
  constexpr std::string_view kNames[] = {
      "slow_gpu",     "slow_memory",     "slow_host",          "slow_process",     "gc",
      "dataloader",   "slow_nic",        "slow_nvlink",        "slow_path",        "slow_leaf",
      "slow_spine",   "stage_imbalance", "sequence_imbalance", "expert_imbalance", "growth",
      "hang_process", "hang_link"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace fathom::simulate
