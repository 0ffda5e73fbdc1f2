#include "collector/import/nccl/nccl_files.h"

#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/nccl/job_builder.h"
#include "collector/import/reading/input_file.h"

namespace fathom::collector::nccl {
namespace {

absl::StatusOr<FileRecord> ReadOne(const std::string& path, const ImportLimits& limits,
                                   const ReadFileRecord& read) {
  auto file = InputFile::Open(path, limits);
  if (!file.ok()) return file.status();
  auto record =
      read([&](char* to, std::size_t size) { return file->Read(to, size); }, limits.table_rows);
  if (!record.ok()) return record.status();
  for (CommPart& part : record->parts) part.path = path;
  return record;
}

void NoteDefects(const std::string& path, const FileRecord& record, Recording& recording) {
  if (record.skipped > 0) {
    recording.notes.push_back(absl::StrCat(path, ": ", record.skipped,
                                           " objects make no sense and were skipped, the first at "
                                           "byte ",
                                           record.first_skipped_at));
  }
  if (record.cut) recording.notes.push_back(path + ": ends early; read as far as it goes");
}

// The parts of ranks within the limit.
void Keep(FileRecord record, const ImportLimits& limits, Recording& recording,
          std::vector<CommPart>& parts) {
  for (CommPart& part : record.parts) {
    if (part.rank < limits.ranks && part.size <= limits.ranks) {
      parts.push_back(std::move(part));
    } else {
      recording.notes.push_back(absl::StrCat(part.path, ": communicator ", part.comm,
                                             " left out: more than ", limits.ranks, " ranks"));
    }
  }
}

}  // namespace

absl::Status ReadFiles(const std::vector<std::string>& paths, const ImportLimits& limits,
                       const ReadFileRecord& read, std::string_view how_to_time,
                       Recording& recording) {
  std::vector<CommPart> parts;
  bool cut = false;
  for (const std::string& path : paths) {
    auto record = ReadOne(path, limits, read);
    if (absl::IsCancelled(record.status())) return record.status();
    if (!record.ok()) {
      recording.notes.push_back(absl::StrCat(path, ": left out: ", record.status().message()));
      TellLeftOut(path, std::string(record.status().message()), recording);
      continue;
    }
    NoteDefects(path, *record, recording);
    cut = cut || record->cut;
    Keep(*std::move(record), limits, recording, parts);
  }
  std::erase_if(parts, [](const CommPart& part) { return part.ops.empty(); });
  if (parts.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(paths.front(),
                                                   ": no whole op of any communicator",
                                                   cut ? ": it ends inside the first" : ""));
  }
  return BuildJob(std::move(parts), how_to_time, recording);
}

}  // namespace fathom::collector::nccl
