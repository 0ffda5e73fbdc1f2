#include "diagnosis/history/history_verdict.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

using Limits = HistoryLimits;

constexpr char kSource[] = "history";

std::string WhatChanged(const HistoryCase& c) {
  if (!c.setup_known) return "what was changed since is not known";
  const std::string changes = InWords(c.changes);
  if (changes.empty()) {
    return "of versions, environment, arguments, revision and nodes nothing was changed since";
  }
  return absl::StrCat("what was changed since: ", changes);
}

std::string IssueInWords(const IssueShift& issue) {
  return absl::StrCat("its communication is issued ", Duration(issue.after_s),
                      " before the GPU begins it instead of ", Duration(issue.before_s),
                      ": the host no longer runs ahead, as where it waits for the GPU");
}

std::string Rate(double flop_per_s) { return absl::StrFormat("%.4g GFLOP/s", flop_per_s / 1e9); }

// The metrics that have moved, each with what it was.
std::string MovedInWords(const RunJudgement& j) {
  std::string out;
  const auto grew = [&](const char* where, const MetricShift& shift) {
    absl::StrAppend(&out, "; ", where, " nothing that is seen runs for ", Duration(shift.after),
                    " instead of ", Duration(shift.before), " (void)");
  };
  if (j.more_between) grew("between its iterations", j.shifts.between);
  if (j.more_within) grew("within them", j.shifts.within);
  if (j.more_work) {
    absl::StrAppend(&out, absl::StrFormat("; it computes %.4g GFLOP an iteration instead of %.4g",
                                          j.shifts.work.after / 1e9, j.shifts.work.before / 1e9));
  }
  if (j.lower_rate) {
    absl::StrAppend(&out, "; its products run at ", Rate(j.shifts.rate.after), " instead of ",
                    Rate(j.shifts.rate.before));
  }
  return out;
}

std::string UnpricedSentence(const HistoryCase& c) {
  const RunJudgement& j = c.judgement;
  return absl::StrFormat(
      "The hosts of the job wait for their GPUs as in none of its last %d healthy runs, from the "
      "start: %s; what it costs is not told, for iterations of these runs differ by %.0f %% "
      "anyway; %s.",
      j.runs, IssueInWords(j.issue), 100 * j.spread, WhatChanged(c));
}

std::string SentenceOf(const HistoryCase& c) {
  const RunJudgement& j = c.judgement;
  if (j.unpriced) return UnpricedSentence(c);
  std::string sentence = absl::StrFormat(
      "The job is slower than its last %d healthy runs, from the start: an iteration takes %s "
      "instead of %s (%.2fx)",
      j.runs, Duration(j.after_s), Duration(j.before_s), j.after_s / j.before_s);
  const std::string part = LeadingPart(j.before, j.after);
  if (j.by_shape)
    absl::StrAppend(&sentence, " in the mean, by iterations that are longer at times");
  if (j.by_net || j.by_metric) absl::StrAppend(&sentence, " beside waiting for cores");
  if (!part.empty() && !j.by_issue) absl::StrAppend(&sentence, ", most of it ", part);
  sentence += MovedInWords(j);
  if (j.issue.fallen) absl::StrAppend(&sentence, "; ", IssueInWords(j.issue));
  return absl::StrCat(sentence, "; ", WhatChanged(c), ".");
}

const SetupChange* FirstUnusual(const HistoryCase& c) {
  const auto at = std::find_if(c.changes.begin(), c.changes.end(),
                               [](const SetupChange& change) { return !change.usual; });
  return at == c.changes.end() ? nullptr : &*at;
}

// A machine that became slower would look the same.
bool MayBeTheMachine(const HistoryCase& c) {
  return FirstUnusual(c) == nullptr && c.span_s < Limits::kSitting_s && !Witnessed(c.judgement);
}

Grade GradeOf(const HistoryCase& c) {
  const bool more_work = std::any_of(
      c.changes.begin(), c.changes.end(),
      [](const SetupChange& change) { return !change.usual && MayMeanMoreWork(change); });
  if (more_work || MayBeTheMachine(c)) return Grade::kHypothesis;
  const RunJudgement& j = c.judgement;
  const bool sure = j.runs >= Limits::kSureRuns && j.chance < Limits::kSureChance && !j.by_shape &&
                    !j.by_issue && !j.by_metric;
  return sure ? Grade::kEstablished : Grade::kSupported;
}

void AddPart(const char* what, double before, double after, Verdict& verdict) {
  if (before < 1e-5 && after < 1e-5) return;
  verdict.evidence.push_back({absl::StrCat("Per iteration, mean over the ranks: ", what, "."),
                              after, "s", before, kSource});
}

