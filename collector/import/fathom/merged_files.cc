#include "collector/import/fathom/merged_files.h"

#include "absl/strings/str_cat.h"

namespace fathom::collector {
namespace {

bool TellsWho(const v1::AgentMessage& message) {
  return message.has_hello() || message.has_rank() || message.has_group() || message.has_facts() ||
         message.has_gone();
}

}  // namespace

MergedFiles::MergedFiles(const std::vector<std::string>& paths, const ImportLimits& limits,
                         std::vector<std::string>& notes)
    : from_(limits.from), to_(limits.to), notes_(notes) {
  for (const std::string& path : paths) {
    auto file = RecordingFile::Open(path, limits);
    if (file.ok()) {
      files_.push_back(*std::move(file));
      next_.push_back(nullptr);
      Advance(files_.size() - 1);
    } else {
      notes_.push_back(absl::StrCat(file.status().message(), "; skipped"));
    }
  }
}

MergedFiles::~MergedFiles() {
  for (const RecordingFile& file : files_) {
    notes_.insert(notes_.end(), file.notes().begin(), file.notes().end());
  }
}

void MergedFiles::Pop() {
  const std::size_t taken = file();
  queue_.pop();
  Advance(taken);
}

bool MergedFiles::Wanted(const v1::RecordingEntry& entry) const {
  return !from_.known() || entry.wall_ns() >= from_.ns || TellsWho(entry.message());
}

void MergedFiles::Advance(std::size_t file) {
  while (true) {
    const auto entry = files_[file].Next();
    if (!entry.ok()) {
      notes_.push_back(absl::StrCat(entry.status().message(), "; the rest is left out"));
      return;
    }
    if (*entry == nullptr) return;
    if (to_.known() && (*entry)->wall_ns() > to_.ns) return;
    if (!Wanted(**entry)) continue;
    next_[file] = *entry;
    queue_.emplace((*entry)->wall_ns(), file);
    return;
  }
}

}  // namespace fathom::collector
