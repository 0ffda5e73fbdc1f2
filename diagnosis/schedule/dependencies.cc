#include "diagnosis/schedule/dependencies.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::diagnosis {
namespace {

using OpIndex = std::uint32_t;
using OpIndices = std::vector<OpIndex>;

// Clocks of two ops of one worker agree to this; the traces' own convention.
constexpr double kClockSeconds = 5e-5;

class Builder {
 public:
  explicit Builder(const Schedule& schedule) : plan_(schedule), by_kind_(schedule.stages) {
    for (auto& kinds : by_kind_) kinds.resize(kOpKinds);
    for (OpIndex op = 0; op < plan_.ops.size(); ++op) {
      const PlannedOp& planned = plan_.ops[op];
      by_kind_[Stage(planned.stage)][static_cast<std::size_t>(planned.kind)].push_back(op);
      chunks_ = std::max(chunks_, planned.chunk + 1);
    }
    for (auto& kinds : by_kind_) {
      for (OpIndices& ops : kinds) SortByStart(ops);
    }
    out_.needs.resize(plan_.ops.size());
    out_.group_of.assign(plan_.ops.size(), kNoGroup);
  }

  std::optional<Dependencies> Build(std::string& missing) {
    for (std::size_t stage = 0; stage < plan_.stages && missing_.empty(); ++stage) PutStage(stage);
    if (missing_.empty()) PairMessages();
    if (missing_.empty()) JoinRest();
    if (missing_.empty()) PutOrder();
    missing = missing_;
    if (!missing_.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  static std::size_t Stage(std::int32_t stage) { return static_cast<std::size_t>(stage); }

  const OpIndices& Ops(std::size_t stage, OpKind kind) const {
    return by_kind_[stage][static_cast<std::size_t>(kind)];
  }

  void SortByStart(OpIndices& ops) const {
    std::sort(ops.begin(), ops.end(), [&](OpIndex a, OpIndex b) {
      return std::tuple(plan_.start(a, 0), plan_.ops[a].sequence, a) <
             std::tuple(plan_.start(b, 0), plan_.ops[b].sequence, b);
    });
  }

  OpIndices Merged(std::size_t stage, OpKind one, OpKind other) const {
    OpIndices ops = Ops(stage, one);
    ops.insert(ops.end(), Ops(stage, other).begin(), Ops(stage, other).end());
    SortByStart(ops);
    return ops;
  }

  // Each after the one before, the first after `last`.
  void Chain(const OpIndices& ops, OpIndices& last) {
    for (const OpIndex op : ops) {
      out_.needs[op].insert(out_.needs[op].end(), last.begin(), last.end());
      last = {op};
    }
  }

  void Need(OpIndex op, OpIndex before) { out_.needs[op].push_back(before); }

  void PutStage(std::size_t stage) {
    const OpIndices computing = Merged(stage, OpKind::kForwardCompute, OpKind::kBackwardCompute);
    if (computing.empty()) {
      missing_ = absl::StrCat("the computing ops of stage ", stage);
      return;
    }
    OpIndices none;
    Chain(computing, none);
    PutMessages(stage, OpKind::kForwardSend, OpKind::kForwardCompute);
    PutMessages(stage, OpKind::kForwardRecv, OpKind::kForwardCompute);
    PutMessages(stage, OpKind::kBackwardSend, OpKind::kBackwardCompute);
    PutMessages(stage, OpKind::kBackwardRecv, OpKind::kBackwardCompute);
    PutFirstBackward(stage, computing);
    PutReplicaOps(stage);
    PutTail(stage, computing);
  }

  bool IsSend(OpKind kind) const {
    return kind == OpKind::kForwardSend || kind == OpKind::kBackwardSend;
  }

  // Without the messages that were recorded at the ends of the step and never sent.
  OpIndices Sent(std::size_t stage, OpKind kind, const OpIndices& computing) const {
    double first_end = plan_.end(computing.front(), 0);
    double last_start = plan_.start(computing.front(), 0);
    for (const OpIndex op : computing) {
      first_end = std::min(first_end, plan_.end(op, 0));
      last_start = std::max(last_start, plan_.start(op, 0));
    }
    OpIndices sent;
    for (const OpIndex op : Ops(stage, kind)) {
      const bool real = IsSend(kind) ? plan_.end(op, 0) >= first_end - kClockSeconds
                                     : plan_.start(op, 0) <= last_start + kClockSeconds;
      if (real) sent.push_back(op);
    }
    return sent;
  }

  // Of the chunk on the other side; outside the model there is none.
  bool HasNeighbour(OpIndex computing, OpKind kind) const {
    const PlannedOp& op = plan_.ops[computing];
    const auto stages = static_cast<std::int32_t>(plan_.stages);
    const std::int32_t chunk = op.model_chunk >= 0
                                   ? op.model_chunk
                                   : std::max<std::int32_t>(0, op.chunk) * stages + op.stage;
    const bool up = kind == OpKind::kForwardSend || kind == OpKind::kBackwardRecv;
    const std::int32_t other = chunk + (up ? 1 : -1);
    return other >= 0 && other < std::max(1, chunks_) * stages;
  }

  void PutMessages(std::size_t stage, OpKind kind, OpKind computes) {
    OpIndices none;
    Chain(Ops(stage, kind), none);
    const OpIndices& computing = Ops(stage, computes);
    if (computing.empty() || Ops(stage, kind).empty()) return;
    const OpIndices sent = Sent(stage, kind, computing);
    // Interleaved schedules may leave out the first receive of the first stage, and the last send.
    const std::size_t skipped = computing.size() == sent.size() + 1 ? 1 : 0;
    if (!sent.empty() && sent.size() + skipped != computing.size()) {
      missing_ =
          absl::StrCat("the messages of stage ", stage, ": ", sent.size(), " ops of kind ",
                       std::string(ToString(kind)), " for ", computing.size(), " computing ops");
      return;
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const std::size_t at = IsSend(kind) ? i : i + skipped;
      if (IsSend(kind)) {
        Need(sent[i], computing[at]);
      } else {
        Need(computing[at], sent[i]);
        if (at > 0) Need(sent[i], computing[at - 1]);
      }
      if (HasNeighbour(computing[at], kind)) Paired(stage, kind).push_back(sent[i]);
    }
  }

  OpIndices& Paired(std::size_t stage, OpKind kind) {
    if (paired_.empty()) paired_.resize(plan_.stages * kOpKinds);
    return paired_[stage * kOpKinds + static_cast<std::size_t>(kind)];
  }

  // The first backward messages are issued once the forward before the last of the warm-up is done.
  void PutFirstBackward(std::size_t stage, const OpIndices& computing) {
    const auto is_backward = [&](OpIndex op) {
      return plan_.ops[op].kind == OpKind::kBackwardCompute;
    };
    const auto first = std::find_if(computing.begin(), computing.end(), is_backward);
    if (first == computing.end() || first - computing.begin() < 2) return;
    for (const OpKind kind : {OpKind::kBackwardSend, OpKind::kBackwardRecv}) {
      if (!Ops(stage, kind).empty()) Need(Ops(stage, kind).front(), *(first - 2));
    }
  }

  // The first or last op of `kind` that works on the same chunk as `op`; any chunk if it says none.
  std::optional<OpIndex> OfChunk(std::size_t stage, OpKind kind, OpIndex op, bool first) const {
    std::optional<OpIndex> found;
    for (const OpIndex other : Ops(stage, kind)) {
      const bool same = plan_.ops[op].chunk < 0 || plan_.ops[other].chunk < 0 ||
                        plan_.ops[op].chunk == plan_.ops[other].chunk;
      if (same && !(first && found)) found = other;
    }
    return found;
  }

  bool Overlapped() const {
    for (std::size_t stage = 0; stage < plan_.stages; ++stage) {
      if (!Ops(stage, OpKind::kSeparateGradsAllReduce).empty()) return true;
    }
    return false;
  }

  void PutReplicaOps(std::size_t stage) {
    OpIndices none;
    Chain(Merged(stage, OpKind::kParamsAllGather, OpKind::kGradsReduceScatter), none);
    // Of several gathers of one chunk the last counts, of several scatters the first.
    std::vector<std::int16_t> seen;
    const auto is_new = [&](OpIndex op) {
      const std::int16_t chunk = plan_.ops[op].chunk;
      if (std::find(seen.begin(), seen.end(), chunk) != seen.end()) return false;
      seen.push_back(chunk);
      return true;
    };
    const OpIndices& gathers = Ops(stage, OpKind::kParamsAllGather);
    for (auto at = gathers.rbegin(); at != gathers.rend(); ++at) {
      const auto first = OfChunk(stage, OpKind::kForwardCompute, *at, true);
      if (is_new(*at) && first) Need(*first, *at);
    }
    if (!Overlapped()) return;
    seen.clear();
    for (const OpIndex scatter : Ops(stage, OpKind::kGradsReduceScatter)) {
      const auto last = OfChunk(stage, OpKind::kBackwardCompute, scatter, false);
      if (is_new(scatter) && last) Need(scatter, *last);
    }
  }

  void PutTail(std::size_t stage, const OpIndices& computing) {
    const OpIndex end =
        *std::max_element(computing.begin(), computing.end(),
                          [&](OpIndex a, OpIndex b) { return plan_.end(a, 0) < plan_.end(b, 0); });
    OpIndices last = {end};
    Chain(Ops(stage, OpKind::kGarbageCollection), last);
    const OpIndices& scatters = Ops(stage, OpKind::kGradsReduceScatter);
    const bool overlapped = Overlapped();
    if (overlapped && !scatters.empty()) last.push_back(scatters.back());
    Chain(Ops(stage, OpKind::kLayernormGradsAllReduce), last);
    Chain(Ops(stage, OpKind::kEmbeddingGradsAllReduce), last);
    if (overlapped) {
      Chain(Ops(stage, OpKind::kSeparateGradsAllReduce), last);
    } else {
      Chain(scatters, last);
    }
    Chain(Ops(stage, OpKind::kClipGradients), last);
    Chain(Ops(stage, OpKind::kOptimizer), last);
  }

  void Join(OpIndices ops, bool joins_replicas) {
    for (const OpIndex op : ops) {
      out_.group_of[op] = static_cast<std::int32_t>(out_.groups.size());
    }
    out_.groups.push_back({std::move(ops), joins_replicas});
  }

  void PairMessages() {
    for (std::size_t stage = 0; stage < plan_.stages; ++stage) {
      const std::size_t next = (stage + 1) % plan_.stages;
      Pair(Paired(stage, OpKind::kForwardSend), Paired(next, OpKind::kForwardRecv), stage, next);
      Pair(Paired(next, OpKind::kBackwardSend), Paired(stage, OpKind::kBackwardRecv), next, stage);
    }
    const bool any = std::any_of(out_.groups.begin(), out_.groups.end(),
                                 [](const OpGroup& group) { return group.ops.size() > 1; });
    if (plan_.stages > 1 && !any) missing_ = "the messages between the stages";
  }

  void Pair(const OpIndices& sends, const OpIndices& recvs, std::size_t from, std::size_t to) {
    if (sends.size() != recvs.size()) {
      missing_ = absl::StrCat("the other ends of messages: stage ", from, " sends ", sends.size(),
                              " to stage ", to, ", which receives ", recvs.size());
      return;
    }
    for (std::size_t i = 0; i < sends.size(); ++i) Join({sends[i], recvs[i]}, false);
  }

  // The n-th of the kind on each of `stages` end together.
  void JoinStages(OpKind kind, const std::vector<std::size_t>& stages, bool joins_replicas) {
    std::size_t most = 0;
    for (const std::size_t stage : stages) most = std::max(most, Ops(stage, kind).size());
    for (std::size_t i = 0; i < most; ++i) {
      OpIndices ops;
      for (const std::size_t stage : stages) {
        if (i < Ops(stage, kind).size()) ops.push_back(Ops(stage, kind)[i]);
      }
      Join(std::move(ops), joins_replicas);
    }
  }

  void JoinRest() {
    std::vector<std::size_t> all;
    for (std::size_t stage = 0; stage < plan_.stages; ++stage) all.push_back(stage);
    JoinStages(OpKind::kClipGradients, all, true);
    std::vector<std::size_t> ends = {0};
    if (plan_.stages > 1) ends.push_back(plan_.stages - 1);
    JoinStages(OpKind::kEmbeddingGradsAllReduce, ends, false);
    for (OpIndex op = 0; op < plan_.ops.size(); ++op) {
      const OpKind kind = plan_.ops[op].kind;
      const bool of_replicas = kind == OpKind::kParamsAllGather ||
                               kind == OpKind::kGradsReduceScatter ||
                               kind == OpKind::kSeparateGradsAllReduce;
      const bool alone = IsPipelineMessage(kind) || kind == OpKind::kEmbeddingGradsAllReduce;
      if (out_.group_of[op] == kNoGroup && (of_replicas || alone)) Join({op}, of_replicas);
    }
  }

  // Kahn's algorithm; a group ends when all its ops have begun.
  void PutOrder() {
    std::vector<OpIndices> next(plan_.ops.size());
    std::vector<std::size_t> open(plan_.ops.size());
    for (OpIndex op = 0; op < plan_.ops.size(); ++op) {
      open[op] = out_.needs[op].size();
      for (const OpIndex before : out_.needs[op]) next[before].push_back(op);
      if (open[op] == 0) out_.order.push_back(op);
    }
    std::vector<std::size_t> begun(out_.groups.size());
    for (std::size_t i = 0; i < out_.order.size(); ++i) {
      const std::int32_t group = out_.group_of[out_.order[i]];
      OpIndices done = {out_.order[i]};
      if (group != kNoGroup) {
        const OpIndices& members = out_.groups[static_cast<std::size_t>(group)].ops;
        if (++begun[static_cast<std::size_t>(group)] < members.size()) continue;
        done = members;
      }
      for (const OpIndex op : done) {
        for (const OpIndex after : next[op]) {
          if (--open[after] == 0) out_.order.push_back(after);
        }
      }
    }
    if (out_.order.size() < plan_.ops.size()) missing_ = "an order of ops without a cycle";
  }

  const Schedule& plan_;
  std::int32_t chunks_ = 0;
  std::vector<std::vector<OpIndices>> by_kind_;  // [stage][kind], by start
  std::vector<OpIndices> paired_;                // [stage × kOpKinds + kind]
  Dependencies out_;
  std::string missing_;
};

}  // namespace

std::optional<Dependencies> DependenciesOf(const Schedule& schedule, std::string& missing) {
  return Builder(schedule).Build(missing);
}

}  // namespace fathom::diagnosis
