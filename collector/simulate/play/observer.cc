#include "collector/simulate/play/observer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collector/simulate/play/random.h"
#include "collector/simulate/play/wires.h"

namespace fathom::simulate {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kBootS = 1000;  // a node's clock when the job begins: no time is 0
constexpr std::int64_t kWallStartNs = 1'700'000'000'000'000'000;
constexpr Nanos kCall{4'000};  // an API call
constexpr std::uint64_t kClockPurpose = 11;
constexpr std::uint64_t kFlowPurpose = 12;

using diagnosis::CommOp;

diagnosis::GroupIteration ToGroup(GroupId id, const GroupSums& sums) {
  return {id,
          sums.count,
          Nanos::FromSeconds(sums.elapsed),
          Nanos::FromSeconds(sums.shortest),
          Nanos::FromSeconds(sums.longest),
          Nanos::FromSeconds(sums.first)};
}

void Add(double bytes, double seconds, bool before, diagnosis::PathFlow& flow) {
  (before ? flow.bytes_before : flow.bytes_since) += static_cast<std::uint64_t>(bytes);
  Nanos& busy = before ? flow.busy_before : flow.busy_since;
  busy = busy + Nanos::FromSeconds(seconds);
}

}  // namespace

Observer::Observer(const Scenario& scenario, const Player& player)
    : scenario_(scenario), player_(player) {
  for (std::uint32_t node = 0; node < player.layout().nodes(); ++node) {
    const std::uint64_t key = Mix(Mix(scenario.seed, kClockPurpose), node);
    offset_s_.push_back((2 * Uniform(key) - 1) * scenario.noise.clock_offset_ms * 1e-3);
    rate_.push_back(1 + (2 * Uniform(Mix(key, 1)) - 1) * scenario.noise.clock_drift_ppm * 1e-6);
  }
}

MonoNs Observer::Clock(std::uint32_t rank, double time) const {
  const std::uint32_t node = player_.layout().NodeOf(rank);
  return MonoNs(static_cast<std::int64_t>((kBootS + offset_s_[node] + time * rate_[node]) * 1e9));
}

WallNs Observer::Wall(double time) const {
  return WallNs(kWallStartNs + static_cast<std::int64_t>(time * 1e9));
}

std::uint64_t Observer::BatchElements(std::uint32_t rank) const {
  const Layout& layout = player_.layout();
  const ParallelPlan& plan = scenario_.plan;
  if (layout.StageOf(rank) != 0 || rank % plan.tensor != 0) return 0;
  const Slowness& slowness = player_.slowness();
  double loads = 0;
  for (std::uint32_t i = 0; i < scenario_.model.micro_batches; ++i) {
    loads += slowness.varies() ? slowness.Load(layout.ReplicaOf(rank), i) : 1;
  }
  const double tokens = static_cast<double>(scenario_.model.sequence) / plan.context;
  return static_cast<std::uint64_t>(loads * tokens * slowness.Tokens(rank));
}

diagnosis::IterationSummary Observer::Summarise(std::int64_t iteration, double begin) const {
  const Layout& layout = player_.layout();
  diagnosis::IterationSummary summary{Iteration(iteration), Wall(begin), {}, {}};
  summary.ranks.resize(layout.world());
  for (std::uint32_t rank = 0; rank < layout.world(); ++rank) {
    diagnosis::RankIteration& seen = summary.ranks[rank];
    seen.rank = RankId(rank);
    seen.begin = Clock(rank, begin);
    seen.duration = Clock(rank, player_.TimeOf(rank)) - seen.begin;
    seen.cpu = seen.device = Nanos::FromSeconds(player_.BusyOf(rank));
    seen.blocked = Nanos::FromSeconds(player_.BlockedOf(rank));
    seen.batch_elements = BatchElements(rank);
    seen.groups.reserve(kDimensions);
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const auto dimension = static_cast<Dimension>(d);
      if (!layout.InUse(dimension)) continue;
      const GroupSums& sums = player_.SumsOf(dimension, rank);
      seen.ops += sums.count;
      seen.groups.push_back(
          ToGroup(Layout::IdOf(dimension, layout.GroupOf(dimension, rank)), sums));
    }
  }
  for (const Pause& pause : player_.slowness().pauses()) {
    diagnosis::RankIteration& seen = summary.ranks[pause.rank];
    (pause.collecting ? seen.gc : seen.dataloader) += Nanos::FromSeconds(pause.seconds);
  }
  return summary;
}

CommOp Observer::ToRow(std::int64_t iteration, std::uint32_t rank, const SeenOp& seen) const {
  const Layout& layout = player_.layout();
  const Step& step = *seen.step;
  CommOp op;
  op.group = Layout::IdOf(step.dimension, layout.GroupOf(step.dimension, rank));
  op.kind = step.kind;
  op.data_type = DataType::kBFloat16;
  op.bytes =
      static_cast<std::uint64_t>(static_cast<double>(step.bytes) * player_.LoadOf(step, rank));
  op.launches = static_cast<std::uint64_t>(step.kernels * player_.slowness().Launches(rank));
  op.thread = 1;
  op.iteration = Iteration(iteration);
  if (step.dimension == Dimension::kPipeline) {
    const std::uint32_t slice = layout.slice(), world = layout.world();
    const bool next = (step.kind == CollectiveKind::kSend) == step.towards_last;
    op.peer = RankId((rank + (next ? slice : world - slice)) % world);
  } else {
    const auto each = player_.ProgramOf(rank).ops[static_cast<std::size_t>(step.dimension)];
    op.sequence = Sequence(static_cast<std::uint64_t>(iteration) * each + step.sequence);
  }
  op.enter = Clock(rank, seen.enter);
  op.api_return = op.enter + kCall;
  op.on_device = true;
  if (seen.start < kForever) op.exec_start = Clock(rank, seen.start);
  if (seen.end < kForever) op.end = Clock(rank, seen.end);
  if (seen.wait_begin > 0) op.wait_start = Clock(rank, seen.wait_begin);
  if (seen.wait_end > 0 && seen.wait_end < kForever) op.wait_end = Clock(rank, seen.wait_end);
  return op;
}

