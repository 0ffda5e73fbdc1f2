#include "collector/cli/report/gaps.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "collector/cli/render/verdict_view.h"
#include "collector/cli/report/clocks.h"
#include "collector/cli/report/files_taken.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kListed = 12;
constexpr std::size_t kFilesListed = 64;
constexpr std::size_t kFewListed = 2;
constexpr std::size_t kFewLines = 2;  // of each of those

void AddList(std::string_view title, const std::vector<std::string>& lines,
             const Terminal& terminal, std::string* out, std::size_t most = kListed) {
  if (lines.empty()) return;
  AppendTo(out, out->empty() ? "" : "\n", Paint(terminal, Ink::kBold, title), "\n");
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) {
    AppendTo(out, "  ", Wrap(Printable(lines[i]), TextColumns(terminal) - 4, "    "), "\n");
  }
  if (lines.size() > most) AppendTo(out, "  and ", lines.size() - most, " more\n");
}

// "Not told: …", each line once, the first few of them.
void AddFew(std::string_view label, const std::vector<std::string>& lines, const Terminal& terminal,
            std::string* out) {
  const std::size_t shown = std::min(lines.size(), kFewListed);
  const std::size_t room = TextColumns(terminal) - 4;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool more = i + 1 == shown && shown < lines.size();
    const std::string rest = more ? Cat(" (and ", lines.size() - shown, " more: --verbose)") : "";
    const std::string text =
        CutToWidth(Printable(Cat(label, lines[i])), kFewLines * (room - 8) - rest.size());
    AppendTo(out, Wrap(Cat(text, rest), room, "  "), "\n");
  }
}

// Signals of a GPU are nothing that a job without one lacks.
bool Concerns(const Json& signal, const Json& report) {
  if (TextField(signal, "name") != "gpu_times") return true;
  const Json& ranks = ListField(ObjectField(report, "tables"), "ranks");
  return ranks.empty() || std::any_of(ranks.begin(), ranks.end(), [](const Json& rank) {
           return BoolField(rank, "on_device");
         });
}

std::vector<const Json*> SignalsLacking(const Json& report) {
  std::vector<const Json*> lacking;
  for (const Json& signal : ListField(ObjectField(report, "coverage"), "signals")) {
    if (TextField(signal, "state") != "on" && Concerns(signal, report)) lacking.push_back(&signal);
  }
  return lacking;
}

std::vector<std::string> Untold(const Json& report) {
  std::vector<std::string> lines;
  for (const Json& each : ListField(report, "abstained")) {
    lines.push_back(Cat(TextField(each, "question"), ": it takes ", TextField(each, "missing")));
  }
  return lines;
}

std::vector<std::string> RanksMissing(const Json& report) {
  const auto missing = IntsField(ObjectField(report, "coverage"), "ranks_missing");
  if (missing.empty()) return {};
  return {Cat("no recording of ", missing.size() == 1 ? "rank " : "ranks ", RankList(missing))};
}

std::vector<std::string> Coverage(const Json& report) {
  std::vector<std::string> lines;
  for (const Json* signal : SignalsLacking(report)) {
    lines.push_back(Cat(TextField(*signal, "name"), " ", TextField(*signal, "state"),
                        ", which hides: ", TextField(*signal, "hides")));
  }
  for (const std::string& line : RanksMissing(report)) lines.push_back(line);
  return lines;
}

// As many as fit into one line.
std::string Unseen(const Json& report, const Terminal& terminal) {
  const std::vector<const Json*> lacking = SignalsLacking(report);
  constexpr std::size_t kForRest = 24;  // "; and 3 more: --verbose"
  std::string out;
  std::size_t told = 0;
  for (const Json* signal : lacking) {
    const std::string next =
        Cat(out.empty() ? "Not seen in these files: " : "; ", TextField(*signal, "hides"));
    if (told > 0 && DisplayWidth(out) + DisplayWidth(next) + kForRest > TextColumns(terminal))
      break;
    out += next;
    ++told;
  }
  if (told < lacking.size()) {
    out = Cat(CutToWidth(out, TextColumns(terminal) - kForRest), "; and ", lacking.size() - told,
              " more: --verbose");
  }
  return out.empty() ? "" : Cat(CutToWidth(out, TextColumns(terminal)), "\n");
}

}  // namespace

std::string Gaps(const Json& report, const AnalysisRemarks& remarks, const Terminal& terminal) {
  std::string out;
  AddFew("Not told: ", Untold(report), terminal, &out);
  AddFew("Missing: ", RanksMissing(report), terminal, &out);
  out += Unseen(report, terminal);
  if (const std::string files = FilesInShort(report); !files.empty()) {
    AddFew("Files: ", {files}, terminal, &out);
  }
  AddFew("Note: ", remarks.notes, terminal, &out);
  return out;
}

std::string AllGaps(const Json& report, const AnalysisRemarks& remarks, const Terminal& terminal) {
  std::string out;
  AddList("Not told", Untold(report), terminal, &out);
  AddList("Coverage", Coverage(report), terminal, &out);
  AddList("Clocks", ClockLines(report), terminal, &out);
  AddList("Notes", remarks.notes, terminal, &out);
  AddList("Files", FilesAtLength(report), terminal, &out, kFilesListed);
  AddList("Ignored, no recording", remarks.files_ignored, terminal, &out);
  return out;
}

}  // namespace fathom::cli
