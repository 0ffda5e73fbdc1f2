#include "collector/import/side_files/side_files_importer.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "collector/import/reading/input_file.h"
#include "collector/import/reading/rank_name.h"
#include "collector/import/side_files/side_files.h"

namespace fathom::collector {
namespace {

using side_files::Kind;

bool AddText(Kind kind, const std::string& path, std::string_view text, Recording& recording) {
  if (kind == Kind::kProcesses) return side_files::AddProcesses(text, recording);
  if (kind == Kind::kSockets) return side_files::AddSockets(text, recording);
  const auto rank = RankOfFileName(path);
  if (!rank) return false;
  return kind == Kind::kStack ? side_files::AddStack(text, *rank, recording)
                              : side_files::AddOutput(text, *rank, recording);
}

void AddSignal(const std::set<Kind>& seen, Kind kind, std::string name, std::string hides,
               Recording& recording) {
  using Level = diagnosis::SignalState::Level;
  recording.view.signals.push_back(
      {std::move(name), seen.contains(kind) ? Level::kOn : Level::kOff, std::move(hides)});
}

void AddSignals(const std::set<Kind>& seen, Recording& recording) {
  if (recording.view.records.empty()) return;
  AddSignal(seen, Kind::kProcesses, "process states", "whether a rank is stopped, dead or busy",
            recording);
  AddSignal(seen, Kind::kStack, "stacks", "what a rank that others wait for is doing", recording);
  AddSignal(seen, Kind::kSockets, "transport",
            "which link of a group moves nothing when all are inside an op", recording);
}

}  // namespace

std::string_view SideFilesImporter::format() const { return kSideFiles; }

bool SideFilesImporter::Recognises(std::string_view path, std::string_view head) const {
  return side_files::KindOf(path, head) != Kind::kNone;
}

absl::Status SideFilesImporter::Read(const std::vector<std::string>& paths,
                                     const ImportLimits& limits, Recording& recording) const {
  std::set<Kind> seen;
  for (const std::string& path : paths) {
    const auto text = ReadWhole(path, limits);
    if (!text.ok()) {
      recording.notes.push_back(absl::StrCat(text.status().message(), "; skipped"));
      continue;
    }
    const Kind kind = side_files::KindOf(path, *text);
    if (AddText(kind, path, *text, recording)) {
      seen.insert(kind);
    } else {
      recording.notes.push_back(path + ": skipped, not readable or of no rank of this job");
    }
  }
  AddSignals(seen, recording);
  return absl::OkStatus();
}

}  // namespace fathom::collector
