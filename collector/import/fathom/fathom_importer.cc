#include "collector/import/fathom/fathom_importer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/fathom/merged_files.h"
#include "collector/import/fathom/recording_file.h"
#include "collector/import/fathom/replay.h"
#include "proto/types/recording_format.h"

namespace fathom::collector {
namespace {

// Entries by which copies are known: hello, ranks, groups, and the times of all of them.
constexpr std::size_t kBegin = 64;

// How many entries can be read of the file.
std::size_t Length(const std::string& path, const ImportLimits& limits) {
  ImportLimits uncounted = limits;  // it will be read again
  uncounted.bytes_read = nullptr;
  auto file = RecordingFile::Open(path, uncounted);
  std::size_t entries = 0;
  while (file.ok()) {
    const auto entry = file->Next();
    if (!entry.ok() || *entry == nullptr) break;
    ++entries;
  }
  return entries;
}

// The first entries as text, as many as there are of kBegin.
std::vector<std::string> BeginOf(const std::string& path, const ImportLimits& limits) {
  ImportLimits uncounted = limits;
  uncounted.bytes_read = nullptr;
  auto file = RecordingFile::Open(path, uncounted);
  std::vector<std::string> begin;
  while (file.ok() && begin.size() < kBegin) {
    const auto entry = file->Next();
    if (!entry.ok() || *entry == nullptr) break;
    begin.push_back((*entry)->SerializeAsString());
  }
  return begin;
}

bool SameBegin(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto common = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return common > 0 && std::equal(a.begin(), a.begin() + common, b.begin());
}

// Of copies of one recording, the longest.
std::vector<std::string> WithoutCopies(const std::vector<std::string>& paths,
                                       const ImportLimits& limits, Recording& recording) {
  std::vector<std::string> kept;
  std::multimap<std::string, std::pair<std::vector<std::string>, std::size_t>> places;
  for (const std::string& path : paths) {
    std::vector<std::string> begin = BeginOf(path, limits);
    const std::string first = begin.empty() ? "" : begin.front();
    const auto [from, to] = places.equal_range(first);
    const auto at =
        std::find_if(from, to, [&](const auto& p) { return SameBegin(p.second.first, begin); });
    if (at == to) {
      places.emplace(first, std::pair(std::move(begin), kept.size()));
      kept.push_back(path);
      continue;
    }
    std::string& mine = kept[at->second.second];
    std::string other = path;
    if (Length(other, limits) > Length(mine, limits)) std::swap(other, mine);
    recording.notes.push_back(absl::StrCat(other, ": a copy of ", mine, "; left out"));
    TellLeftOut(other, absl::StrCat("a copy of ", mine), recording);
  }
  return kept;
}

void NoteRest(const std::vector<ReplayedJob>& jobs, std::uint64_t rejected, Recording& recording) {
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    recording.notes.push_back(absl::StrCat("job ", jobs[i].name, " of ", jobs[i].view.ranks.size(),
                                           " ranks is in these files too; left out"));
  }
  if (jobs[0].incarnations > 1) {
    recording.notes.push_back(absl::StrCat("job ", jobs[0].name, " began anew ",
                                           jobs[0].incarnations - 1,
                                           " times; this is its last life"));
  }
  if (jobs[0].forgotten > 0) {
    recording.notes.push_back(absl::StrCat("iterations before ", jobs[0].forgotten,
                                           " are left out of tables and timelines: too many for "
                                           "one view; the verdicts know them"));
  }
  if (rejected > 0) {
    recording.notes.push_back(absl::StrCat(rejected, " messages made no sense and are left out"));
  }
}

}  // namespace

bool FathomImporter::Recognises(std::string_view, std::string_view head) const {
  return head.starts_with(kRecordingMagic);
}

absl::Status FathomImporter::Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                                  Recording& recording) const {
  Replay replay(limits);
  {
    std::set<std::pair<std::size_t, std::string>> refused;
    MergedFiles merged(WithoutCopies(paths, limits, recording), limits, recording.notes);
    while (!merged.empty()) {
      const absl::Status added = replay.Add(merged.file(), merged.entry());
      // In a file of many nodes only what that one said is left out.
      const std::string who = merged.entry().node();
      if (!added.ok() && refused.insert({merged.file(), who}).second) {
        recording.notes.push_back(absl::StrCat(merged.path(), who.empty() ? "" : ": node ", who,
                                               ": left out: ", added.message()));
      }
      added.ok() || !who.empty() ? merged.Pop() : merged.Drop();
    }
  }
  std::vector<ReplayedJob> jobs = replay.Finish();
  if (jobs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        paths.front(), ": no rank of any job was recorded; was the command a distributed job?"));
  }
  NoteRest(jobs, replay.rejected(), recording);
  recording.view = std::move(jobs[0].view);
  recording.episodes = std::move(jobs[0].episodes);
  recording.replayed = true;
  return absl::OkStatus();
}

}  // namespace fathom::collector
