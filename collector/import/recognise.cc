#include "collector/import/recognise.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/import/archive/unpacked_archive.h"
#include "collector/import/clocks.h"
#include "collector/import/ended_recordings.h"
#include "collector/import/reading/input_file.h"
#include "collector/import/reading/two_jobs.h"
#include "collector/import/side_files/side_files_importer.h"

namespace fathom::collector {
namespace {

namespace fs = std::filesystem;

absl::Status AddFolder(const std::string& folder, const ImportLimits& limits,
                       std::vector<std::string>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() >= kFolderDepth) at.disable_recursion_pending();
    std::error_code type_error;
    if (!at->is_regular_file(type_error) || type_error) continue;
    if (files.size() >= limits.files) {
      return absl::ResourceExhaustedError(
          absl::StrCat(folder, ": more than ", limits.files, " files; name the folder of one job"));
    }
    files.push_back(at->path().string());
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": ", error.message()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths,
                                                   const ImportLimits& limits) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return absl::NotFoundError(path + ": no such file or folder");
    if (fs::is_directory(status)) {
      if (absl::Status added = AddFolder(path, limits, files); !added.ok()) return added;
    } else if (fs::is_regular_file(status)) {
      files.push_back(path);
    } else {
      return absl::InvalidArgumentError(path + ": neither a file nor a folder");
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

// What belongs to a job but is no recording by itself.
bool IsAccessory(const Importer& importer) { return importer.format() == kSideFiles; }

bool Asked(const Importer& importer, std::string_view format) {
  return format == "auto" || importer.format() == format || IsAccessory(importer);
}

// Name of the job: that of its archive, or the folder that holds its files, past folders that name
// only a format.
std::string JobName(const std::string& path) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(path, error);
  if (error) at = path;
  for (const std::string_view end : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".zip"}) {
    const std::string name = at.filename().string();
    if (name.size() > end.size() && name.ends_with(end)) {
      return name.substr(0, name.size() - end.size());
    }
  }
  if (!fs::is_directory(at, error)) at = at.parent_path();
  for (const std::string_view plain : {"flight_recorder", "kineto", "stacks", "errors"}) {
    if (at.filename() == plain) at = at.parent_path();
  }
  return at.filename().string();
}

// What to look for, in the words of those who made the files.
constexpr char kKnownInWords[] =
    "traces of PyTorch's profiler (.json, .json.gz), Flight Recorder dumps, NDTimeline (.parquet), "
    "NCCL Inspector and NCCL profiler files, recordings of `fathom run --record`; folders and "
    "archives (.tar, .zip) of them";

std::string KnownFormats() {
  std::vector<std::string> names;
  for (const Importer* importer : Importers()) {
    if (!IsAccessory(*importer)) names.emplace_back(importer->format());
  }
  return absl::StrJoin(names, ", ");
}

