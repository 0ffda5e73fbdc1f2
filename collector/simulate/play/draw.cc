#include "collector/simulate/play/draw.h"

#include <initializer_list>
#include <iterator>

#include "collector/simulate/play/random.h"

namespace fathom::simulate {
namespace {

// What the numbers are drawn for; part of their keys.
enum Purpose : std::uint64_t {
  kRank = 21,
  kKind,
  kTensor,
  kPipeline,
  kContext,
  kData,
  kExpert,
  kBatches,
};

// Pauses are as long as so much of the drawn jobs' iteration, which is about 0.3 s.
constexpr double kIterationMs = 300;

}  // namespace

Scenario DrawJob(std::uint32_t ranks, int dimensions, std::uint64_t seed) {
  Scenario job;
  job.name = "drawn";
  job.seed = seed;
  job.iterations = 52;
  job.plan.tensor = 4;
  job.plan.pipeline = 4;
  job.plan.sequence_parallel = dimensions >= 4;
  job.plan.context = dimensions >= 5 ? 2 : 1;
  job.plan.data = ranks / (job.plan.tensor * job.plan.pipeline * job.plan.context);
  if (dimensions >= 6) {
    job.plan.expert = 4;
    job.model.experts = 16;
    job.noise.routing_sigma = 0.1;
  }
  job.model.layers = 8;
  job.model.micro_batches = 8;
  job.cluster.nodes_per_leaf = 16;
  return job;
}

Scenario DrawShape(std::uint64_t seed) {
  const auto pick = [seed](Purpose what, std::initializer_list<std::uint32_t> from) {
    return from.begin()[Mix(seed, what) % from.size()];
  };
  Scenario job;
  job.name = "drawn";
  job.seed = seed;
  job.iterations = 52;
  job.plan.tensor = pick(kTensor, {1, 2, 4, 8});
  job.plan.pipeline = pick(kPipeline, {1, 1, 2, 4});
  job.plan.context = pick(kContext, {1, 1, 2});
  job.plan.data = pick(kData, {4, 8, 16});
  job.plan.sequence_parallel = job.plan.tensor > 1;
  job.model.layers = 2 * job.plan.pipeline;
  job.model.micro_batches = job.plan.pipeline * pick(kBatches, {1, 2, 4});
  if (pick(kExpert, {0, 0, 1}) > 0) {
    job.plan.expert = 2;
    job.model.experts = 8;
  }
  return job;
}

Fault DrawFault(const Scenario& job, FaultKind kind, double factor, std::uint64_t seed) {
  Fault fault;
  fault.kind = kind;
  fault.factor = factor;
  fault.ms = (factor - 1) * kIterationMs;
  fault.rank = static_cast<std::uint32_t>(Mix(seed, kRank) % job.plan.WorldSize());
  // Half the stage away: another node, with which it shares its data-parallel communicator.
  const std::uint32_t slice = job.plan.WorldSize() / job.plan.pipeline;
  fault.peer = fault.rank / slice * slice + (fault.rank % slice + slice / 2) % slice;
  // Of a stage that fits into a node, the next stage.
  const std::uint32_t gpus = job.cluster.gpus_per_node;
  if (fault.peer / gpus == fault.rank / gpus) {
    fault.peer = (fault.rank + slice) % job.plan.WorldSize();
  }
  fault.from = 35;
  return fault;
}

Scenario DrawCostJob(std::uint32_t ranks, std::uint64_t seed) {
  Scenario job = DrawJob(ranks, 4, seed);
  job.faults = {DrawFault(job, FaultKind::kSlowGpu, 2, seed)};
  job.iterations = 46;
  return job;
}

FaultKind DrawRankKind(std::uint64_t seed) {
  constexpr FaultKind kKinds[] = {FaultKind::kSlowGpu, FaultKind::kSlowMemory,
                                  FaultKind::kSlowProcess, FaultKind::kGarbage,
                                  FaultKind::kDataLoader};
  return kKinds[Mix(seed, kKind) % std::size(kKinds)];
}

}  // namespace fathom::simulate
