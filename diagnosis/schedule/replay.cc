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

// Lane by lane, in a form that compilers turn into vectors.
void Later(const double* other, std::size_t lanes, double* mine) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    mine[lane] = mine[lane] < other[lane] ? other[lane] : mine[lane];
  }
}

void Add(const double* begin, const double* length, std::size_t lanes, double* end) {
  for (std::size_t lane = 0; lane < lanes; ++lane) end[lane] = begin[lane] + length[lane];
}

}  // namespace

Replay::Replay(Schedule schedule, Dependencies dependencies)
    : schedule_(std::move(schedule)),
      dependencies_(std::move(dependencies)),
      recorded_(schedule_.length_s) {
  PutMoves();
  FindTransfers();
  FindIdeal();
}

void Replay::PutMoves() {
  std::vector<std::size_t> begun(dependencies_.groups.size());
  for (const std::uint32_t op : dependencies_.order) {
    Move move;
    move.op = op;
    move.first = static_cast<std::uint32_t>(needs_.size());
    needs_.insert(needs_.end(), dependencies_.needs[op].begin(), dependencies_.needs[op].end());
    move.last = static_cast<std::uint32_t>(needs_.size());
    move.group = dependencies_.group_of[op];
    if (move.group != kNoGroup) {
      const auto group = static_cast<std::size_t>(move.group);
      move.completes = ++begun[group] == dependencies_.groups[group].ops.size();
    }
    moves_.push_back(move);
  }
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

void Replay::Finish(const OpGroup& group, const Lengths& lengths, std::vector<double>& begin,
                    std::vector<double>& ends) const {
  const std::size_t lanes = schedule_.lanes();
  const double* const first = ends.data() + group.ops.front() * lanes;
  std::copy(first, first + lanes, begin.begin());
  for (std::size_t i = 1; i < group.ops.size(); ++i) {
    Later(ends.data() + group.ops[i] * lanes, lanes, begin.data());
  }
  if (group.joins_replicas) JoinReplicas(begin.data(), lanes, schedule_.replicas);
  for (const std::uint32_t op : group.ops) {
    Add(begin.data(), lengths.data() + op * lanes, lanes, ends.data() + op * lanes);
  }
}

void Replay::Run(const Lengths& lengths, std::vector<double>& ends,
                 std::vector<double>* starts) const {
  const std::size_t lanes = schedule_.lanes();
  std::vector<double> begin(lanes);
  ends.assign(lengths.size(), 0);  // begins, of what has not ended
  for (const Move& move : moves_) {
    double* const end = ends.data() + move.op * lanes;
    if (move.first < move.last) {
      const double* const before = ends.data() + needs_[move.first] * lanes;
      std::copy(before, before + lanes, end);
    }
    for (std::uint32_t i = move.first + 1; i < move.last; ++i) {
      Later(ends.data() + needs_[i] * lanes, lanes, end);
    }
    if (starts != nullptr) std::copy(end, end + lanes, starts->data() + move.op * lanes);
    if (move.group == kNoGroup) Add(end, lengths.data() + move.op * lanes, lanes, end);
    if (!move.completes) continue;
    Finish(dependencies_.groups[static_cast<std::size_t>(move.group)], lengths, begin, ends);
  }
}

Timeline Replay::Play(const Lengths& lengths) const {
  Timeline out;
  out.start_s.resize(lengths.size());
  Run(lengths, out.end_s, &out.start_s);
  return out;
}

std::vector<double> Replay::StepTimes(const Lengths& lengths) const {
  const std::size_t lanes = schedule_.lanes();
  std::vector<double> ends, latest(lanes);
  Run(lengths, ends, nullptr);
  for (std::size_t i = 0; i < ends.size(); i += lanes) {
    Later(ends.data() + i, lanes, latest.data());
  }
  std::vector<double> steps(schedule_.steps.size());
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    double& step = steps[lane / schedule_.replicas];
    step = std::max(step, latest[lane]);
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
