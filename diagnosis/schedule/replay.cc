#include "diagnosis/schedule/replay.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

// A transfer that seems to end this long before the last op began is a clock that is off.
constexpr double kClockError = 1e-2;

// Kinds whose ideal is the median: all that talk, be it inside one worker's tensor group.
bool IsCommunication(OpKind kind) {
  return !IsCompute(kind) && kind != OpKind::kOptimizer && kind != OpKind::kGarbageCollection;
}

// The largest of each step goes to all its replicas.
void JoinReplicas(double* lanes, std::size_t count, std::size_t replicas) {
  for (std::size_t first = 0; first < count; first += replicas) {
    const double most = *std::max_element(lanes + first, lanes + first + replicas);
    std::fill(lanes + first, lanes + first + replicas, most);
  }
}

}  // namespace

Replay::Replay(Schedule schedule, Dependencies dependencies)
    : schedule_(std::move(schedule)),
      dependencies_(std::move(dependencies)),
      recorded_(schedule_.length_s) {
  FindTransfers();
  FindIdeal();
}

std::optional<Replay> Replay::Of(const ScheduleTrace& trace, std::string& missing) {
  Schedule schedule = PlanOf(trace);
  if (schedule.empty()) {
    missing = "a step in which every replica runs the same ops, on stages numbered without gaps";
    return std::nullopt;
  }
  auto dependencies = DependenciesOf(schedule, missing);
  if (!dependencies) return std::nullopt;
  return Replay(std::move(schedule), *std::move(dependencies));
}

void Replay::FindTransfers() {
  const std::size_t lanes = schedule_.lanes();
  std::vector<double> begin(lanes);
  for (const OpGroup& group : dependencies_.groups) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      begin[lane] = schedule_.start(group.ops.front(), lane);
      for (const std::uint32_t op : group.ops) {
        begin[lane] = std::max(begin[lane], schedule_.start(op, lane));
      }
    }
    if (group.joins_replicas) JoinReplicas(begin.data(), lanes, schedule_.replicas);
    for (const std::uint32_t op : group.ops) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double transfer = schedule_.end(op, lane) - begin[lane];
        recorded_[op * lanes + lane] = transfer <= -kClockError ? 0 : transfer;
      }
    }
  }
}

void Replay::FindIdeal() {
  const std::size_t lanes = schedule_.lanes();
  std::array<std::vector<double>, kOpKinds> of_kind;
  for (std::size_t op = 0; op < schedule_.ops.size(); ++op) {
    auto& values = of_kind[static_cast<std::size_t>(schedule_.ops[op].kind)];
    const auto first = recorded_.begin() + static_cast<std::ptrdiff_t>(op * lanes);
    values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(lanes));
  }
  std::array<double, kOpKinds> usual{};
  for (std::size_t kind = 0; kind < kOpKinds; ++kind) {
    const auto& values = of_kind[kind];
    if (values.empty()) continue;
    usual[kind] = IsCommunication(static_cast<OpKind>(kind))
                      ? Median(values)
                      : std::accumulate(values.begin(), values.end(), 0.0) /
                            static_cast<double>(values.size());
  }
  ideal_.resize(recorded_.size());
  for (std::size_t i = 0; i < ideal_.size(); ++i) {
    ideal_[i] = usual[static_cast<std::size_t>(schedule_.ops[i / lanes].kind)];
  }
}

Lengths Replay::Mixed(const Chosen& chosen, const Lengths& those, const Lengths& others) const {
  Lengths out = others;
  const std::size_t lanes = schedule_.lanes();
  for (std::size_t op = 0; op < schedule_.ops.size(); ++op) {
    for (std::size_t replica = 0; replica < schedule_.replicas; ++replica) {
      if (!chosen(schedule_.ops[op], replica)) continue;
      for (std::size_t lane = replica; lane < lanes; lane += schedule_.replicas) {
        out[op * lanes + lane] = those[op * lanes + lane];
      }
    }
  }
  return out;
}

void Replay::Finish(const std::vector<std::uint32_t>& ops, bool joins_replicas,
                    const Lengths& lengths, Timeline& out) const {
  const std::size_t lanes = schedule_.lanes();
  const auto first = out.start_s.begin() + static_cast<std::ptrdiff_t>(ops.front() * lanes);
  std::vector<double> begin(first, first + static_cast<std::ptrdiff_t>(lanes));
  for (const std::uint32_t op : ops) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      begin[lane] = std::max(begin[lane], out.start_s[op * lanes + lane]);
    }
  }
  if (joins_replicas) JoinReplicas(begin.data(), lanes, schedule_.replicas);
  for (const std::uint32_t op : ops) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      out.end_s[op * lanes + lane] = begin[lane] + lengths[op * lanes + lane];
    }
  }
}

Timeline Replay::Play(const Lengths& lengths) const {
  const std::size_t lanes = schedule_.lanes();
  Timeline out;
  out.start_s.resize(lengths.size());
  out.end_s.resize(lengths.size());
  std::vector<std::size_t> begun(dependencies_.groups.size());
  for (const std::uint32_t op : dependencies_.order) {
    double* const start = out.start_s.data() + op * lanes;
    for (const std::uint32_t before : dependencies_.needs[op]) {
      const double* const end = out.end_s.data() + before * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        start[lane] = std::max(start[lane], end[lane]);
      }
    }
    if (dependencies_.group_of[op] == kNoGroup) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        out.end_s[op * lanes + lane] = start[lane] + lengths[op * lanes + lane];
      }
      continue;
    }
    const auto group = static_cast<std::size_t>(dependencies_.group_of[op]);
    const OpGroup& joined = dependencies_.groups[group];
    if (++begun[group] == joined.ops.size()) {
      Finish(joined.ops, joined.joins_replicas, lengths, out);
    }
  }
  return out;
}

std::vector<double> Replay::StepTimes(const Lengths& lengths) const {
  const std::size_t lanes = schedule_.lanes();
  const Timeline played = Play(lengths);
  std::vector<double> steps(schedule_.steps.size());
  for (std::size_t i = 0; i < played.end_s.size(); ++i) {
    double& step = steps[i % lanes / schedule_.replicas];
    step = std::max(step, played.end_s[i]);
  }
  return steps;
}

double Replay::MeanStep(const Lengths& lengths, std::size_t from) const {
  return MeanOf(StepTimes(lengths), from);
}

double Replay::MeanOf(const std::vector<double>& steps, std::size_t from) {
  const auto first = steps.begin() + static_cast<std::ptrdiff_t>(std::min(from, steps.size() - 1));
  return std::accumulate(first, steps.end(), 0.0) / static_cast<double>(steps.end() - first);
}

}  // namespace fathom::diagnosis
