#include "daemon/agent/source/ring/ring_directory.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "absl/strings/str_cat.h"

namespace fathom::agent {

bool ParseRingName(std::string_view name, std::uint32_t& pid, std::uint32_t& generation) {
  constexpr std::string_view kSuffix = ".ring";
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const char* end = name.data() + name.size();
  const auto first = std::from_chars(name.data(), end, pid);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-' || pid == 0) return false;
  const auto second = std::from_chars(first.ptr + 1, end, generation);
  return second.ec == std::errc() && second.ptr == end;
}

RingDirectory::RingDirectory(std::string folder, std::size_t max_rings)
    : folder_(std::move(folder)), max_rings_(max_rings) {}

ScanResult RingDirectory::Scan() {
  ScanResult result;
  std::vector<std::string> names;
  result.folder_ok = List(names);
  const std::set<std::string> present(names.begin(), names.end());
  Forget(present, result);
  for (const std::string& name : names) {
    if (open_.contains(name)) continue;
    if (open_.size() >= max_rings_) {
      ++result.over_limit;
    } else {
      Try(name, result);
    }
  }
  over_limit_ = result.over_limit;
  return result;
}

bool RingDirectory::List(std::vector<std::string>& names) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder_.c_str()), &closedir);
  if (dir == nullptr) return false;
  std::uint32_t pid = 0;
  std::uint32_t generation = 0;
  while (const dirent* entry = readdir(dir.get())) {
    if (ParseRingName(entry->d_name, pid, generation)) names.emplace_back(entry->d_name);
  }
  return true;
}

void RingDirectory::Try(const std::string& name, ScanResult& result) {
  if (const auto it = refused_.find(name); it != refused_.end() && it->second == StampOf(name)) {
    return;
  }
  const FileStamp stamp = StampOf(name);
  absl::StatusOr<RegionReader> region = RegionReader::Open(absl::StrCat(folder_, "/", name));
  if (absl::IsUnavailable(region.status()) || absl::IsNotFound(region.status())) return;
  if (absl::IsResourceExhausted(region.status())) {
    ++result.over_limit;
    return;
  }
  std::uint32_t pid = 0;
  std::uint32_t generation = 0;
  ParseRingName(name, pid, generation);
  if (region.ok() &&
      (region->identity().pid != pid || region->identity().generation != generation)) {
    region = absl::InvalidArgumentError("region header: pid or generation is not the file name's");
  }
  if (!region.ok()) {
    if (refused_.insert_or_assign(name, stamp).second) ++rejected_total_;
    result.rejected.push_back({name, std::string(region.status().message())});
    return;
  }
  refused_.erase(name);
  open_.insert(name);
  result.opened.push_back({name, *std::move(region)});
}

void RingDirectory::Forget(const std::set<std::string>& present, ScanResult& result) {
  std::erase_if(refused_, [&](const auto& entry) { return !present.contains(entry.first); });
  for (const std::string& name : open_) {
    if (!present.contains(name)) result.vanished.push_back(name);
  }
}

RingDirectory::FileStamp RingDirectory::StampOf(const std::string& name) const {
  struct stat info {};
  if (lstat(absl::StrCat(folder_, "/", name).c_str(), &info) != 0) return {-1, -1};
  return {info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

void RingDirectory::Close(const std::string& name, bool remove) {
  open_.erase(name);
  if (remove) unlink(absl::StrCat(folder_, "/", name).c_str());
}

RingCensus RingDirectory::census() const {
  return {.rejected_total = rejected_total_, .open = open_.size(), .over_limit = over_limit_};
}

absl::Status MakeRingFolder(const std::string& folder, bool shared) {
  if (mkdir(folder.c_str(), 0700) == 0) {
    // chmod, because mkdir's mode is cut by the umask and cannot set the sticky bit.
    if (shared && chmod(folder.c_str(), 01777) != 0) return absl::ErrnoToStatus(errno, folder);
    return absl::OkStatus();
  }
  struct stat info {};
  if (errno == EEXIST && stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno == 0 ? ENOTDIR : errno, absl::StrCat("ring folder ", folder));
}

}  // namespace fathom::agent
