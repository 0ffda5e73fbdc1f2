#include "collector/simulate/play/program.h"

#include <cmath>

#include "collector/simulate/play/schedule.h"

namespace fathom::simulate {
namespace {

constexpr double kBytesPerValue = 2;         // bf16
constexpr double kMemoryShare = 0.3;         // of a layer: norms, softmax, dropout
constexpr double kAttentionShare = 1.0 / 3;  // of a layer's matrices; the rest is the MLP
constexpr double kValuesPerLayer = 12;       // × hidden²
constexpr double kOptimizerBytesPerValue = 24;
constexpr double kMemoryBytesPerSecond = 2.0e12;
constexpr std::uint64_t kNormBytes = 64;
constexpr std::uint32_t kKernelsOfAPiece = 12;

// Costs of one layer and one micro-batch on one rank.
struct LayerCost {
  double attention_s = 0, mlp_s = 0;   // forward
  std::uint64_t activation_bytes = 0;  // of one rank's part of the sequence
  std::uint64_t values = 0;            // parameters a rank holds
};

LayerCost CostOf(const Scenario& s) {
  const double hidden = s.model.hidden;
  const double tokens = static_cast<double>(s.model.sequence) / s.plan.context;
  const double values = kValuesPerLayer * hidden * hidden / s.plan.tensor;
  const double flops = 2 * tokens * values;
  const double scores = 4 * tokens * s.model.sequence * hidden / s.plan.tensor;
  const double speed = s.cluster.gpu_tflops * 1e12;
  const double active = s.model.experts > 0 ? s.model.top_k : 1;
  LayerCost cost;
  cost.attention_s = (flops * kAttentionShare + scores) / speed;
  cost.mlp_s = active * flops * (1 - kAttentionShare) / speed;
  cost.activation_bytes = static_cast<std::uint64_t>(tokens * hidden * kBytesPerValue);
  cost.values = static_cast<std::uint64_t>(values);
  return cost;
}

class Builder {
 public:
  Builder(const Scenario& s, const Layout& layout, std::uint32_t stage)
      : s_(s), layout_(layout), stage_(stage), cost_(CostOf(s)) {
    layers_ = s.model.layers / (s.plan.pipeline * s.plan.virtual_stages);
  }

  Program Build() {
    Optimizer();
    std::uint32_t backward = 0;
    const std::uint32_t all = s_.model.micro_batches * s_.plan.virtual_stages;
    for (const Pass& pass : PassesOf(s_, stage_)) {
      micro_batch_ = pass.micro_batch;
      last_of_chunk_ = backward + s_.plan.virtual_stages >= all;
      if (pass.what == Pass::What::kForward) Forward(pass);
      if (pass.what == Pass::What::kBackward) Backward(pass), ++backward;
      if (pass.what == Pass::What::kWeights) Compute(layers_ * Whole(), false);
    }
    Add({.what = Step::What::kWaitLaunched});
    Collective(Step::What::kWorld, Dimension::kWorld, CollectiveKind::kAllReduce, kNormBytes);
    return std::move(program_);
  }

 private:
  double Whole() const { return cost_.attention_s + cost_.mlp_s; }
  bool Fsdp() const { return s_.plan.sharding == Sharding::kFsdp; }
  std::uint64_t LayerBytes() const {
    return static_cast<std::uint64_t>(static_cast<double>(cost_.values) * kBytesPerValue);
  }

  void Add(Step step) {
    step.micro_batch = micro_batch_;
    if (step.what == Step::What::kCompute) {
      kernels_ += kKernelsOfAPiece;
    } else if (step.what != Step::What::kWaitLaunched) {
      step.kernels = kernels_ + 1;  // its own too
      kernels_ = 0;
    }
    program_.steps.push_back(step);
  }

  void Compute(double seconds, bool expert, double memory_share = kMemoryShare) {
    Add({.what = Step::What::kCompute,
         .expert = expert,
         .seconds = seconds,
         .memory_share = memory_share});
  }

  void Collective(Step::What what, Dimension dimension, CollectiveKind kind, std::uint64_t bytes) {
    const double size = layout_.SizeOf(dimension);
    if (size <= 1) return;
    Step step{.what = what, .dimension = dimension, .kind = kind, .bytes = bytes};
    const double passes = kind == CollectiveKind::kAllReduce ? 2 : 1;
    step.hops = passes * std::ceil(std::log2(size));
    step.volume = passes * static_cast<double>(bytes) * (size - 1) / size;
    step.sequence = program_.ops[static_cast<std::size_t>(dimension)]++;
    Add(step);
  }

  void Message(Step::What what, bool towards_last, const Pass& pass, bool forward) {
    Step step{.what = what, .dimension = Dimension::kPipeline, .towards_last = towards_last};
    step.kind = what == Step::What::kSend ? CollectiveKind::kSend : CollectiveKind::kRecv;
    step.bytes = cost_.activation_bytes;
    if (s_.plan.sequence_parallel) step.bytes /= s_.plan.tensor;
    step.hops = 1;
    step.volume = static_cast<double>(step.bytes);
    // A message is known by the chunk that gets it.
    std::uint32_t chunk = pass.chunk;
    const bool wraps = forward ? stage_ + 1 == s_.plan.pipeline : stage_ == 0;
    if (what == Step::What::kSend && wraps) chunk = forward ? chunk + 1 : chunk - 1;
    const std::uint32_t way = forward ? 0 : 1;
    step.slot = (way * s_.plan.virtual_stages + chunk) * s_.model.micro_batches + pass.micro_batch;
    ++program_.ops[static_cast<std::size_t>(Dimension::kPipeline)];
    Add(step);
  }

