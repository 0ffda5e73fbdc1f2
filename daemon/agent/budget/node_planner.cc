#include "daemon/agent/budget/node_planner.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace fathom::agent {
namespace {

using service::Smoothed;

constexpr double kAnswersKept_s = 60;  // rows are asked for now and then
constexpr std::array kLoopParts = {WorkPart::kPolling, WorkPart::kRecords,   WorkPart::kThreads,
                                   WorkPart::kWorkers, WorkPart::kSummaries, WorkPart::kHealth,
                                   WorkPart::kOps,     WorkPart::kRows};
constexpr std::array kUnchosenParts = {WorkPart::kRecords, WorkPart::kSummaries, WorkPart::kHealth};

std::size_t At(Knob knob) { return static_cast<std::size_t>(knob); }

std::string RateInWords(Knob knob, std::size_t level) {
  const double value = FactsOf(knob).values[level];
  switch (knob) {
    case Knob::kPolling:
      return value == 1 ? "as set" : absl::StrFormat("%.0f times the rest", value);
    case Knob::kThreads:
    case Knob::kWorkers:
    case Knob::kHardware:
      return absl::StrFormat("every %.0f ms", value);
    case Knob::kOps:
      return level == 0 ? "all that are wanted" : "none";
    case Knob::kRows:
      return absl::StrFormat("at most %.0f KiB an answer", value / 1024);
    case Knob::kLog:
      return level == 0 ? "as set" : absl::StrFormat("%.1f %% of the rows", 100 * value);
  }
  return "";
}

}  // namespace

void NodePlanner::LearnRows(const Observed& seen) {
  for (const double bytes : seen.rows_bytes) answers_.emplace_back(clock_s_, bytes);
  while (!answers_.empty() && clock_s_ - answers_.front().first > kAnswersKept_s) {
    answers_.pop_front();
  }
}

// What the process did beside the parts of its loop and the sources of hardware.
void NodePlanner::LearnOthers(const Observed& seen) {
  double counted_s = 0, hardware_cpu_s = 0;
  for (const WorkPart part : kLoopParts) {
    counted_s += static_cast<double>(seen.costs[static_cast<std::size_t>(part)].cpu_ns) * 1e-9;
  }
  for (const SourceCost& source : seen.hardware) hardware_cpu_s += source.cpu_seconds;
  counted_s += hardware_cpu_s - hardware_cpu_s_;
  const double grown = process_cpu_s_ < 0 ? 0 : seen.process_cpu_s - process_cpu_s_;
  others_cores_ = Smoothed(others_cores_, std::max(0.0, grown - counted_s) / seen.seconds);
  process_cpu_s_ = seen.process_cpu_s;
  hardware_cpu_s_ = hardware_cpu_s;
}

void NodePlanner::LearnCaptures(const Observed& seen) {
  const double ran = children_cpu_s_ < 0 ? 0 : seen.children_cpu_s - children_cpu_s_;
  children_cpu_s_ = seen.children_cpu_s;
  if (ran <= 0) return;
  if (samples_asked_ > 0) sample_s_ = Smoothed(sample_s_, ran / samples_asked_);
  samples_asked_ = 0;
}

void NodePlanner::Learn(const Observed& seen) {
  clock_s_ += seen.seconds;
  for (const WorkPart part : kLoopParts) {
    const auto p = static_cast<std::size_t>(part);
    measures_[p].Learn(seen.costs[p], seen.seconds);
  }
  LearnRows(seen);
  LearnOthers(seen);
  LearnCaptures(seen);
  bytes_per_s_ = Smoothed(bytes_per_s_, seen.bytes / seen.seconds);
  ops_bytes_per_s_ = Smoothed(ops_bytes_per_s_, seen.ops_bytes / seen.seconds);
  const double ops_now = (seen.ops_sent + seen.ops_passed) / seen.seconds;
  ops_per_s_ = std::max(ops_now, Smoothed(ops_per_s_, ops_now));
  if (seen.ops_sent > 0) bytes_of_op_ = Smoothed(bytes_of_op_, seen.ops_bytes / seen.ops_sent);
}