void AddEvidence(const HistoryCase& c, Verdict& verdict) {
  const RunJudgement& j = c.judgement;
  verdict.evidence.push_back(
      {absl::StrFormat("Iteration over %d iterations, against the same stretch of %d earlier runs "
                       "of the profile (%s).",
                       j.iterations, j.runs, ProfileInWords(c.profile)),
       j.after_s, "s", j.before_s, kSource});
  verdict.evidence.push_back({"Probability of a healthy run that is as slow (Student's t).",
                              j.chance, "", Limits::kMostChance, kSource});
  verdict.evidence.push_back(
      {"Growth, against what such runs differ by among themselves (standard deviation).",
       j.growth(), "", j.spread, kSource});
  verdict.evidence.push_back(
      {"Wasserstein distance of the shape of its iterations, against the largest among theirs.",
       j.shape_s, "s", j.usual_shape_s, kSource});
  if (j.issue.known) {
    verdict.evidence.push_back({"Issue latency of communication on GPUs (geometric mean).",
                                j.issue.after_s, "s", j.issue.before_s, kSource});
    verdict.evidence.push_back(
        {"Wasserstein distance of its issue latency in decades, against the largest among theirs.",
         j.issue.distance, "", j.issue.usual_distance, kSource});
  }
  const auto add_shift = [&](const char* what, const MetricShift& shift, const char* unit) {
    if (shift.known) verdict.evidence.push_back({what, shift.after, unit, shift.before, kSource});
  };
  add_shift("Void between iterations, of a rank.", j.shifts.between, "s");
  add_shift("Void within iterations, of a rank.", j.shifts.within, "s");
  add_shift("Floating-point operations an iteration, of a rank.", j.shifts.work, "FLOP");
  add_shift("Rate of its products, of a rank.", j.shifts.rate, "FLOP/s");
  AddPart("computing on the CPU", j.before.computing_s, j.after.computing_s, verdict);
  AddPart("communication, with the waits in it", j.before.communication_s, j.after.communication_s,
          verdict);
  AddPart("host time", j.before.host_s(), j.after.host_s(), verdict);
  AddPart("waiting for batches", j.before.dataloader_s, j.after.dataloader_s, verdict);
  AddPart("garbage collection", j.before.gc_s, j.after.gc_s, verdict);
  AddPart("waiting for cores", j.before.cores_s, j.after.cores_s, verdict);
  for (const SetupChange& change : c.changes) {
    verdict.evidence.push_back({absl::StrCat(change.usual ? "Changed, as from run to run anyway: "
                                                          : "Changed since the last healthy run: ",
                                             InWords(change), "."),
                                0, "", 0, "setup"});
  }
}

void AddDoubts(const HistoryCase& c, Verdict& verdict) {
  for (const SetupChange& change : c.changes) {
    if (change.usual || !MayMeanMoreWork(change)) continue;
    verdict.counter_evidence.push_back(
        {absl::StrCat(InWords(change), " may mean more work, by intent."), 0, "", 0, "setup"});
  }
  if (MayBeTheMachine(c)) {
    verdict.counter_evidence.push_back(
        {"The earlier runs began within minutes or a few hours, nothing that is known was changed, "
         "and all of the iteration is longer alike: the machine may have become slower.",
         c.span_s, "s", Limits::kSitting_s, kSource});
    verdict.would_change.push_back("Healthy runs of other hours that are as slow, or are not.");
  }
  verdict.would_change.push_back(
      "A run with the change undone that is as slow: then it is the machine, not the change.");
  verdict.would_change.push_back(
      "That these are different jobs: give each a name of its own (`fathom run --profile NAME`, or "
      "FATHOM_PROFILE in its environment).");
}

}  // namespace

Verdict SlowerThanHistory(const HistoryCase& c) {
  const RunJudgement& j = c.judgement;
  Verdict verdict;
  verdict.cause = Cause::kRegression;
  verdict.grade = GradeOf(c);
  verdict.problem = ProblemClass::kNone;
  const SetupChange* const change = FirstUnusual(c);
  const Owner otherwise = j.issue.fallen ? Owner::kAlgorithm : OwnerOf(verdict.cause);
  verdict.owner = change == nullptr ? otherwise : OwnerOf(*change);
  verdict.entity.type = EntityType::kJob;
  verdict.from_start = true;
  verdict.since_iteration = Iteration(0);
  if (!j.unpriced) {
    verdict.cost.slowdown = j.after_s / j.before_s;
    verdict.cost.seconds_per_iteration = j.after_s - j.before_s;
  }
  verdict.cost.gpu_hours =
      verdict.cost.seconds_per_iteration * static_cast<double>(j.iterations * c.ranks) / 3600;
  verdict.sentence = SentenceOf(c);
  AddEvidence(c, verdict);
  AddDoubts(c, verdict);
  verdict.action_text = "See all that differs between the two runs, and run once with it undone.";
  if (j.issue.fallen) {
    verdict.action_text =
        "Look for what waits for the GPU in each iteration (item(), print of a tensor, cpu(), "
        "synchronize()); the difference between the two runs tells where to begin.";
  }
  verdict.action_command = absl::StrCat("fathom compare ", c.last_run, " ", c.run);
  return verdict;
}

}  // namespace fathom::diagnosis
