#include "collector/simulate/experiment/trial.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/simulate/play/random.h"

namespace fathom::simulate {

namespace {

std::size_t ClassIndex(diagnosis::ProblemClass problem) {
  return static_cast<std::size_t>(problem);
}

std::string InWords(const Scenario& scenario, const Outcome& outcome, const Score& score) {
  std::string text =
      absl::StrFormat("seed %d, %d ranks, %s, iterations %.1f %% longer: ", scenario.seed,
                      scenario.plan.WorldSize(), TruthOf(scenario), 100 * (score.slowdown - 1));
  const diagnosis::Diagnosis& last = outcome.diagnosis;
  if (!last.verdicts.empty()) return text + "said " + Subject(last.verdicts.front());
  if (!last.abstained.empty()) {
    return text + "nothing said, for want of " + last.abstained.front().missing;
  }
  return text + "nothing said, for no iteration stood out from the noise";
}

double NoiseBefore(std::int64_t onset, const std::vector<double>& iteration_s) {
  const auto count = std::min(static_cast<std::size_t>(onset), iteration_s.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += iteration_s[i];
    squares += iteration_s[i] * iteration_s[i];
  }
  if (count == 0 || sum <= 0) return 0;
  const double n = static_cast<double>(count), mean = sum / n;
  return std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
}

}  // namespace

void Tally::Add(const Scenario& scenario, const Outcome& outcome) {
  const Score score = ScoreOf(scenario, outcome);
  ++runs;
  top1 += score.top1;
  all_found += score.all_found;
  ++marks[static_cast<std::size_t>(score.mark)];
  slowed += score.slowdown >= kIrregular;
  slowed_top1 += score.slowdown >= kIrregular && score.top1;
  if (!score.top1 && !scenario.faults.empty()) {
    const double noise = NoiseBefore(scenario.faults.front().from, outcome.iteration_s);
    untold.push_back({score.slowdown, noise});
  }
  if (!score.top1 && score.slowdown > worst_slowdown) {
    worst_slowdown = score.slowdown;
    worst = InWords(scenario, outcome, score);
  }
  for (const diagnosis::Verdict& verdict : outcome.ever) {
    const std::size_t grade = verdict.grade == diagnosis::Grade::kEstablished;
    ++convictions[grade];
    right_convictions[grade] += MarkOf(scenario, verdict) == Mark::kRight;
  }
  if (outcome.first_verdict >= 0) {
    localising_s.push_back(outcome.localising_s);
    const std::int64_t onset = scenario.faults.empty() ? 0 : scenario.faults.front().from;
    iterations_to_verdict.push_back(static_cast<double>(outcome.first_verdict - onset));
    ops_fetched += outcome.until_verdict.ops;
    ops_logged += outcome.ops_until_verdict;
    rounds += outcome.until_verdict.rounds;
  }
  for (const diagnosis::Verdict& verdict : outcome.ever) ++classes[ClassIndex(verdict.problem)];
  if (outcome.ever.empty()) ++classes[0];
  simulating_s += outcome.simulating_s;
  for (const std::string& wrong : score.wrong) {
    stories.push_back(
        absl::StrFormat("seed %d, %s; said: %s", scenario.seed, TruthOf(scenario), wrong));
  }
}

void Tally::Add(const Tally& other) {
  runs += other.runs;
  top1 += other.top1;
  all_found += other.all_found;
  slowed += other.slowed;
  slowed_top1 += other.slowed_top1;
  if (other.worst_slowdown > worst_slowdown) {
    worst_slowdown = other.worst_slowdown;
    worst = other.worst;
  }
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] += other.marks[i];
  for (std::size_t i = 0; i < 2; ++i) {
    convictions[i] += other.convictions[i];
    right_convictions[i] += other.right_convictions[i];
  }
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(localising_s, other.localising_s);
  append(iterations_to_verdict, other.iterations_to_verdict);
  append(stories, other.stories);
  append(untold, other.untold);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] += other.classes[i];
  ops_logged += other.ops_logged;
  ops_fetched += other.ops_fetched;
  rounds += other.rounds;
  simulating_s += other.simulating_s;
}

Tally RunTrials(int runs, const std::function<Scenario(std::uint64_t seed)>& make,
                const ExperimentOptions& options) {
  Tally tally;
  for (int i = 0; i < runs; ++i) {
    if (options.stopped && options.stopped()) break;
    const Scenario scenario = make(options.seed + static_cast<std::uint64_t>(i));
    SessionOptions session_options;
    session_options.now = options.now;
    session_options.stopped = options.stopped;
    Session session(scenario, session_options);
    const Outcome outcome = session.Run();
    if (!outcome.interrupted) tally.Add(scenario, outcome);
  }
  return tally;
}

std::string Share(int part, int whole) {
  if (whole == 0) return "–";
  const double z = NormalQuantile(0.975), n = whole, p = part / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return absl::StrFormat("%.1f (%.1f–%.1f)", 100 * p, 100 * std::max(0.0, centre - half),
                         100 * std::min(1.0, centre + half));
}

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace fathom::simulate
