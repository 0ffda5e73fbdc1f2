#include "collector/budget/centre_planner.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace fathom::collector {
namespace {

using service::Level;
using service::Levels;
using service::PlanPart;
using service::Spend;

// The part that a knob makes cheaper; of rows that are kept for pages it is memory.
constexpr std::array kChosen = {
    std::pair(CentreKnob::kLooks, CentrePart::kLooks),
    std::pair(CentreKnob::kPaths, CentrePart::kPaths),
    std::pair(CentreKnob::kNews, CentrePart::kNews),
    std::pair(CentreKnob::kWrites, CentrePart::kWrites),
    std::pair(CentreKnob::kCaptures, CentrePart::kCaptures),
};

std::size_t At(CentreKnob knob) { return static_cast<std::size_t>(knob); }

bool IsChosen(CentrePart part) {
  return std::any_of(kChosen.begin(), kChosen.end(),
                     [part](const auto& each) { return each.second == part; });
}

// Of all jobs that are well, a second, with that much between two looks at least.
double LooksTake(const std::vector<CalmLook>& looks, double gap_s) {
  double cores = 0;
  for (const CalmLook& look : looks) cores += look.cpu_s / std::max(gap_s, look.rest_s);
  return cores;
}

}  // namespace

void CentrePlanner::Learn(const CentreSeen& seen) {
  double counted_s = 0;
  for (std::size_t p = 0; p < kCentreParts; ++p) {
    measures_[p].Learn(seen.costs[p], seen.seconds);
    counted_s += static_cast<double>(seen.costs[p].cpu_ns) * 1e-9;
  }
  const double grown_s = process_cpu_s_ < 0 ? 0 : seen.process_cpu_s - process_cpu_s_;
  process_cpu_s_ = seen.process_cpu_s;
  const double others_s = std::max(0.0, grown_s - counted_s);
  others_cores_ = service::Smoothed(others_cores_, others_s / seen.seconds);
  bytes_per_s_ = service::Smoothed(bytes_per_s_, seen.bytes / seen.seconds);
}

double CentrePlanner::CoresAt(CentreKnob knob, CentrePart part, std::size_t level) const {
  const service::OfLevels& values = FactsOf(knob).values;
  const double times = values[level] / values[LevelOf(knob)];
  return Of(part).cores() * (knob == CentreKnob::kCaptures ? times : 1 / times);
}

void CentrePlanner::PredictLooks(const CentreSeen& seen, std::vector<Level>& levels) const {
  const service::OfLevels& gaps = FactsOf(CentreKnob::kLooks).values;
  const double now = LooksTake(seen.looks, gaps[LevelOf(CentreKnob::kLooks)] / 1e3);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double share = now > 0 ? LooksTake(seen.looks, gaps[l] / 1e3) / now : 1;
    levels[l].spend.cores = Of(CentrePart::kLooks).cores() * share;
  }
}

// A job that fills what it may have now would fill all of it.
void CentrePlanner::PredictShown(const CentreSeen& seen, std::vector<Level>& levels) const {
  const service::OfLevels& shares = FactsOf(CentreKnob::kShown).values;
  const double may = seen.shown_most * shares[LevelOf(CentreKnob::kShown)];
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (const double rows : seen.shown) {
      const double wanted = rows >= 0.9 * may ? seen.shown_most : rows;
      levels[l].spend.memory +=
          std::min(wanted, seen.shown_most * shares[l]) * seen.shown_row_bytes;
    }
  }
}

// What no knob changes.
Spend CentrePlanner::Unchosen(const CentreSeen& seen, const Levels& levels) const {
  Spend rest{others_cores_, bytes_per_s_, 0};
  for (std::size_t p = 0; p < kCentreParts; ++p) {
    if (!IsChosen(static_cast<CentrePart>(p))) rest.cores += measures_[p].cores();
  }
  const Level& shown = levels[At(CentreKnob::kShown)][LevelOf(CentreKnob::kShown)];
  rest.memory = std::max(0.0, seen.memory - shown.spend.memory);
  return rest;
}

Levels CentrePlanner::Predict(const CentreSeen& seen) const {
  Levels levels(kCentreKnobs + 1);
  for (std::size_t k = 0; k < kCentreKnobs; ++k) {
    const service::KnobFacts& facts = FactsOf(static_cast<CentreKnob>(k));
    levels[k].resize(facts.levels);
    for (std::size_t l = 0; l < facts.levels; ++l) levels[k][l].loss = facts.loss[l];
  }
  for (const auto& [knob, part] : kChosen) {
    std::vector<Level>& of_knob = levels[At(knob)];
    for (std::size_t l = 0; l < of_knob.size(); ++l)
      of_knob[l].spend.cores = CoresAt(knob, part, l);
  }
  PredictLooks(seen, levels[At(CentreKnob::kLooks)]);
  PredictShown(seen, levels[At(CentreKnob::kShown)]);
  levels[kCentreKnobs].push_back({Unchosen(seen, levels), 0, true});
  return levels;
}

void CentrePlanner::Tell(const Levels& levels) {
  plan_.parts.clear();
  const auto tell_events = [this](CentrePart of, PlanPart& part) {
    part.ns_per_event = Of(of).ns_per_event;
    part.events_per_s = Of(of).per_s;
  };
  for (std::size_t k = 0; k < kCentreKnobs; ++k) {
    const auto knob = static_cast<CentreKnob>(k);
    PlanPart& part = plan_.Add(FactsOf(knob).name);
    part.level = LevelOf(knob);
    part.levels = levels[k].size();
    part.rate = RateInWords(knob, part.level);
    part.spend = levels[k][part.level].spend;
    if (k < kChosen.size()) tell_events(kChosen[k].second, part);
  }
  for (std::size_t p = 0; p < kCentreParts; ++p) {
    const auto of = static_cast<CentrePart>(p);
    if (IsChosen(of)) continue;
    PlanPart& part = plan_.Add(NameOf(of));
    part.spend.cores = Of(of).cores();
    tell_events(of, part);
    if (of == CentrePart::kMessages) part.spend.bytes_per_s = bytes_per_s_;
  }
  plan_.Add("others").spend = {others_cores_, 0, levels[kCentreKnobs].front().spend.memory};
}

void CentrePlanner::Changed(const std::vector<std::size_t>& before, const Levels& levels) {
  std::string changes;
  for (std::size_t k = 0; k < kCentreKnobs; ++k) {
    const auto knob = static_cast<CentreKnob>(k);
    if (LevelOf(knob) == before[k]) continue;
    absl::StrAppend(&changes, changes.empty() ? ": " : ", ", FactsOf(knob).name, " ",
                    RateInWords(knob, LevelOf(knob)));
  }
  plan_.why += changes;
  for (const auto& [knob, part] : kChosen) {
    measures_[static_cast<std::size_t>(part)].Move(levels[At(knob)], before[At(knob)],
                                                   LevelOf(knob));
  }
}

bool CentrePlanner::Look(const CentreSeen& seen, MonoNs now) {
  if (seen.seconds <= 0) {
    process_cpu_s_ = seen.process_cpu_s;
    return false;
  }
  Learn(seen);
  const Levels levels = Predict(seen);
  const std::vector<std::size_t> before = keeper_.held();
  const bool changed = keeper_.Decide(levels, now, plan_);
  if (changed) Changed(before, levels);
  Tell(levels);
  return changed;
}

}  // namespace fathom::collector
