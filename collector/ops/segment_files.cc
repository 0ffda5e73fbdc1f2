#include "collector/ops/segment_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/types/recording_format.h"

namespace fathom::collector {
namespace {

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
}

WallNs WrittenLast(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return {};
  return WallNs(std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec);
}

// Whether the file ends with a whole block, by the headers.
bool EndsWhole(const std::string& path, std::uint64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t at = 0;
  std::string header(kRecordingHeaderBytes, '\0');
  while (at < bytes) {
    file.seekg(static_cast<std::streamoff>(at));
    if (!file.read(header.data(), static_cast<std::streamsize>(header.size()))) return false;
    if (!header.starts_with(kRecordingMagic)) return false;
    at += kRecordingHeaderBytes + FromHeader(header).stored;
  }
  return at == bytes;
}

absl::Status WriteAll(int descriptor, const std::string& path, std::string_view bytes) {
  const off_t before = lseek(descriptor, 0, SEEK_END);
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      absl::Status why = Failed(path);
      // What is left of it a reader skips.
      if (before >= 0) [[maybe_unused]]
        const int cut = ftruncate(descriptor, before);
      return why;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

std::string SegmentFiles::FolderOf(const std::string& job) const {
  return absl::StrCat(folder_, "/", FolderNameOf(job));
}

std::string SegmentFiles::WhoFileOf(const std::string& job) const {
  return absl::StrCat(FolderOf(job), "/", std::string(kWhoFile));
}

absl::Status SegmentFiles::Open() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot keep ops in ", folder_, ": ", error.message()));
  }
  chmod(folder_.c_str(), 0700);
  auto lock = FileLock::Take(absl::StrCat(folder_, "/store"));
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);
  for (const std::string& job : JobsIn(folder_)) Learn(job);
  return absl::OkStatus();
}

void SegmentFiles::Learn(const std::string& job) {
  const std::vector<SegmentFile> found = SegmentsIn(FolderOf(job));
  for (const SegmentFile& file : found) {
    segments_.emplace(file.begin.ns, Segment{job, file.path, file.bytes, WrittenLast(file.path)});
    counters_.bytes += file.bytes;
    ++counters_.segments;
    ++held_[job].segments;
  }
  if (found.empty()) return;
  std::error_code error;
  const auto who = std::filesystem::file_size(WhoFileOf(job), error);
  if (!error) counters_.bytes += held_[job].who_bytes = who;
  if (!EndsWhole(found.back().path, found.back().bytes)) ++counters_.torn;
}

SegmentFiles::Segments::iterator SegmentFiles::Open(const std::string& job, WallNs begin) {
  const std::string path = absl::StrCat(FolderOf(job), "/", SegmentName(begin));
  const auto at = segments_.emplace(begin.ns, Segment{job, path, 0, begin});
  ++counters_.segments;
  ++held_[job].segments;
  open_[job] = at;
  return at;
}

absl::Status SegmentFiles::Append(const std::string& job, WallNs begin, WallNs now,
                                  std::string_view block) {
  const auto open = open_.find(job);
  const bool full = open == open_.end() || open->second->second.bytes >= bounds_.segment_bytes;
  const auto segment = full ? Open(job, begin) : open->second;
  if (absl::Status written = Write(job, segment->second.path, block); !written.ok()) return written;
  segment->second.bytes += block.size();
  segment->second.end = now;
  counters_.bytes += block.size();
  return absl::OkStatus();
}

absl::Status SegmentFiles::AppendWho(const std::string& job, std::string_view block) {
  if (absl::Status written = Write(job, WhoFileOf(job), block); !written.ok()) return written;
  held_[job].who_bytes += block.size();
  counters_.bytes += block.size();
  return absl::OkStatus();
}

absl::Status SegmentFiles::Write(const std::string& job, const std::string& path,
                                 std::string_view block) {
  const std::string folder = FolderOf(job);
  mkdir(folder.c_str(), 0700);
  if (access(path.c_str(), F_OK) != 0) unsynced_.insert({folder, folder_});
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    ++counters_.write_errors;
    return Failed(path);
  }
  absl::Status written = WriteAll(descriptor, path, block);
  close(descriptor);
  if (!written.ok()) ++counters_.write_errors;
  unsynced_.insert(path);
  return written;
}

absl::Status SegmentFiles::Sync() {
  absl::Status first;
  for (const std::string& path : std::exchange(unsynced_, {})) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;  // whoever removed it wants it no more
    if (fsync(descriptor) != 0) {
      ++counters_.write_errors;
      if (first.ok()) first = Failed(path);
    }
    close(descriptor);
  }
  return first;
}

void SegmentFiles::LetGo(WallNs now) {
  for (auto at = segments_.begin(); at != segments_.end();) {
    const auto next = std::next(at);
    const auto open = open_.find(at->second.job);
    const bool old = now - at->second.end > bounds_.max_age;
    const bool writing = open != open_.end() && open->second == at;
    const bool many = counters_.bytes > bounds_.max_bytes;
    if (old || (many && !writing)) Remove(at);
    at = next;
  }
}

void SegmentFiles::Remove(Segments::iterator segment) {
  const std::string job = segment->second.job;
  unlink(segment->second.path.c_str());
  counters_.bytes -= segment->second.bytes;
  --counters_.segments;
  ++counters_.let_go;
  if (const auto open = open_.find(job); open != open_.end() && open->second == segment) {
    open_.erase(open);
  }
  segments_.erase(segment);
  if (--held_[job].segments > 0) return;
  counters_.bytes -= held_[job].who_bytes;
  held_.erase(job);
  unlink(WhoFileOf(job).c_str());
  rmdir(FolderOf(job).c_str());
}

}  // namespace fathom::collector
