#include "collector/cli/report/analysis_page.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "collector/cli/render/quantity.h"
#include "collector/cli/render/step_lines.h"
#include "collector/cli/report/comparison_block.h"
#include "collector/cli/report/gaps.h"
#include "collector/cli/report/ledger_block.h"
#include "collector/cli/report/nothing_found.h"
#include "collector/cli/report/time_spent.h"
#include "collector/cli/report/verdict_card.h"
#include "collector/cli/report/what_if_block.h"
#include "collector/cli/report/work_lines.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kFewestRanks = 3;  // shown, however little room is left
constexpr std::size_t kMostRanks = 8;
constexpr std::size_t kOthersShown = 3;
constexpr std::size_t kOtherLines = 2;

std::string Headline(const Json& report, const AnalysisRemarks& remarks) {
  const Json& job = ObjectField(report, "job");
  const Json& iterations = ObjectField(report, "iterations");
  const std::int64_t count = IntField(iterations, "count");
  // Where two recordings are compared, the figure that is compared.
  const double compared = NumberField(ObjectField(report, "comparison"), "after_s");
  const double median = compared > 0 ? compared : NumberField(iterations, "median_s");
  const std::size_t all =
      remarks.files_read + remarks.files_left_out + remarks.files_ignored.size();
  const std::string files = remarks.files_read == all
                                ? Counted(all, "file")
                                : Cat(remarks.files_read, " of ", Counted(all, "file"));
  return Cat(TextField(job, "name"), ": ",
             Counted(static_cast<std::size_t>(IntField(job, "ranks")), "rank"), ", ",
             TextField(job, "source"), all > 0 ? Cat(", ", files) : "",
             count > 0 ? Cat(", ", Counted(static_cast<std::size_t>(count), "iteration")) : "",
             median > 0 ? Cat(compared > 0 ? ", median " : " of ", Seconds(median)) : "", "\n");
}

std::string NoVerdict(const Json& report, const AnalysisRemarks& remarks,
                      const Terminal& terminal) {
  const std::string words = NothingFound(report, remarks.shortest, remarks.longest);
  return Cat("\n", Paint(terminal, Ink::kBold, Wrap(words, TextColumns(terminal), "")), "\n");
}

// The strongest in full, the others in a line or two each.
std::string Verdicts(const std::vector<VerdictView>& verdicts, const Terminal& terminal) {
  std::string out = Cat("\n", VerdictSummary(verdicts.front(), terminal));
  const std::size_t shown = std::min(verdicts.size(), 1 + kOthersShown);
  for (std::size_t i = 1; i < shown; ++i) {
    const std::size_t room = kOtherLines * (TextColumns(terminal) - 13);
    AppendTo(&out, i == 1 ? "also       " : "           ",
             Wrap(CutToWidth(Cat(verdicts[i].grade, ": ", verdicts[i].sentence), room),
                  TextColumns(terminal) - 11, std::string(11, ' ')),
             "\n");
  }
  if (shown < verdicts.size()) {
    AppendTo(&out, "           and ", verdicts.size() - shown, " more: --verbose\n");
  }
  return out;
}

std::string AllVerdicts(const std::vector<VerdictView>& verdicts, const Terminal& terminal) {
  std::string out;
  for (const VerdictView& verdict : verdicts) {
    AppendTo(&out, "\n", VerdictPage(verdict, terminal));
  }
  return out;
}

std::string Told(const Json& report, const std::vector<VerdictView>& verdicts,
                 const AnalysisRemarks& remarks, const Terminal& terminal) {
  if (verdicts.empty()) return NoVerdict(report, remarks, terminal);
  return remarks.verbose ? AllVerdicts(verdicts, terminal) : Verdicts(verdicts, terminal);
}

std::string Block(const std::string& text) { return text.empty() ? "" : Cat("\n", text); }

std::size_t LinesIn(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::set<std::int64_t> CulpritsOf(const std::vector<VerdictView>& verdicts) {
  if (verdicts.empty()) return {};
  return {verdicts.front().ranks.begin(), verdicts.front().ranks.end()};
}

}  // namespace

std::string AnalysisPage(const Json& report, const AnalysisRemarks& remarks,
                         const Terminal& terminal) {
  const std::vector<VerdictView> verdicts = ReadVerdicts(ListField(report, "verdicts"));
  const std::string head = Cat(Paint(terminal, Ink::kDim, Headline(report, remarks)),
                               Told(report, verdicts, remarks, terminal),
                               Block(ComparisonBlock(ObjectField(report, "comparison"), terminal)));
  const std::string work = WorkLines(ObjectField(report, "tables"), terminal);
  const std::string tail = Cat(Block(LedgerBlock(ObjectField(report, "ledger"), terminal)),
                               Block(WhatIfBlock(ObjectField(report, "what_if"), terminal)),
                               Block(remarks.verbose ? AllGaps(report, remarks, terminal)
                                                     : Gaps(report, remarks, terminal)));
  const std::set<std::int64_t> culprits = CulpritsOf(verdicts);
  constexpr std::size_t kAround = 4;  // blank line, title, headings and legend of the table
  std::size_t used = LinesIn(head) + LinesIn(work) + LinesIn(tail);
  const std::string step =
      Block(StepBlock(ObjectField(report, "step"), verdicts.empty(), terminal));
  const bool fits = used + LinesIn(step) + kAround + kFewestRanks <= kScreenLines;
  if (fits) used += LinesIn(step);
  const std::size_t room = kScreenLines > used + kAround ? kScreenLines - used - kAround : 0;
  const std::size_t most =
      remarks.verbose ? kMostRanks : std::clamp(room, kFewestRanks, kMostRanks);
  const std::string ranks = TimeSpent(report, culprits, most, terminal);
  return Cat(head, Block(ranks), ranks.empty() ? Block(work) : work,
             fits || remarks.verbose ? step : "", tail);
}

}  // namespace fathom::cli
