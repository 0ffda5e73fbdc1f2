#include "diagnosis/tables/comparison.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/phrase.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

double PerIteration(const JobTables& tables) {
  const double count = static_cast<double>(tables.iterations.size() * tables.ranks.size());
  return count > 0 ? 1 / count : 0;
}

PartChange KindChange(const char* what, double Breakdown::*part, const JobTables& after,
                      const JobTables& before) {
  PartChange change{what, 0, 0};
  for (const RankTables& rank : before.ranks) change.before += rank.breakdown.*part;
  for (const RankTables& rank : after.ranks) change.after += rank.breakdown.*part;
  change.before *= PerIteration(before);
  change.after *= PerIteration(after);
  return change;
}

std::map<std::string, double> SumsOf(const JobTables& tables) {
  std::map<std::string, double> sums;
  for (const RankTables& rank : tables.ranks) {
    for (const KernelRow& row : rank.kernels) {
      const char* const what = row.kind == "op" ? "op " : row.kind == "copy" ? "copy " : "kernel ";
      sums[absl::StrCat(what, row.name)] += row.sum * PerIteration(tables);
    }
  }
  return sums;
}

std::vector<PartChange> PartsOf(const JobTables& after, const JobTables& before, double growth) {
  std::map<std::string, PartChange> changes;
  for (const auto& [what, seconds] : SumsOf(before)) changes[what] = {what, seconds, 0};
  for (const auto& [what, seconds] : SumsOf(after)) {
    changes[what].what = what;
    changes[what].after = seconds;
  }
  std::vector<PartChange> parts;
  for (auto& [what, change] : changes) {
    if (change.growth() >= kWorthNaming * growth) parts.push_back(std::move(change));
  }
  std::sort(parts.begin(), parts.end(),
            [](const PartChange& a, const PartChange& b) { return a.growth() > b.growth(); });
  if (parts.size() > kPartsNamed) parts.resize(kPartsNamed);
  return parts;
}

const PartChange* LargestKind(const Comparison& comparison) {
  const auto largest = std::max_element(
      comparison.kinds.begin(), comparison.kinds.end(),
      [](const PartChange& a, const PartChange& b) { return a.growth() < b.growth(); });
  return largest == comparison.kinds.end() ? nullptr : &*largest;
}

std::string Sentence(const Comparison& comparison) {
  std::string sentence = absl::StrFormat(
      "The job is slower than in the recording it is compared with: an iteration takes %s instead "
      "of %s (%.2fx)",
      Duration(comparison.after), Duration(comparison.before),
      comparison.after / comparison.before);
  const PartChange* kind = LargestKind(comparison);
  if (kind != nullptr && kind->growth() > 0) {
    absl::StrAppend(&sentence, "; most of it is ", kind->what);
  }
  if (!comparison.parts.empty()) {
    absl::StrAppend(&sentence, ", the largest part ", comparison.parts.front().what);
  }
  return sentence + ".";
}

void Describe(const Comparison& comparison, Verdict& verdict) {
  verdict.sentence = Sentence(comparison);
  verdict.evidence.push_back({"Median iteration, against that of the other recording.",
                              comparison.after, "s", comparison.before, "comparison"});
  verdict.evidence.push_back({"Probability that iterations differ so by chance (rank sum).",
                              comparison.chance, "", kRegressionChance, "comparison"});
  const double growth = comparison.after - comparison.before;
  for (const PartChange& kind : comparison.kinds) {
    const bool grew = kind.growth() >= kWorthNaming * growth;
    const bool shrank = kind.growth() <= -kWorthNaming * growth;
    if (!grew && !shrank) continue;
    (grew ? verdict.evidence : verdict.counter_evidence)
        .push_back({absl::StrCat("Per iteration, mean over the ranks: ", kind.what, "."),
                    kind.after, "s", kind.before, "comparison"});
  }
  for (const PartChange& part : comparison.parts) {
    verdict.evidence.push_back(
        {absl::StrCat("Per iteration, mean over the ranks: ", part.what, "."), part.after, "s",
         part.before, "comparison"});
  }
  verdict.would_change.push_back("A second pair of recordings in which the difference is gone.");
  verdict.action_text =
      "Compare what changed between the two runs: code, libraries, settings, nodes. The verdicts "
      "on this recording alone say whether one rank is behind it.";
}

}  // namespace

std::vector<double> Durations(const JobTables& tables) {
  std::vector<double> durations;
  for (const IterationRow& row : tables.iterations) durations.push_back(row.duration);
  if (durations.size() > 2) durations.erase(durations.begin());
  return durations;
}

Comparison Compare(const JobTables& after, const JobTables& before, double chance,
                   const DiagnosisConfig& config) {
  Comparison comparison;
  comparison.after = Median(Durations(after));
  comparison.before = Median(Durations(before));
  comparison.chance = chance;
  comparison.slower = comparison.before > 0 && chance < kRegressionChance &&
                      comparison.after > config.delta * comparison.before;
  comparison.kinds = {
      KindChange("compute", &Breakdown::compute, after, before),
      KindChange("communication, with the waits in it", &Breakdown::communication, after, before),
      KindChange("copies", &Breakdown::copies, after, before),
      KindChange("idle", &Breakdown::idle, after, before)};
  if (comparison.slower) {
    comparison.parts = PartsOf(after, before, comparison.after - comparison.before);
  }
  return comparison;
}

void JudgeComparison(const Comparison& comparison, const JobTables& after, Diagnosis& diagnosis) {
  if (comparison.before <= 0 || comparison.after <= 0) {
    diagnosis.abstained.push_back(
        {"whether the job is slower than in the other recording", "iterations of both recordings"});
    return;
  }
  if (!comparison.slower) return;
  Verdict verdict;
  verdict.cause = Cause::kRegression;
  verdict.grade = comparison.chance < kEstablishedChance ? Grade::kEstablished : Grade::kSupported;
  verdict.problem = ProblemClass::kNone;
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = EntityType::kJob;
  verdict.since_iteration = after.iterations.front().index;
  verdict.cost.slowdown = comparison.after / comparison.before;
  verdict.cost.seconds_per_iteration = comparison.after - comparison.before;
  verdict.cost.gpu_hours = verdict.cost.seconds_per_iteration *
                           static_cast<double>(after.iterations.size() * after.ranks.size()) / 3600;
  Describe(comparison, verdict);
  diagnosis.verdicts.push_back(std::move(verdict));
}

}  // namespace fathom::diagnosis
