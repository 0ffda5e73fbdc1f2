#include "diagnosis/tables/comparison_verdict.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

constexpr double kLeastTold = 1e-4;  // smaller chances are not told apart

// "101 ms instead of 69.1 ms (1.46x)"
std::string Figures(const Comparison& comparison) {
  return absl::StrFormat("%s instead of %s (%.2fx)", Duration(comparison.after),
                         Duration(comparison.before), comparison.after / comparison.before);
}

std::string ChanceText(double chance) {
  return chance < kLeastTold ? "below 0.01 %" : absl::StrFormat("%.2g %%", 100 * chance);
}

std::string ChangedSentence(const Comparison& comparison) {
  std::string sentence = absl::StrFormat(
      "The job is %s than in the recording it is compared with: an iteration takes %s",
      comparison.slower() ? "slower" : "faster", Figures(comparison));
  const PartChange* const kind = comparison.LeadingKind();
  if (kind == nullptr) return sentence + ".";
  absl::StrAppend(&sentence, "; most of it is ", kind->what);
  const bool waits = kind->what == "communication";
  if (waits) absl::StrAppend(&sentence, ", with the waits in it");
  if (!comparison.parts.empty() && comparison.parts.front().kind == kind->kind &&
      comparison.parts.front().growth() * comparison.growth() > 0) {
    absl::StrAppend(&sentence, ", the largest part ", comparison.parts.front().what);
  }
  return sentence + ".";
}

std::string SameSentence(const Comparison& comparison) {
  if (comparison.chance < comparison.most_chance) {
    return absl::StrCat("No change to speak of against the other recording: an iteration takes ",
                        Figures(comparison), ".");
  }
  return absl::StrFormat(
      "No change beyond chance against the other recording: an iteration takes %s; as much comes "
      "by chance in %s of such pairs.",
      Figures(comparison), ChanceText(comparison.chance));
}

void AddChange(const std::string& what, const PartChange& change, const Comparison& comparison,
               Verdict& verdict) {
  if (std::abs(change.growth()) < kWorthNaming * comparison.growth()) return;
  (change.growth() > 0 ? verdict.evidence : verdict.counter_evidence)
      .push_back({absl::StrCat("Per iteration, mean over the ranks: ", what, "."), change.after,
                  "s", change.before, "comparison"});
}

void Describe(const Comparison& comparison, Verdict& verdict) {
  verdict.sentence = SentenceOf(comparison);
  verdict.evidence.push_back({"Median iteration, against that of the other recording.",
                              comparison.after, "s", comparison.before, "comparison"});
  verdict.evidence.push_back({"Probability that iterations differ so by chance (rank sum).",
                              comparison.chance, "", comparison.most_chance, "comparison"});
  for (const PartChange& kind : comparison.kinds) {
    const bool waits = kind.what == "communication";
    AddChange(absl::StrCat(kind.what, waits ? ", with the waits in it" : ""), kind, comparison,
              verdict);
  }
  for (const PartChange& part : comparison.parts) AddChange(part.what, part, comparison, verdict);
  verdict.would_change.push_back("A second pair of recordings in which the difference is gone.");
  verdict.action_text =
      "Compare what changed between the two runs: code, libraries, settings, nodes. The verdicts "
      "on this recording alone say whether one rank is behind it.";
}

}  // namespace

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kUnrelated:
      return "unrelated";
    case Outcome::kSame:
      return "same";
    case Outcome::kSlower:
      return "slower";
    case Outcome::kFaster:
      return "faster";
  }
  return "";
}

std::string SentenceOf(const Comparison& comparison) {
  switch (comparison.outcome) {
    case Outcome::kUnknown:
      return absl::StrCat("Whether the job changed cannot be told: it takes ", comparison.why, ".");
    case Outcome::kUnrelated:
      return absl::StrCat(
          "The two recordings are not of the same job and are not compared: ", comparison.why, ".");
    case Outcome::kSame:
      return SameSentence(comparison);
    case Outcome::kSlower:
    case Outcome::kFaster:
      return ChangedSentence(comparison);
  }
  return "";
}

void JudgeComparison(const Comparison& comparison, const JobTables& after, Diagnosis& diagnosis) {
  constexpr const char* kQuestion = "whether the job is slower than in the other recording";
  if (comparison.outcome == Outcome::kUnknown) {
    diagnosis.abstained.push_back({kQuestion, comparison.why});
  } else if (comparison.outcome == Outcome::kUnrelated) {
    diagnosis.abstained.push_back(
        {kQuestion, absl::StrCat("two recordings of the same job: ", comparison.why)});
  }
  if (!comparison.slower()) return;
  Verdict verdict;
  verdict.cause = Cause::kRegression;
  verdict.grade =
      comparison.chance < comparison.established_chance ? Grade::kEstablished : Grade::kSupported;
  verdict.problem = ProblemClass::kNone;
  verdict.owner = OwnerOf(verdict.cause);
  verdict.entity.type = EntityType::kJob;
  verdict.since_iteration = after.iterations.front().index;
  verdict.cost.slowdown = comparison.after / comparison.before;
  verdict.cost.seconds_per_iteration = comparison.growth();
  verdict.cost.gpu_hours = verdict.cost.seconds_per_iteration *
                           static_cast<double>(after.iterations.size() * after.ranks.size()) / 3600;
  Describe(comparison, verdict);
  diagnosis.verdicts.push_back(std::move(verdict));
}

}  // namespace fathom::diagnosis