absl::Status CheckFormat(std::string_view format) {
  if (format == "auto") return absl::OkStatus();
  for (const Importer* importer : Importers()) {
    if (importer->format() == format) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no format '", std::string(format), "'; known are auto, ", KnownFormats()));
}

using Archives = std::vector<std::unique_ptr<UnpackedArchive>>;

// Puts what archives hold in their place.
absl::Status OpenArchives(std::vector<std::string>& files, const ImportLimits& limits,
                          Recording& recording, Archives& archives) {
  std::vector<std::string> out;
  for (std::string& file : files) {
    const auto head = ReadHead(file, limits);
    if (!head.ok() || !IsArchive(*head)) {
      out.push_back(std::move(file));
      continue;
    }
    auto archive = UnpackedArchive::Unpack(file, limits);
    if (absl::IsInvalidArgument(archive.status())) {  // looks like one, is none
      recording.notes.push_back(absl::StrCat(archive.status().message(), "; left out"));
      continue;
    }
    if (!archive.ok()) return archive.status();
    out.insert(out.end(), (*archive)->files().begin(), (*archive)->files().end());
    recording.notes.insert(recording.notes.end(), (*archive)->notes().begin(),
                           (*archive)->notes().end());
    archives.push_back(*std::move(archive));
  }
  files = std::move(out);
  return absl::OkStatus();
}

// People know the archive, not the folder it was unpacked in.
void ShowArchives(const Archives& archives, Recording& recording) {
  for (const auto& archive : archives) {
    for (std::string& note : recording.notes) note = archive->Shown(note);
    for (FileUse& file : recording.files) {
      file.path = archive->Shown(file.path);
      file.left_out = archive->Shown(file.left_out);
    }
  }
}

// Why there is nothing to read in what the user named.
absl::Status NothingToRead(const std::string& named, const std::vector<std::string>& files,
                           std::string_view format) {
  const std::string wanted = format == "auto" ? kKnownInWords : std::string(format);
  std::error_code error;
  const bool folder = files.size() != 1 || files.front() != named;
  std::string found = absl::StrCat(named, ": ");
  if (files.empty()) {
    found += "no file in it";
  } else if (std::all_of(files.begin(), files.end(), [&](const std::string& file) {
               return fs::file_size(file, error) == 0;
             })) {
    found += folder ? "its files are empty (0 bytes)" : "empty (0 bytes)";
  } else if (folder) {
    absl::StrAppend(&found, "none of ", files.size(), files.size() == 1 ? " file" : " files",
                    " in it is a recording");
  } else {
    found += "no recording";
  }
  return absl::InvalidArgumentError(absl::StrCat(found, "; looked for ", wanted));
}

using Assigned = std::map<const Importer*, std::vector<std::string>>;

Assigned Assign(const std::vector<std::string>& files, std::string_view format,
                const ImportLimits& limits, Recording& recording) {
  Assigned assigned;
  for (const std::string& file : files) {
    const auto head = ReadHead(file, limits);
    if (!head.ok()) {
      recording.notes.push_back(absl::StrCat(head.status().message(), "; skipped"));
      recording.files.push_back({file, "", {}, "cannot be read"});
      continue;
    }
    const auto importers = Importers();
    const auto taker = std::find_if(importers.begin(), importers.end(), [&](const Importer* i) {
      return Asked(*i, format) && i->Recognises(file, *head);
    });
    if (taker == importers.end()) {
      recording.files.push_back({file, "", {}, ""});
      if (head->empty()) recording.notes.push_back(file + ": empty (0 bytes)");
    } else {
      recording.files.push_back({file, std::string((*taker)->format()), {}, ""});
      assigned[*taker].push_back(file);
    }
  }
  std::sort(recording.files.begin(), recording.files.end(),
            [](const FileUse& a, const FileUse& b) { return a.path < b.path; });
  return assigned;
}

// Formats that tell jobs of different sizes were not recorded of one job.
absl::Status CheckOneSize(const std::vector<std::string>& files, const Recording& recording) {
  for (const SizeTold& one : recording.sizes) {
    if (!one.exact) continue;
    for (const SizeTold& two : recording.sizes) {
      if (two.exact ? two.ranks == one.ranks : two.ranks <= one.ranks) continue;
      return TwoJobs(absl::StrCat("the ", one.format, " files are of a job of ", one.ranks,
                                  " ranks, the ", two.format, " files of one of ", two.ranks),
                     one.path, two.path, files);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadFiles(const std::vector<std::string>& files, const std::string& named,
                       std::string_view format, const ImportLimits& limits, Recording& recording) {
  const Assigned assigned = Assign(files, format, limits, recording);
  std::vector<std::string> formats;
  for (const Importer* importer : Importers()) {
    const auto mine = assigned.find(importer);
    if (mine == assigned.end()) continue;
    if (IsAccessory(*importer) && formats.empty()) continue;
    const absl::Status read = importer->Read(mine->second, limits, recording);
    if (!read.ok()) return read;
    if (!IsAccessory(*importer)) formats.emplace_back(importer->format());
  }
  if (formats.empty()) {
    return NothingToRead(named, files, format);
  }
  if (absl::Status one = CheckOneSize(files, recording); !one.ok()) return one;
  recording.source = absl::StrJoin(formats, "+");
  for (const auto& [importer, mine] : assigned) importer->Finish(recording);
  TellClocks(recording);
  TellEndedRecordings(recording);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Recording> ReadRecording(const std::vector<std::string>& paths,
                                        std::string_view format, const ImportLimits& limits) {
  if (absl::Status known = CheckFormat(format); !known.ok()) return known;
  auto files = FindFiles(paths, limits);
  if (!files.ok()) return files.status();
  Recording recording;
  recording.view.name = JobName(paths.front());
  Archives archives;
  if (absl::Status s = OpenArchives(*files, limits, recording, archives); !s.ok()) return s;
  absl::Status read = ReadFiles(*files, paths.front(), format, limits, recording);
  // A file left out because of the interruption is no finding about the file.
  if (limits.stop != nullptr && *limits.stop) read = absl::CancelledError("interrupted");
  ShowArchives(archives, recording);
  for (const auto& archive : archives) {
    if (!read.ok()) return absl::Status(read.code(), archive->Shown(std::string(read.message())));
  }
  if (!read.ok()) return read;
  return recording;
}

}  // namespace fathom::collector
