#include "tests/diagnosis/live_session.h"

#include <algorithm>

#include "tests/diagnosis/job_builder.h"

namespace fathom::diagnosis::testing {
namespace {

void Remember(const Diagnosis& diagnosis, std::vector<Verdict>& ever) {
  for (const Verdict& verdict : diagnosis.verdicts) {
    const auto same = std::find_if(ever.begin(), ever.end(), [&](const Verdict& known) {
      return NameOf(known) == NameOf(verdict);
    });
    if (same == ever.end()) {
      ever.push_back(verdict);
    } else if (verdict.grade > same->grade) {
      *same = verdict;
    }
  }
}

}  // namespace

void KeepWindow(std::size_t newest, JobView& view) {
  constexpr std::int64_t kPinBefore = 12, kPinAfter = 5;
  const bool risen = !view.episode.rise.empty();
  const Iteration onset = risen ? view.episode.rise.front().onset : view.episode.onset;
  const std::size_t n = view.window.size();
  const std::int64_t first = n > newest ? view.window[n - newest].index.value : 0;
  std::erase_if(view.window, [&](const IterationSummary& it) {
    const bool pinned = onset.value >= 0 && it.index.value >= onset.value - kPinBefore &&
                        it.index.value <= onset.value + kPinAfter;
    return it.index.value < first && !pinned;
  });
}

LiveOutcome RunLive(const JobView& whole, const DiagnosisConfig& config, std::size_t every,
                    std::size_t newest) {
  LiveOutcome outcome;
  Episode episode;
  for (std::size_t n = every; n <= whole.window.size(); n += every) {
    JobView view = After(whole, n);
    view.episode = episode;
    view.past = std::move(outcome.suspicion.past);
    view.spikes = std::move(outcome.suspicion.spikes);
    view.iterations_seen = static_cast<std::int64_t>(n);
    KeepWindow(newest, view);
    outcome.suspicion = Watch(view, config);
    episode = outcome.suspicion.episode;
    outcome.diagnosis = {};
    const Suspicion& suspicion = outcome.suspicion;
    if (!suspicion.slow && !suspicion.stalled && !suspicion.differs) continue;
    FillRows(whole, outcome.suspicion.rows, view);
    outcome.diagnosis = Diagnose(view, outcome.suspicion, config);
    diagnosis::Remember(outcome.diagnosis, episode);
    Remember(outcome.diagnosis, outcome.ever);
    if (outcome.first_verdict < 0 && !outcome.diagnosis.verdicts.empty()) {
      outcome.first_verdict = static_cast<std::int64_t>(n);
    }
  }
  return outcome;
}

std::string NameOf(const Verdict& verdict) {
  std::string name(ToString(verdict.cause));
  if (verdict.entity.type != EntityType::kRank) {
    name.append(" ").append(ToString(verdict.entity.type));
  }
  if (verdict.entity.type == EntityType::kHost) return name.append(" ").append(verdict.entity.node);
  for (RankId rank : verdict.entity.ranks) name.append(" ").append(std::to_string(rank.value));
  return name;
}

}  // namespace fathom::diagnosis::testing
