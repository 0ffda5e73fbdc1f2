#include "collector/simulate/experiment/table_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace fathom::simulate {
namespace {

constexpr std::size_t kStoriesShown = 5;

}  // namespace

void PrintRow(const ExperimentOptions& options, const Cells& cells) {
  options.print("| " + absl::StrJoin(cells, " | ") + " |\n");
}

void PrintHeading(const ExperimentOptions& options, const Cells& cells) {
  PrintRow(options, cells);
  PrintRow(options, Cells(cells.size(), "---"));
}

void PrintStories(const ExperimentOptions& options, const Tally& tally) {
  if (tally.stories.empty()) return;
  options.print(absl::StrCat("\nSaid of others (", tally.stories.size(), "):\n\n"));
  for (std::size_t i = 0; i < std::min(kStoriesShown, tally.stories.size()); ++i) {
    options.print(absl::StrCat("- ", tally.stories[i], "\n"));
  }
}

void PrintGrades(const ExperimentOptions& options, const Tally& tally) {
  options.print(absl::StrCat("\nOf ", tally.convictions[1], " verdicts called established ",
                             Share(tally.right_convictions[1], tally.convictions[1]),
                             " % were right, of ", tally.convictions[0], " called supported ",
                             Share(tally.right_convictions[0], tally.convictions[0]), " %.\n"));
}

Cells Joined(Cells first, const Cells& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

Cells MarkHeading() {
  return {"runs",      "top-1 right, %", "slowed by 5 % or more: top-1 right, %",
          "abstained", "wide",           "wrong"};
}

Cells MarkCells(const Tally& t) {
  return {absl::StrCat(t.runs),
          Share(t.top1, t.runs),
          Share(t.slowed_top1, t.slowed),
          absl::StrCat(t.Of(Mark::kAbstained)),
          absl::StrCat(t.Of(Mark::kWide)),
          absl::StrCat(t.Of(Mark::kWrong))};
}

void PrintWorst(const ExperimentOptions& options, const Tally& tally) {
  if (tally.worst.empty()) return;
  options.print(absl::StrCat("\nThe costliest run that was not told right: ", tally.worst, ".\n"));
}

void PrintUntold(const ExperimentOptions& options, const Tally& tally) {
  if (tally.untold.empty()) return;
  std::vector<std::string> each;
  for (const Untold& run : tally.untold) {
    each.push_back(absl::StrFormat("%.1f (%.1f)", 100 * (run.slowdown - 1), 100 * run.noise));
  }
  options.print(absl::StrCat(
      "\nNot told right were ", tally.untold.size(),
      " runs, whose fault made iterations longer by so many percent (in brackets: how much they "
      "vary before it, standard deviation): ",
      absl::StrJoin(each, ", "), ".\n"));
}

int RunsOr(const ExperimentOptions& options, int usual) {
  return options.runs > 0 ? options.runs : usual;
}

}  // namespace fathom::simulate
