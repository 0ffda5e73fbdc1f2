#include "collector/cli/report/files_taken.h"

#include <algorithm>

#include "collector/cli/render/verdict_view.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

struct Taken {
  std::string format;
  std::size_t files = 0;
  std::vector<std::int64_t> ranks;
};

struct Counts {
  std::vector<Taken> formats;  // in order of the first file
  std::size_t left_out = 0;
  std::size_t ignored = 0;
};

Taken& TakenAs(const std::string& format, std::vector<Taken>& formats) {
  const auto at = std::find_if(formats.begin(), formats.end(),
                               [&](const Taken& taken) { return taken.format == format; });
  if (at != formats.end()) return *at;
  formats.push_back({format, 0, {}});
  return formats.back();
}

const Json& FilesOf(const Json& report) {
  return ListField(ObjectField(report, "coverage"), "files");
}

Counts CountsOf(const Json& report) {
  Counts counts;
  for (const Json& file : FilesOf(report)) {
    const std::string format = TextField(file, "format");
    if (!TextField(file, "left_out").empty()) {
      ++counts.left_out;
    } else if (format.empty()) {
      ++counts.ignored;
    } else {
      Taken& taken = TakenAs(format, counts.formats);
      ++taken.files;
      const std::vector<std::int64_t> ranks = IntsField(file, "ranks");
      taken.ranks.insert(taken.ranks.end(), ranks.begin(), ranks.end());
    }
  }
  return counts;
}

// What lies beside recordings is no format that can be mixed with another.
std::size_t Recordings(const Counts& counts) {
  return static_cast<std::size_t>(
      std::count_if(counts.formats.begin(), counts.formats.end(),
                    [](const Taken& taken) { return taken.format != "side-files"; }));
}

std::string InWords(const Taken& taken) {
  return Cat(taken.files, " ", taken.format,
             taken.ranks.empty() ? "" : Cat(" (", RankNames(taken.ranks), ")"));
}

}  // namespace

std::string FilesInShort(const Json& report) {
  const Counts counts = CountsOf(report);
  if (Recordings(counts) < 2 && counts.left_out == 0) return {};
  std::vector<std::string> words;
  for (const Taken& taken : counts.formats) words.push_back(InWords(taken));
  if (counts.left_out > 0) words.push_back(Cat(counts.left_out, " left out"));
  if (counts.ignored > 0) words.push_back(Cat(counts.ignored, " ignored"));
  return Join(words, ", ");
}

std::vector<std::string> FilesAtLength(const Json& report) {
  std::vector<std::string> lines;
  for (const Json& file : FilesOf(report)) {
    const std::string format = TextField(file, "format");
    const std::string left_out = TextField(file, "left_out");
    const std::vector<std::int64_t> ranks = IntsField(file, "ranks");
    if (format.empty() && left_out.empty()) continue;
    std::vector<std::string> words;
    if (!format.empty()) words.push_back(format);
    if (!ranks.empty()) words.push_back(RankNames(ranks));
    std::string line = Cat(TextField(file, "path"), ": ", Join(words, ", "));
    if (!left_out.empty()) AppendTo(&line, words.empty() ? "" : "; ", "left out: ", left_out);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace fathom::cli
