// A simulated training job and what is wrong with it: model, parallel plan, cluster, noise, faults,
// and the truth that a diagnosis is scored against.
//
// Read from YAML by scenario_yaml.h; played by player.h. docs/formats/scenario.md lists every key.
//
// Units: in the names; factors are ratios (1.5: half as long again). Ranks are global ranks.
// Thread-safety: plain values. A Scenario that came out of Finalize() is consistent.
#ifndef FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_H_
#define FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "diagnosis/model/verdict.h"

namespace fathom::simulate {

struct ModelShape {
  std::uint32_t layers = 8;
  std::uint32_t hidden = 8192;
  std::uint32_t sequence = 4096;
  std::uint32_t micro_batches = 8;  // a data-parallel replica and iteration
  std::uint32_t experts = 0;        // 0: dense
  std::uint32_t top_k = 2;          // experts a token goes to
};

enum class Schedule : std::uint8_t { kOneForwardOneBackward, kInterleaved, kZeroBubble };

// What data-parallel ranks keep of the model: all of it (all-reduce of gradients), all but the
// optimizer's state (ZeRO-1: reduce-scatter, all-gather), or their shard of everything (FSDP).
enum class Sharding : std::uint8_t { kNone, kZero1, kFsdp };

struct ParallelPlan {
  std::uint32_t tensor = 1;
  bool sequence_parallel = false;  // all-gather and reduce-scatter in place of all-reduce
  std::uint32_t context = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t data = 1;
  std::uint32_t expert = 1;  // divides data
  Schedule schedule = Schedule::kOneForwardOneBackward;
  std::uint32_t virtual_stages = 1;  // chunks of layers a stage, when interleaved
  Sharding sharding = Sharding::kNone;

  std::uint32_t WorldSize() const { return tensor * context * pipeline * data; }
  // Dimensions in use, as the papers count them: TP, SP, CP, PP, DP, EP.
  std::uint32_t Dimensions() const;
};

struct Cluster {
  std::uint32_t gpus_per_node = 8;  // one NVLink domain
  std::uint32_t nodes_per_leaf = 32;
  bool rails = true;        // leaf k serves the k-th GPU of its nodes; else all GPUs of them
  double gpu_tflops = 400;  // reached, not peak
  double nvlink_gbytes_s = 300;
  double nic_gbytes_s = 40;
  double nvlink_latency_us = 8;
  double nic_latency_us = 20;
  double leaf_latency_us = 6;  // more, where a path leaves its leaf
  // Whether it is told how long data took from each rank to each other, as transports do that keep
  // account of it.
  bool flows_told = false;
};

struct Noise {
  double kernel_sigma = 0.01;      // of the logarithm, of each piece of computing
  double gpu_spread = 0.006;       // constant difference between GPUs, sigma
  double iteration_sigma = 0.003;  // what all ranks share in an iteration
  double host_jitter_rate = 2e-4;  // pieces of computing that wait for the host …
  double host_jitter_us = 300;     // … for so long at least; heavy tail (Pareto, index 2)
  double transfer_sigma = 0.05;    // of the logarithm, of each transfer
  double sequence_sigma = 0;       // of the cost of a micro-batch: lengths that differ
  double routing_sigma = 0;        // of the load of an expert in a micro-batch
  double clock_offset_ms = 5;      // of a node's clock, at most
  double clock_drift_ppm = 20;     // at most
};

enum class FaultKind : std::uint8_t {
  kSlowGpu,            // all its kernels
  kSlowMemory,         // its kernels that are bound by memory
  kSlowHost,           // all ranks of its node launch late
  kSlowProcess,        // this rank alone launches late
  kGarbage,            // collections of garbage
  kDataLoader,         // a batch that comes late
  kSlowNic,            // all transfers through the rank's NIC
  kSlowNvlink,         // all transfers of the rank within its node
  kSlowPath,           // transfers between the nodes of `rank` and `peer`
  kSlowLeaf,           // all transfers through the leaf switch of the rank
  kSlowSpine,          // all transfers that leave a leaf
  kStageImbalance,     // the rank's stage has more work, for all its ranks
  kSequenceImbalance,  // the rank's replica has longer sequences
  kExpertImbalance,    // the rank's experts get more tokens
  kGrowth,             // more work for all
  kHangProcess,        // the rank stops in the middle of an iteration
  kHangLink,           // transfers of its data-parallel group end no more
};

struct Fault {
  FaultKind kind = FaultKind::kSlowGpu;
  std::uint32_t rank = 0;
  std::uint32_t peer = 0;
  double factor = 1.5;  // of the time of what is slow
  double ms = 100;      // of a pause (garbage, data loader), an iteration
  std::int64_t from = 40;
  std::int64_t until = INT64_MAX;  // first iteration that is well again
  std::int64_t every = 1;          // bad in every n-th iteration only
  std::int64_t lasting = 1;        // … for so many

  bool ActiveIn(std::int64_t iteration) const {
    return iteration >= from && iteration < until && (iteration - from) % every < lasting;
  }
};

struct Scenario {
  std::string name;
  std::string about;
  ModelShape model;
  ParallelPlan plan;
  Cluster cluster;
  Noise noise;
  std::vector<Fault> faults;
  std::int64_t iterations = 60;
  double stuck_s = 300;  // how long a hanging job is left to hang
  std::uint64_t seed = 1;
};

// Checks that model, plan, cluster and faults go together.
// Errors: kInvalidArgument with what does not fit what.
absl::Status Finalize(const Scenario& scenario);

// The name of a kind as YAML files write it.
std::string_view ToString(FaultKind kind);

bool IsHang(FaultKind kind);
bool IsImbalance(FaultKind kind);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_SCENARIO_SCENARIO_H_