void NodePlanner::PredictTurns(const Observed& seen, Levels& levels) const {
  const service::PartMeasure& turn = Of(WorkPart::kPolling);
  std::vector<Level>& polling = levels[At(Knob::kPolling)];
  for (std::size_t l = 0; l < polling.size(); ++l) {
    const double rest = seen.rest_s * FactsOf(Knob::kPolling).values[l];
    polling[l].spend.cores = turn.ns_per_run * 1e-9 / (rest + turn.ns_per_run * 1e-9);
    polling[l].allowed = l == 0 || seen.ring_s == 0 || rest * kTurnsOfARing <= seen.ring_s;
  }
  // What was sampled at the pace that holds tells how many clocks there are.
  const auto sampled = [&](Knob knob, const service::PartMeasure& measure) {
    const double holds = std::max(plan_.paces.Of(knob) / 1e3, seen.rest_s);
    for (std::size_t l = 0; l < levels[At(knob)].size(); ++l) {
      const double period = std::max(FactsOf(knob).values[l] / 1e3, seen.rest_s);
      const double per_s = measure.per_s * holds / period;
      levels[At(knob)][l].spend.cores = measure.ns_per_event * 1e-9 * per_s;
    }
  };
  sampled(Knob::kThreads, Of(WorkPart::kThreads));
  sampled(Knob::kWorkers, Of(WorkPart::kWorkers));
}

void NodePlanner::PredictHardware(const Observed& seen, std::vector<Level>& levels) const {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (const SourceCost& source : seen.hardware) {
      if (source.samples == 0) continue;
      const double one = source.cpu_seconds / static_cast<double>(source.samples);
      const double pace = FactsOf(Knob::kHardware).values[l] / 1e3;
      levels[l].spend.cores += one / std::max(pace, source.own_rest_s);
    }
  }
}

void NodePlanner::PredictRows(std::vector<Level>& levels) const {
  const double window = std::min(clock_s_, kAnswersKept_s);
  for (std::size_t l = 0; l < levels.size() && window > 0; ++l) {
    for (const auto& [when, bytes] : answers_) {
      levels[l].spend.bytes_per_s += std::min(bytes, FactsOf(Knob::kRows).values[l]) / window;
    }
    levels[l].spend.cores = Of(WorkPart::kRows).cores();
  }
}

void NodePlanner::PredictLog(const Observed& seen, std::vector<Level>& levels) const {
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double most = seen.log_most_rows * FactsOf(Knob::kLog).values[l];
    for (const LogUse& log : seen.logs) {
      const double rows = std::min(most, std::max(log.rows, log.rows_per_s * log.kept_s));
      levels[l].spend.memory += rows * seen.log_row_bytes;
    }
  }
}

service::Levels NodePlanner::Predict(const Observed& seen) const {
  Levels levels(kKnobs + 1);
  for (std::size_t k = 0; k < kKnobs; ++k) {
    const Knob knob = static_cast<Knob>(k);
    levels[k].resize(FactsOf(knob).levels);
    for (std::size_t l = 0; l < levels[k].size(); ++l) levels[k][l].loss = FactsOf(knob).loss[l];
  }
  PredictTurns(seen, levels);
  PredictHardware(seen, levels[At(Knob::kHardware)]);
  PredictRows(levels[At(Knob::kRows)]);
  PredictLog(seen, levels[At(Knob::kLog)]);
  Level& ops = levels[At(Knob::kOps)][0];
  if (seen.ops_wanted) {
    ops.spend.cores = Of(WorkPart::kOps).ns_per_event * 1e-9 * ops_per_s_;
    ops.spend.bytes_per_s = bytes_of_op_ * ops_per_s_;
  }
  levels[kKnobs].push_back({Unchosen(seen), 0, true});
  return levels;
}

// What no knob changes.
Spend NodePlanner::Unchosen(const Observed& seen) const {
  Spend rest;
  for (const WorkPart part : kUnchosenParts) rest.cores += Of(part).cores();
  rest.cores += others_cores_ + captures_cores_;
  double logs = 0;
  for (const LogUse& log : seen.logs) logs += log.rows * seen.log_row_bytes;
  rest.memory = std::max(0.0, seen.memory - logs);
  double answered = 0;
  for (const auto& [when, bytes] : answers_) answered += bytes;
  const double window = std::max(1.0, std::min(clock_s_, kAnswersKept_s));
  rest.bytes_per_s = std::max(0.0, bytes_per_s_ - ops_bytes_per_s_ - answered / window);
  return rest;
}

