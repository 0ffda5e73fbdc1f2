#include "collector/simulate/play/player.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::simulate {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kRouting = 7;  // what the number is drawn for; part of its key

// A wait for the host with a heavy tail: Pareto with index 2, cut where it is absurd.
double HostWait(double least_us, std::uint64_t random) {
  constexpr double kMost = 1000;
  return 1e-6 * least_us * std::min(kMost, 1 / std::sqrt(1 - Uniform(random)));
}

}  // namespace

void GroupSums::Add(double seconds, bool receive) {
  if (count == 0) first = seconds;
  if (!receive) shortest = shortest > 0 ? std::min(shortest, seconds) : seconds;
  elapsed += seconds;
  longest = std::max(longest, seconds);
  ++count;
}

Player::Player(const Scenario& scenario)
    : scenario_(scenario),
      layout_(scenario),
      programs_(BuildPrograms(scenario, layout_)),
      wires_(scenario_, layout_),
      slowness_(scenario_, layout_),
      kernel_(scenario.noise.kernel_sigma),
      transfer_(scenario.noise.transfer_sigma),
      watch_(layout_.stages()) {}

void Player::Reset(double begin, const std::vector<std::uint32_t>& watched) {
  const std::uint32_t world = layout_.world();
  time_.assign(world, begin);
  launched_until_.assign(world, begin);
  busy_.assign(world, 0);
  blocked_.assign(world, 0);
  for (std::size_t d = 0; d < kDimensions; ++d) {
    if (layout_.InUse(static_cast<Dimension>(d))) sums_[d].assign(world, GroupSums());
  }
  at_.assign(layout_.stages(), 0);
  inbox_.assign(layout_.stages(), std::vector<std::vector<double>>(MessageSlots(scenario_)));
  seen_.clear();
  for (Watch& watch : watch_) watch.ranks.clear();
  for (std::uint32_t rank : watched) {
    watch_[layout_.StageOf(rank)].ranks.push_back(rank);
    seen_[rank].reserve(ProgramOf(rank).steps.size());
  }
  for (const Pause& pause : slowness_.pauses()) time_[pause.rank] += pause.seconds;
}

void Player::Play(std::int64_t iteration, double begin, const std::vector<std::uint32_t>& watched) {
  iteration_ = iteration;
  key_ = Mix(scenario_.seed, static_cast<std::uint64_t>(iteration) + 0x5eed);
  slowness_.SetIteration(iteration);
  wires_.SetIteration(iteration);
  Reset(begin, watched);
  std::vector<bool> done(layout_.stages(), false);
  std::uint32_t left = layout_.stages();
  while (left > 0) {
    for (std::uint32_t stage = 0; stage < layout_.stages(); ++stage) {
      if (done[stage] || !Advance(stage)) continue;
      done[stage] = true;
      --left;
    }
  }
  EndTogether();
}

bool Player::Advance(std::uint32_t stage) {
  const std::vector<Step>& steps = programs_[stage].steps;
  for (std::size_t& at = at_[stage]; at < steps.size(); ++at) {
    const Step& step = steps[at];
    if (step.what == Step::What::kWorld) continue;
    if (step.what == Step::What::kReceive && inbox_[stage][step.slot].empty()) return false;
    Do(stage, step, at);
  }
  return true;
}

void Player::Do(std::uint32_t stage, const Step& step, std::size_t place) {
  const std::uint64_t key = Mix(key_, place * 1024 + stage);
  const bool stops = slowness_.stops() && layout_.StageOf(slowness_.stopping_rank()) == stage &&
                     place == programs_[stage].steps.size() / 2;
  if (stops) time_[slowness_.stopping_rank()] = kForever;
  Watch& watch = watch_[stage];
  watch.before.clear();
  for (std::uint32_t rank : watch.ranks) watch.before.push_back(time_[rank]);
  switch (step.what) {
    case Step::What::kCompute:
      return Compute(stage, step, key);
    case Step::What::kCollective:
    case Step::What::kLaunch:
      Collective(stage, step, key);
      break;
    case Step::What::kWaitLaunched:
      WaitLaunched(stage);
      break;
    case Step::What::kSend:
      Send(stage, step, key);
      break;
    case Step::What::kReceive:
      Receive(stage, step);
      break;
    case Step::What::kWorld:
      break;
  }
  See(stage, step);
}

