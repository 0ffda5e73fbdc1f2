#include "collector/cli/run/verdict_narrator.h"

#include <algorithm>
#include <vector>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/step_lines.h"
#include "collector/cli/report/verdict_card.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr const char* kLead = "fathom: ";

std::string Line(const Terminal& terminal, const std::string& text) {
  const auto columns = static_cast<std::size_t>(std::max(terminal.columns, 40));
  return Cat(kLead, Wrap(text, columns - 8, "        "), "\n");
}

// "260 iterations, median 41.2 ms"
std::string Measured(const Json& report) {
  const Json& iterations = ObjectField(report, "iterations");
  return Cat(IntField(iterations, "count"), " iterations, median ",
             Seconds(NumberField(iterations, "median_s")));
}

// What is no more than a lead is called one.
std::string LeadOf(const VerdictView& verdict, std::string_view corrected = "") {
  return Cat(kLead, corrected, verdict.Convicts() ? "" : "a lead: ");
}

bool Stronger(const VerdictView& a, const VerdictView& b) {
  return GradeStrength(a.grade) > GradeStrength(b.grade);
}

}  // namespace

std::string VerdictNarrator::OnVerdict(const VerdictView& verdict) {
  const auto found = told_.find(verdict.id);
  if (found == told_.end()) {
    told_.emplace(verdict.id, verdict);
    return verdict.closed ? "" : VerdictCard(verdict, terminal_, LeadOf(verdict));
  }
  const VerdictView before = found->second;
  found->second = verdict;
  if (verdict.closed) {
    if (before.closed) return "";
    const std::string why = verdict.closed_because.empty() ? "over" : verdict.closed_because;
    return Line(terminal_, Cat("closed (", why, "): ", verdict.sentence));
  }
  if (before.cause != verdict.cause || before.Culprit() != verdict.Culprit() || before.closed) {
    return VerdictCard(verdict, terminal_, LeadOf(verdict, "corrected: "));
  }
  if (before.function.empty() && !verdict.function.empty()) {
    return Line(terminal_, Cat("the function is known: ", verdict.sentence));
  }
  if (before.grade == verdict.grade) return "";
  return Line(terminal_,
              Cat("now ", verdict.grade, " (was ", before.grade, "): ", verdict.sentence));
}

std::string VerdictNarrator::OnJob(const Json& job, std::chrono::steady_clock::time_point now) {
  const std::string state = TextField(job, "state");
  if (state == "ended") return "";
  if (state != "stalled") {
    silent_since_.reset();
    silence_told_ = false;
    return "";
  }
  if (!silent_since_) silent_since_ = now;
  if (silence_told_ || now - *silent_since_ < kSilence) return "";
  silence_told_ = true;
  return Line(terminal_, Cat("some rank has been silent for ", kSilence.count(),
                             " s longer than its job explains, and nobody can be named for it; "
                             "the page tells what is missing"));
}

std::string VerdictNarrator::Summary(const Json& report) const {
  const std::int64_t ranks = IntField(ObjectField(report, "job"), "ranks");
  if (!report.empty() && ranks == 0) {
    return Line(terminal_,
                "nothing was traced: no process of the command used torch.distributed with Gloo; "
                "`fathom doctor` tells what can be traced here");
  }
  std::string out = Conclusion(report, Measured(report));
  for (const std::string& paragraph : StepParagraphs(ObjectField(report, "step"))) {
    out += Line(terminal_, paragraph);
  }
  const std::string work = TextField(ObjectField(report, "work"), "sentence");
  return work.empty() ? out : Cat(out, Line(terminal_, work));
}

std::string VerdictNarrator::Conclusion(const Json& report, const std::string& measured) const {
  std::vector<VerdictView> verdicts = ReadVerdicts(ListField(report, "verdicts"));
  if (verdicts.empty()) {  // a collector that is gone leaves what was heard from it
    for (const auto& [id, verdict] : told_) verdicts.push_back(verdict);
  }
  std::stable_sort(verdicts.begin(), verdicts.end(), Stronger);
  const std::string suffix = report.empty() ? "" : Cat(" (", measured, ")");
  if (verdicts.empty()) {
    const std::string where = report.empty() ? "; no report came back" : Cat(" in ", measured);
    const char* silent =
        silence_told_ ? "; some rank was silent until the end, and why could not be told" : "";
    return Line(terminal_, Cat("no culprit found", where, silent));
  }
  const VerdictView& first = verdicts.front();
  if (!first.Convicts()) {
    return Line(terminal_, Cat("no culprit established", suffix, "; a lead: ", first.sentence));
  }
  std::string out = VerdictCard(first, terminal_, Cat(kLead, "verdict: "));
  if (!suffix.empty()) out += Line(terminal_, Cat("measured ", measured));
  if (verdicts.size() > 1) {
    out += Line(terminal_, Cat("and ", verdicts.size() - 1,
                               verdicts.size() > 2 ? " verdicts more" : " verdict more"));
  }
  return out;
}

}  // namespace fathom::cli
