#include "collector/simulate/play/slowness.h"

namespace fathom::simulate {
namespace {

// What the numbers are drawn for; part of their keys.
enum Purpose : std::uint64_t { kSpread = 1, kCommon, kSequence };

}  // namespace

Slowness::Slowness(const Scenario& scenario, const Layout& layout)
    : scenario_(scenario),
      layout_(layout),
      micro_batches_(scenario.model.micro_batches),
      spread_(scenario.noise.gpu_spread),
      common_(scenario.noise.iteration_sigma),
      sequence_(scenario.noise.sequence_sigma),
      routing_(scenario.noise.routing_sigma) {
  const std::uint64_t key = Mix(scenario.seed, kSpread);
  for (std::uint32_t rank = 0; rank < layout.world(); ++rank) {
    usual_gpu_.push_back(spread_.At(Mix(key, rank)));
  }
  memory_.assign(layout.world(), 0);
  host_.assign(layout.world(), 0);
}

void Slowness::SetIteration(std::int64_t iteration) {
  const std::uint64_t key = Mix(scenario_.seed, static_cast<std::uint64_t>(iteration));
  const double common = common_.At(Mix(key, kCommon));
  gpu_ = usual_gpu_;
  for (double& factor : gpu_) factor *= common;
  memory_.assign(layout_.world(), 0);
  host_.assign(layout_.world(), 0);
  hot_.clear();
  tokens_.clear();
  launches_.clear();
  load_.clear();
  pauses_.clear();
  any_memory_ = any_host_ = stops_ = link_down_ = false;
  if (scenario_.noise.sequence_sigma > 0) DrawLoads(Mix(key, kSequence));
  for (const Fault& fault : scenario_.faults) {
    if (fault.ActiveIn(iteration)) Apply(fault);
  }
}

void Slowness::DrawLoads(std::uint64_t key) {
  for (std::uint32_t i = 0; i < scenario_.plan.data * micro_batches_; ++i) {
    load_.push_back(sequence_.At(Mix(key, i)));
  }
}

void Slowness::Apply(const Fault& fault) {
  const auto each = [&](auto&& concerned, std::vector<double>& factors, bool add) {
    for (std::uint32_t rank = 0; rank < layout_.world(); ++rank) {
      if (!concerned(rank)) continue;
      factors[rank] = add ? factors[rank] + fault.factor - 1 : factors[rank] * fault.factor;
    }
  };
  switch (fault.kind) {
    case FaultKind::kSlowGpu:
      gpu_[fault.rank] *= fault.factor;
      return;
    case FaultKind::kSlowMemory:
      memory_[fault.rank] += fault.factor - 1;
      any_memory_ = true;
      return;
    case FaultKind::kSlowProcess:
      host_[fault.rank] += fault.factor - 1;
      any_host_ = true;
      return;
    case FaultKind::kSlowHost:
      each([&](std::uint32_t r) { return layout_.NodeOf(r) == layout_.NodeOf(fault.rank); }, host_,
           true);
      any_host_ = true;
      return;
    case FaultKind::kGarbage:
    case FaultKind::kDataLoader:
      pauses_.push_back({fault.rank, fault.ms * 1e-3, fault.kind == FaultKind::kGarbage});
      return;
    case FaultKind::kStageImbalance:
      if (launches_.empty()) launches_.assign(layout_.world(), 1);
      each([&](std::uint32_t r) { return layout_.StageOf(r) == layout_.StageOf(fault.rank); },
           launches_, false);
      each([&](std::uint32_t r) { return layout_.StageOf(r) == layout_.StageOf(fault.rank); }, gpu_,
           false);
      return;
    case FaultKind::kSequenceImbalance:
      if (tokens_.empty()) tokens_.assign(layout_.world(), 1);
      each([&](std::uint32_t r) { return layout_.ReplicaOf(r) == layout_.ReplicaOf(fault.rank); },
           tokens_, false);
      each([&](std::uint32_t r) { return layout_.ReplicaOf(r) == layout_.ReplicaOf(fault.rank); },
           gpu_, false);
      return;
    case FaultKind::kExpertImbalance:
      if (hot_.empty()) hot_.assign(layout_.world(), 1);
      each([&](std::uint32_t r) { return layout_.ReplicaOf(r) == layout_.ReplicaOf(fault.rank); },
           hot_, false);
      return;
    case FaultKind::kGrowth:
      if (tokens_.empty()) tokens_.assign(layout_.world(), 1);
      each([](std::uint32_t) { return true; }, tokens_, false);
      each([](std::uint32_t) { return true; }, gpu_, false);
      return;
    case FaultKind::kHangProcess:
      stops_ = true, stopping_rank_ = fault.rank;
      return;
    case FaultKind::kHangLink:
      link_down_ = true, link_down_rank_ = fault.rank;
      return;
    default:
      return;  // of the network: wires.h
  }
}

double Slowness::Routing(std::uint32_t rank, std::uint64_t random) const {
  const double hot = hot_.empty() ? 1 : hot_[rank];
  return hot * routing_.At(random);
}

}  // namespace fathom::simulate