void Player::Compute(std::uint32_t stage, const Step& step, std::uint64_t key) {
  const std::uint32_t first = stage * layout_.slice(), last = first + layout_.slice();
  const auto jitter = static_cast<std::uint64_t>(scenario_.noise.host_jitter_rate * 0x1.0p20);
  const bool expert =
      step.expert && (scenario_.noise.routing_sigma > 0 || !scenario_.faults.empty());
  for (std::uint32_t r = first; r < last; ++r) {
    const std::uint64_t random = Mix(key, r);
    double work = step.seconds * slowness_.Gpu(r) * kernel_.At(random);
    if (slowness_.any_memory()) work *= 1 + step.memory_share * slowness_.Memory(r);
    if (slowness_.varies()) work *= slowness_.Load(layout_.ReplicaOf(r), step.micro_batch);
    // Ranks of a tensor group share their experts and tokens.
    if (expert) work *= slowness_.Routing(r, Mix(key ^ kRouting, layout_.ReplicaOf(r)));
    time_[r] += work;
    busy_[r] += work;
    if (slowness_.any_host()) time_[r] += work * slowness_.Host(r);
    if ((random & 0xfffff) < jitter) {
      time_[r] += HostWait(scenario_.noise.host_jitter_us, Mix(random, r));
    }
  }
}

double Player::LoadOf(const Step& step, std::uint32_t rank) const {
  switch (step.dimension) {
    case Dimension::kTensor:
    case Dimension::kContext:
    case Dimension::kPipeline:
      return slowness_.Tokens(rank);
    case Dimension::kExpert:
      return slowness_.Tokens(rank) * slowness_.Routed(rank);
    default:
      return 1;
  }
}

void Player::Collective(std::uint32_t stage, const Step& step, std::uint64_t key) {
  const auto [stride, size] = layout_.Shape(step.dimension);
  const std::uint32_t begin = stage * layout_.slice(), groups = layout_.slice() / size;
  const bool launch = step.what == Step::What::kLaunch;
  std::vector<GroupSums>& sums = sums_[static_cast<std::size_t>(step.dimension)];
  ops_played_ += layout_.slice();
  arrival_.resize(layout_.slice());
  for (std::uint32_t i = 0; i < layout_.slice(); ++i) {
    arrival_[i] =
        launch ? std::max(time_[begin + i], launched_until_[begin + i]) : time_[begin + i];
  }
  latest_.resize(stride);
  for (std::uint32_t block = 0; block < layout_.slice() / (stride * size); ++block) {
    const std::uint32_t from = block * stride * size;
    for (std::uint32_t lane = 0; lane < stride; ++lane) latest_[lane] = arrival_[from + lane];
    for (std::uint32_t i = stride; i < stride * size; ++i) {
      latest_[i % stride] = std::max(latest_[i % stride], arrival_[from + i]);
    }
    for (std::uint32_t lane = 0; lane < stride; ++lane) {
      const std::uint32_t group = stage * groups + block * stride + lane;
      const Wire& wire = wires_.OfGroup(step.dimension, group);
      const double load = LoadOf(step, begin + from + lane);
      latest_[lane] += wire.Seconds(step, load) * transfer_.At(Mix(key, group));
    }
    if (slowness_.link_down() && step.dimension == Dimension::kData) {
      const std::uint32_t down = layout_.GroupOf(Dimension::kData, slowness_.link_down_rank());
      const std::uint32_t own = stage * groups + block * stride;
      if (down >= own && down < own + stride) latest_[down - own] = kForever;
    }
    for (std::uint32_t i = 0; i < stride * size; ++i) {
      const std::uint32_t rank = begin + from + i;
      const double end = latest_[i % stride], arrived = arrival_[from + i];
      GroupSums& sum = sums[rank];
      sum.entered += time_[rank] < kForever;
      sum.ended += end < kForever;
      sum.Add(end - arrived);
      if (launch) {
        launched_until_[rank] = end;
      } else {
        blocked_[rank] += end - arrived;
        time_[rank] = end;
      }
    }
  }
}

void Player::WaitLaunched(std::uint32_t stage) {
  const std::uint32_t first = stage * layout_.slice(), last = first + layout_.slice();
  for (std::uint32_t r = first; r < last; ++r) {
    if (launched_until_[r] <= time_[r]) continue;
    blocked_[r] += launched_until_[r] - time_[r];
    time_[r] = launched_until_[r];
  }
}

