#include "collector/simulate/kineto/job_play.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace fathom::simulate::kineto {
namespace {

// What random numbers are drawn for; part of their keys.
enum Purpose : std::uint64_t { kHostCalls = 101, kKernelTimes, kTransferTimes, kJitter, kLoads };

constexpr double kHostSigma = 0.1;  // of a call
constexpr double kBatchUs = 250;    // that a batch takes which is ready
constexpr double kBatchBytes = 600'000;
constexpr double kUsPerSecond = 1e6;
constexpr double kBlocksPerUs = 1.5;

// The kernels of a piece of computing, and their part of what is bound by memory, or is not.
struct Share {
  const char* name;
  const char* op;
  bool memory;
  double part;
};
constexpr std::array kShares = {
    Share{"void at::native::layer_norm_kernel<float>(int, float, float const*, float*)",
          "aten::native_layer_norm", true, 0.4},
    Share{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "aten::mm", false, 0.45},
    Share{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
          "aten::add_", true, 0.6},
    Share{"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", "aten::mm", false, 0.55}};
constexpr Share kOptimizer = {
    "void at::native::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>",
    "aten::_fused_adam_", true, 1};

// A stream for each use of a dimension's communicator.
std::uint32_t StreamOf(const Step& step) {
  const auto dimension = static_cast<std::uint32_t>(step.dimension);
  if (step.what == Step::What::kSend) return step.towards_last ? 50 : 51;
  if (step.what == Step::What::kReceive) return step.towards_last ? 52 : 53;
  return (step.kind == CollectiveKind::kAllGather ? 20 : 30) + dimension;
}

}  // namespace

JobPlay::JobPlay(const Scenario& scenario)
    : scenario_(scenario),
      layout_(scenario),
      programs_(BuildPrograms(scenario, layout_)),
      wires_(scenario, layout_),
      slowness_(scenario, layout_),
      kernels_(scenario.noise.kernel_sigma),
      transfers_(scenario.noise.transfer_sigma),
      hosts_(kHostSigma) {
  for (std::uint32_t rank = 0; rank < layout_.world(); ++rank) {
    ranks_.emplace_back(Mix(Mix(scenario.seed, kHostCalls), rank), hosts_);
  }
}

double JobPlay::end_us() const {
  double end = 0;
  for (const RankPlay& rank : ranks_) end = std::max(end, rank.host_us());
  return end;
}

bool JobPlay::Play(std::int64_t first, std::int64_t iterations) {
  for (std::int64_t i = 0; i < iterations; ++i) {
    if (!PlayIteration(first + i)) return false;
  }
  return true;
}

bool JobPlay::PlayIteration(std::int64_t iteration) {
  iteration_ = iteration;
  key_ = Mix(scenario_.seed, static_cast<std::uint64_t>(iteration));
  wires_.SetIteration(iteration);
  slowness_.SetIteration(iteration);
  open_.clear();
  progress_.assign(layout_.world(), {});
  for (std::uint32_t rank = 0; rank < layout_.world(); ++rank) Begin(rank);
  std::vector<std::uint32_t> running(layout_.world());
  for (std::uint32_t rank = 0; rank < layout_.world(); ++rank) running[rank] = rank;
  while (!running.empty()) {
    bool any = false;
    std::erase_if(running, [&](std::uint32_t rank) {
      while (progress_[rank].step < ProgramOf(rank).steps.size()) {
        if (!GoOn(rank)) return false;
        any = true;
      }
      const bool ended = End(rank);
      any = any || ended;
      return ended;
    });
    if (!any) return false;
  }
  return true;
}

void JobPlay::Begin(std::uint32_t rank) {
  RankPlay& play = ranks_[rank];
  progress_[rank].begin_us = play.host_us();
  double batch_us = kBatchUs, collecting_us = 0;
  for (const Pause& pause : slowness_.pauses()) {
    if (pause.rank != rank) continue;
    (pause.collecting ? collecting_us : batch_us) += pause.seconds * kUsPerSecond;
  }
  play.Busy("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", batch_us);
  if (collecting_us > 0) play.Busy("Python GC", collecting_us);
  play.Copy(kBatchBytes);
}

bool JobPlay::End(std::uint32_t rank) {
  if (!ranks_[rank].Synchronise()) return false;
  ranks_[rank].EndStep(iteration_, progress_[rank].begin_us);
  return true;
}

bool JobPlay::GoOn(std::uint32_t rank) {
  Progress& at = progress_[rank];
  if (!Do(rank, ProgramOf(rank).steps[at.step])) return false;
  ++at.step;
  at.launched = false;
  return true;
}

bool JobPlay::Do(std::uint32_t rank, const Step& step) {
  switch (step.what) {
    case Step::What::kCompute:
      Compute(rank, step);
      return true;
    case Step::What::kSend:
    case Step::What::kReceive:
      return Message(rank, step);
    case Step::What::kWaitLaunched: {
      const auto& steps = ProgramOf(rank).steps;
      const std::size_t next = progress_[rank].step + 1;
      const bool last = next < steps.size() && steps[next].what == Step::What::kWorld;
      return WaitForLaunched(rank, last || next == steps.size());
    }
    default:
      return Collective(rank, step);
  }
}

double JobPlay::LoadOf(std::uint32_t rank, const Step& step, std::uint64_t key) const {
  double load = 1;
  if (slowness_.varies()) load *= slowness_.Load(layout_.ReplicaOf(rank), step.micro_batch);
  if (step.expert) load *= slowness_.Routing(rank, Mix(Mix(key_, kLoads), key));
  return load;
}