void NodePlanner::TellKnob(Knob knob, const std::vector<Level>& levels) {
  const std::size_t level = plan_.paces.level[At(knob)];
  PlanPart& part = plan_.Add(FactsOf(knob).name);
  part.rate = RateInWords(knob, level);
  part.level = level;
  part.levels = levels.size();
  part.spend = levels[level].spend;
  for (const WorkPart of :
       {WorkPart::kThreads, WorkPart::kWorkers, WorkPart::kOps, WorkPart::kRows}) {
    if (part.name == NameOf(of)) TellEvents(of, part);
  }
}

void NodePlanner::TellEvents(WorkPart of, PlanPart& part) const {
  part.ns_per_event = Of(of).ns_per_event;
  part.events_per_s = Of(of).per_s;
}

void NodePlanner::Tell(const Observed& seen, const Levels& levels) {
  plan_.parts.clear();
  for (std::size_t k = 0; k < kKnobs; ++k) {
    const Knob knob = static_cast<Knob>(k);
    if (knob != Knob::kOps || seen.ops_wanted) TellKnob(knob, levels[k]);
  }
  for (const WorkPart of : kUnchosenParts) {
    PlanPart& part = plan_.Add(NameOf(of));
    TellEvents(of, part);
    part.spend.cores = Of(of).cores();
  }
  if (captures_cores_ > 0) {
    PlanPart& captures = plan_.Add("captures");
    captures.spend.cores = captures_cores_;
    captures.ns_per_event = sample_s_ * 1e9;
  }
  const Spend& rest = levels[kKnobs].front().spend;
  plan_.Add("others").spend = {others_cores_, rest.bytes_per_s, rest.memory};
}

bool NodePlanner::Look(const Observed& seen, MonoNs now) {
  if (seen.seconds <= 0) return false;
  Learn(seen);
  captures_cores_ = CapturesTook(now) / kBurst_s;
  const Levels levels = Predict(seen);
  const bool changed = keeper_.Decide(levels, now, plan_);
  const Paces before = plan_.paces;
  std::copy_n(keeper_.held().begin(), kKnobs, plan_.paces.level.begin());
  if (changed) Rescale(before, levels);
  Tell(seen, levels);
  return changed;
}

void NodePlanner::Rescale(const Paces& before, const Levels& levels) {
  constexpr std::array kSampled = {std::pair(Knob::kThreads, WorkPart::kThreads),
                                   std::pair(Knob::kWorkers, WorkPart::kWorkers)};
  for (const auto& [knob, part] : kSampled) {
    measures_[static_cast<std::size_t>(part)].Move(levels[At(knob)], before.level[At(knob)],
                                                   plan_.paces.level[At(knob)]);
  }
}

double NodePlanner::CapturesTook(MonoNs now) {
  while (!captures_.empty() && (now - captures_.front().first).Seconds() > kBurst_s) {
    captures_.pop_front();
  }
  double took = 0;
  for (const auto& [when, cost] : captures_) took += cost;
  return took;
}

std::uint32_t NodePlanner::CaptureRate(std::size_t processes, double seconds, std::uint32_t asked,
                                       MonoNs now) {
  const double left = kCaptureShare * plan_.budget.cores * kBurst_s - CapturesTook(now);
  const double of_one_a_second = static_cast<double>(processes) * seconds * sample_s_;
  const double may = of_one_a_second > 0 ? left / of_one_a_second : asked;
  const double most = std::max<double>(asked, 1);
  const double rate = std::clamp(may, std::min<double>(kLeastRate, most), most);
  captures_.emplace_back(now, of_one_a_second * rate);
  samples_asked_ += static_cast<double>(processes) * seconds * rate;
  return static_cast<std::uint32_t>(rate);
}

}  // namespace fathom::agent