void Player::Send(std::uint32_t stage, const Step& step, std::uint64_t key) {
  const std::uint32_t slice = layout_.slice(), first = stage * slice;
  const std::uint32_t stages = layout_.stages();
  const std::uint32_t to = (stage + (step.towards_last ? 1 : stages - 1)) % stages;
  std::vector<double>& box = inbox_[to][step.slot];
  box.resize(slice);
  arrival_.resize(slice);
  ops_played_ += slice;
  for (std::uint32_t i = 0; i < slice; ++i) {
    const double seconds =
        wires_.FromRank(first + i, step.towards_last).Seconds(step, LoadOf(step, first + i)) *
        transfer_.At(Mix(key, first + i));
    GroupSums& sum = sums_[static_cast<std::size_t>(Dimension::kPipeline)][first + i];
    sum.entered += time_[first + i] < kForever;
    sum.ended += time_[first + i] < kForever;
    sum.Add(seconds);
    box[i] = time_[first + i] + seconds;
    arrival_[i] = box[i];
  }
}

void Player::Receive(std::uint32_t stage, const Step& step) {
  const std::uint32_t slice = layout_.slice(), first = stage * slice;
  const std::vector<double>& box = inbox_[stage][step.slot];
  ops_played_ += slice;
  for (std::uint32_t i = 0; i < slice; ++i) {
    const double end = std::max(box[i], time_[first + i]);
    GroupSums& sum = sums_[static_cast<std::size_t>(Dimension::kPipeline)][first + i];
    sum.entered += time_[first + i] < kForever;
    sum.ended += end < kForever;
    sum.Add(end - time_[first + i], true);
    blocked_[first + i] += end - time_[first + i];
    time_[first + i] = end;
  }
}

void Player::EndTogether() {
  const Step& step = programs_[0].steps.back();
  double latest = 0;
  for (double time : time_) latest = std::max(latest, time);
  end_ = latest;
  if (step.what != Step::What::kWorld) return;  // a job of one rank
  end_ += wires_.OfGroup(Dimension::kWorld, 0).Seconds(step) * transfer_.At(Mix(key_, 0xe2d));
  for (Watch& watch : watch_) {
    watch.before.clear();
    for (std::uint32_t rank : watch.ranks) watch.before.push_back(time_[rank]);
  }
  for (std::uint32_t r = 0; r < layout_.world(); ++r) {
    GroupSums& sum = sums_[static_cast<std::size_t>(Dimension::kWorld)][r];
    sum.entered += time_[r] < kForever;
    sum.ended += end_ < kForever;
    sum.Add(end_ - time_[r]);
    blocked_[r] += end_ - time_[r];
    time_[r] = end_;
  }
  ops_played_ += layout_.world();
  for (std::uint32_t stage = 0; stage < layout_.stages(); ++stage) {
    See(stage, programs_[stage].steps.back());
  }
}

void Player::See(std::uint32_t stage, const Step& step) {
  const Watch& watch = watch_[stage];
  for (std::size_t w = 0; w < watch.ranks.size(); ++w) {
    const std::uint32_t rank = watch.ranks[w], i = rank - stage * layout_.slice();
    std::vector<SeenOp>& seen = seen_[rank];
    const double before = watch.before[w];
    if (before == kForever) continue;  // it never came here
    switch (step.what) {
      case Step::What::kCompute:
        break;
      case Step::What::kLaunch:
        seen.push_back({&step, before, arrival_[i], launched_until_[rank], 0, 0, busy_[rank]});
        break;
      case Step::What::kWaitLaunched:
        if (time_[rank] <= before || seen.empty()) break;
        for (auto op = seen.rbegin(); op != seen.rend(); ++op) {
          if (op->step->what != Step::What::kLaunch) continue;
          op->wait_begin = before, op->wait_end = time_[rank];
          break;
        }
        break;
      case Step::What::kSend:
        seen.push_back({&step, before, before, arrival_[i], 0, 0, busy_[rank]});
        break;
      default:
        seen.push_back({&step, before, before, time_[rank], before, time_[rank], busy_[rank]});
    }
  }
}

}  // namespace fathom::simulate