void Observer::AddRows(std::int64_t iteration, std::uint32_t rank, double begin, Nanos busy,
                       diagnosis::RankRows& rows) const {
  for (const SeenOp& seen : player_.Seen(rank)) {
    CommOp op = ToRow(iteration, rank, seen);
    op.cpu_at_enter = busy + Nanos::FromSeconds(seen.busy) + Nanos(1);
    rows.ops.push_back(op);
  }
  for (const Pause& pause : player_.slowness().pauses()) {
    if (pause.rank != rank) continue;
    const auto kind =
        pause.collecting ? diagnosis::MarkKind::kGc : diagnosis::MarkKind::kDataLoader;
    rows.marks.push_back(
        {kind, Clock(rank, begin), Clock(rank, begin + pause.seconds), 1, Iteration(iteration)});
  }
}

std::vector<diagnosis::RankFacts> Observer::FreshFacts() const {
  std::vector<diagnosis::RankFacts> all(player_.layout().world());
  for (std::uint32_t rank = 0; rank < all.size(); ++rank) {
    all[rank].rank = RankId(rank);
    all[rank].node = NodeName(player_.layout().NodeOf(rank));
    all[rank].pid = 1000 + rank % scenario_.cluster.gpus_per_node;
    all[rank].state = diagnosis::ProcessState::kRunning;
  }
  return all;
}

std::map<std::uint32_t, double> Observer::SentBy(std::uint32_t rank) const {
  const Layout& layout = player_.layout();
  std::map<std::uint32_t, double> sent;
  for (const Step& step : player_.ProgramOf(rank).steps) {
    if (step.what == Step::What::kSend) {
      const std::uint32_t slice = layout.slice(), world = layout.world();
      sent[(rank + (step.towards_last ? slice : world - slice)) % world] += step.volume;
    }
    if (step.what != Step::What::kCollective && step.what != Step::What::kLaunch) continue;
    const auto members = layout.Members(step.dimension, layout.GroupOf(step.dimension, rank));
    const double each = step.volume / static_cast<double>(members.size() - 1);
    for (const std::uint32_t member : members) {
      if (member != rank) sent[member] += each;
    }
  }
  return sent;
}

void Observer::AddFlows(const std::vector<std::uint32_t>& ranks, std::int64_t from,
                        std::int64_t since, std::int64_t until,
                        std::vector<diagnosis::RankFacts>& facts) const {
  const LogNormal noise(scenario_.noise.transfer_sigma);
  Wires wires(scenario_, player_.layout());
  std::vector<std::map<std::uint32_t, double>> sent;
  for (const std::uint32_t rank : ranks) sent.push_back(SentBy(rank));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const auto& [peer, bytes] : sent[i])
      facts[ranks[i]].flows.emplace_back().peer = RankId(peer);
  }
  for (std::int64_t iteration = from; iteration < until; ++iteration) {
    wires.SetIteration(iteration);
    const std::uint64_t key = Mix(Mix(scenario_.seed, kFlowPurpose), iteration);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      diagnosis::PathFlow* flow = facts[ranks[i]].flows.data();
      for (const auto& [peer, bytes] : sent[i]) {
        const double seconds = wires.Between(ranks[i], peer).seconds_per_byte * bytes;
        Add(bytes, seconds * noise.At(Mix(Mix(key, ranks[i]), peer)), iteration < since, *flow++);
      }
    }
  }
}

void Observer::Stuck(std::int64_t iteration, double typical_s, double now,
                     diagnosis::RankFacts& facts) const {
  const std::uint32_t rank = facts.rank.value;
  const Layout& layout = player_.layout();
  facts.typical_iteration = Nanos::FromSeconds(typical_s);
  facts.iterations_seen = iteration;
  facts.open_ops.clear();
  facts.groups.clear();
  double newest = 0;
  for (const SeenOp& seen : player_.Seen(rank)) {
    newest = std::max(newest, seen.end < kForever ? seen.end : seen.enter);
    if (seen.end < kForever) continue;
    const CommOp op = ToRow(iteration, rank, seen);
    facts.open_ops.push_back({op.group, op.sequence, op.kind, op.data_type, op.bytes, op.peer,
                              Nanos::FromSeconds(now - seen.enter), seen.start < kForever});
  }
  facts.silent_for = Nanos::FromSeconds(now - newest);
  // A host that waits for its GPU spins; one that never came to the op stands still.
  const bool waits = !facts.open_ops.empty();
  facts.state = waits ? diagnosis::ProcessState::kRunning : diagnosis::ProcessState::kSleeping;
  facts.cpu_while_silent = waits ? facts.silent_for : Nanos();
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const auto dimension = static_cast<Dimension>(d);
    if (!layout.InUse(dimension)) continue;
    const GroupSums& sums = player_.SumsOf(dimension, rank);
    const auto before = static_cast<std::uint64_t>(iteration) * player_.ProgramOf(rank).ops[d];
    facts.groups.push_back({Layout::IdOf(dimension, layout.GroupOf(dimension, rank)),
                            before + sums.entered, before + sums.entered, before + sums.ended});
  }
}

}  // namespace fathom::simulate