void JobPlay::Compute(std::uint32_t rank, const Step& step) {
  RankPlay& play = ranks_[rank];
  const std::uint64_t piece = Mix(Mix(key_, rank), ++progress_[rank].pieces);
  const double load = LoadOf(rank, step, piece);
  const double usual_us = step.seconds * kUsPerSecond * load;
  const double jitter = Uniform(Mix(piece, kJitter));
  const bool waits = jitter < scenario_.noise.host_jitter_rate;
  // Pareto, index 2.
  double late_us = waits ? scenario_.noise.host_jitter_us /
                               std::sqrt(std::max(1e-6, jitter / scenario_.noise.host_jitter_rate))
                         : 0;
  const auto run = [&](const Share& share, double part, std::uint64_t number) {
    const double slow = slowness_.Gpu(rank) + (share.memory ? slowness_.Memory(rank) : 0);
    Kernel kernel{.name = share.name, .op = share.op};
    const double well_us = usual_us * part * kernels_.At(Mix(Mix(piece, kKernelTimes), number));
    kernel.us = well_us * slow;
    // More tokens are more blocks, a stage of more layers launches more.
    const double work = slowness_.Tokens(rank) * slowness_.Launches(rank) * load;
    kernel.blocks =
        static_cast<std::uint32_t>(std::max(1.0, usual_us / load * part * kBlocksPerUs * work));
    if (slowness_.Host(rank) > 0) kernel.launch_us = kernel.us * (1 + slowness_.Host(rank));
    kernel.launch_us += std::exchange(late_us, 0);
    play.Run(kernel);
  };
  if (step.memory_share >= 1) return run(kOptimizer, 1, 0);
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const Share& share = kShares[i];
    run(share, share.part * (share.memory ? step.memory_share : 1 - step.memory_share), i);
  }
}

Op& JobPlay::OpAt(const OpKey& key) {
  Op*& op = open_[key];
  if (op == nullptr) op = ops_.emplace_back(std::make_unique<Op>()).get();
  return *op;
}

bool JobPlay::Collective(std::uint32_t rank, const Step& step) {
  Progress& at = progress_[rank];
  const std::uint32_t group = layout_.GroupOf(step.dimension, rank);
  Op& op = OpAt({static_cast<std::uint8_t>(step.dimension), group, step.sequence});
  if (op.size == 0) {
    const std::uint64_t key = Mix(
        Mix(Mix(key_, kTransferTimes), static_cast<std::uint64_t>(step.dimension) << 32 | group),
        step.sequence);
    op.kind = step.kind;
    op.dimension = step.dimension;
    op.group = group;
    op.bytes = static_cast<std::uint64_t>(static_cast<double>(step.bytes) * slowness_.Tokens(rank));
    op.size = layout_.SizeOf(step.dimension);
    const double load = step.dimension == Dimension::kExpert ? slowness_.Routed(rank) : 1;
    op.transfer_us = wires_.OfGroup(step.dimension, group).Seconds(step, load) *
                     transfers_.At(key) * kUsPerSecond;
  }
  // The parameters of FSDP are gathered ahead of the computing, which they do not depend on.
  const bool gathers = step.kind == CollectiveKind::kAllGather;
  const bool ahead =
      step.what == Step::What::kLaunch && gathers && scenario_.plan.sharding == Sharding::kFsdp;
  if (!at.launched && !ranks_[rank].Launch(op, StreamOf(step), !ahead, step.kind, -1)) return false;
  at.launched = true;
  if (step.what != Step::What::kLaunch) return ranks_[rank].WaitFor(op);
  (gathers ? at.gathered : at.reduced).push_back(&op);
  return true;
}

bool JobPlay::Message(std::uint32_t rank, const Step& step) {
  Progress& at = progress_[rank];
  const bool sends = step.what == Step::What::kSend;
  const bool up = sends == step.towards_last;  // the other end is in the next stage
  const std::uint32_t world = layout_.world(), slice = layout_.slice();
  const std::uint32_t other = (rank + (up ? slice : world - slice)) % world;
  Op& op = OpAt({static_cast<std::uint8_t>(Dimension::kPipeline), sends ? other : rank, step.slot});
  if (op.size == 0) {
    const std::uint64_t key = Mix(Mix(Mix(key_, kTransferTimes), sends ? other : rank),
                                  std::uint64_t{1} << 40 | step.slot);
    op.kind = CollectiveKind::kSend;
    op.dimension = Dimension::kPipeline;
    op.group = layout_.GroupOf(Dimension::kPipeline, rank);
    op.bytes = step.bytes;
    op.size = 2;
    op.transfer_us = wires_.FromRank(sends ? rank : other, step.towards_last).Seconds(step) *
                     transfers_.At(key) * kUsPerSecond;
  }
  const auto end = sends ? CollectiveKind::kSend : CollectiveKind::kRecv;
  if (!at.launched && !ranks_[rank].Launch(op, StreamOf(step), sends, end, other)) return false;
  at.launched = true;
  return sends || ranks_[rank].WaitFor(op);
}

bool JobPlay::WaitForLaunched(std::uint32_t rank, bool all) {
  Progress& at = progress_[rank];
  const auto wait = [&](std::vector<Op*>& ops) {
    while (!ops.empty()) {
      if (!ranks_[rank].WaitFor(*ops.front())) return false;
      ops.erase(ops.begin());
    }
    return true;
  };
  return wait(at.gathered) && (!all || wait(at.reduced));
}

}  // namespace fathom::simulate::kineto