  void Optimizer() {
    const double values = static_cast<double>(cost_.values) * layers_ * s_.plan.virtual_stages;
    const double shards = s_.plan.sharding == Sharding::kNone ? 1 : s_.plan.data;
    Compute(values * kOptimizerBytesPerValue / shards / kMemoryBytesPerSecond + 1e-4, false, 1);
    if (s_.plan.sharding != Sharding::kZero1) return;
    for (std::uint32_t c = 0; c < s_.plan.virtual_stages; ++c) {
      Collective(Step::What::kLaunch, Dimension::kData, CollectiveKind::kAllGather,
                 LayerBytes() * layers_);
    }
    Add({.what = Step::What::kWaitLaunched});
  }

  void GatherLayer() {
    if (Fsdp()) {
      Collective(Step::What::kLaunch, Dimension::kData, CollectiveKind::kAllGather, LayerBytes());
    }
  }

  // Before a block and after it, forward or backward alike.
  void TensorIn() {
    if (!s_.plan.sequence_parallel) return;
    Collective(Step::What::kCollective, Dimension::kTensor, CollectiveKind::kAllGather,
               cost_.activation_bytes);
  }
  void TensorOut() {
    Collective(
        Step::What::kCollective, Dimension::kTensor,
        s_.plan.sequence_parallel ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
        cost_.activation_bytes);
  }

  void Attention(double times) {
    TensorIn();
    Collective(Step::What::kCollective, Dimension::kContext, CollectiveKind::kAllGather,
               2 * cost_.activation_bytes * s_.plan.context / s_.plan.tensor);
    Compute(times * cost_.attention_s, false);
    TensorOut();
  }

  void Mlp(double times) {
    const bool experts = s_.model.experts > 0;
    const std::uint64_t routed = cost_.activation_bytes * s_.model.top_k / s_.plan.tensor;
    TensorIn();
    Collective(Step::What::kCollective, Dimension::kExpert, CollectiveKind::kAllToAll, routed);
    Compute(times * cost_.mlp_s, experts);
    Collective(Step::What::kCollective, Dimension::kExpert, CollectiveKind::kAllToAll, routed);
    TensorOut();
  }

  void Forward(const Pass& pass) {
    const bool first = stage_ == 0 && pass.chunk == 0;
    const bool last = stage_ + 1 == s_.plan.pipeline && pass.chunk + 1 == s_.plan.virtual_stages;
    if (!first) Message(Step::What::kReceive, true, pass, true);
    GatherLayer();
    for (std::uint32_t layer = 0; layer < layers_; ++layer) {
      if (Fsdp()) Add({.what = Step::What::kWaitLaunched});
      if (layer + 1 < layers_) GatherLayer();
      Attention(1);
      Mlp(1);
    }
    if (!last) Message(Step::What::kSend, true, pass, true);
  }

  void Backward(const Pass& pass) {
    const bool first = stage_ == 0 && pass.chunk == 0;
    const bool last = stage_ + 1 == s_.plan.pipeline && pass.chunk + 1 == s_.plan.virtual_stages;
    const double times = s_.plan.schedule == Schedule::kZeroBubble ? 1 : 2;
    if (!last) Message(Step::What::kReceive, false, pass, false);
    GatherLayer();
    for (std::uint32_t layer = 0; layer < layers_; ++layer) {
      if (Fsdp()) Add({.what = Step::What::kWaitLaunched});
      if (layer + 1 < layers_) GatherLayer();
      Mlp(times);
      Attention(times);
      ReduceGradients();
    }
    if (!first) Message(Step::What::kSend, false, pass, false);
  }

  void ReduceGradients() {
    if (!last_of_chunk_ && !Fsdp()) return;
    Collective(Step::What::kLaunch, Dimension::kData,
               s_.plan.sharding == Sharding::kNone ? CollectiveKind::kAllReduce
                                                   : CollectiveKind::kReduceScatter,
               LayerBytes());
  }

  const Scenario& s_;
  const Layout& layout_;
  const std::uint32_t stage_;
  const LayerCost cost_;
  std::uint32_t layers_ = 1;  // a chunk
  std::uint32_t micro_batch_ = 0;
  std::uint32_t kernels_ = 0;   // since the last op
  bool last_of_chunk_ = false;  // gradients are complete after this backward pass
  Program program_;
};

}  // namespace

std::vector<Program> BuildPrograms(const Scenario& scenario, const Layout& layout) {
  std::vector<Program> programs;
  for (std::uint32_t stage = 0; stage < layout.stages(); ++stage) {
    programs.push_back(Builder(scenario, layout, stage).Build());
  }
  return programs;
}

std::uint32_t MessageSlots(const Scenario& scenario) {
  return 2 * scenario.plan.virtual_stages * scenario.model.micro_batches;
}

}  // namespace fathom::simulate
