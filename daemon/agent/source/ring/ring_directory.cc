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

RingDirectory::RingDirectory(std::string folder, std::size_t max_rings, std::string processes)
    : folder_(std::move(folder)), max_rings_(max_rings), processes_(std::move(processes)) {}

ScanResult RingDirectory::Scan() {
  ScanResult result;
  std::vector<std::string> names;
  result.folder_ok = List(names);
  const std::set<std::string> present(names.begin(), names.end());
  Forget(present, result);
  for (const std::string& name : names) {
    if (open_.contains(name)) continue;
    if (open_.size() >= max_rings_ || UserHasEnough(name)) {
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

bool RingDirectory::UserHasEnough(const std::string& name) const {
  struct stat info {};
  if (lstat(absl::StrCat(folder_, "/", name).c_str(), &info) != 0) return false;
  if (info.st_uid == 0 || info.st_uid == geteuid()) return false;
  const auto at = of_user_.find(info.st_uid);
  return at != of_user_.end() && at->second.size() >= max_rings_ - max_rings_ / 4;
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
  const bool named = ParseRingName(name, pid, generation);
  if (region.ok() &&
      (!named || region->identity().pid != pid || region->identity().generation != generation)) {
    region = absl::InvalidArgumentError("region header: pid or generation is not the file name's");
  }
  if (region.ok()) {
    if (absl::Status owner = CheckOwner(*region); !owner.ok()) region = std::move(owner);
  }
  if (!region.ok()) {
    if (refused_.insert_or_assign(name, stamp).second) ++rejected_total_;
    result.rejected.push_back({name, std::string(region.status().message())});
    return;
  }
  refused_.erase(name);
  open_.insert(name);
  of_user_[region->owner()].insert(name);
  result.opened.push_back({name, *std::move(region)});
}

absl::Status RingDirectory::CheckOwner(const RegionReader& region) const {
  if (region.owner() == 0 || region.owner() == geteuid()) return absl::OkStatus();
  const std::uint32_t pid = region.identity().pid;
  struct stat process {};
  if (stat(absl::StrCat(processes_, "/", pid).c_str(), &process) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("process ", pid, " is gone, so that nobody can tell whether user ",
                     region.owner(), " may speak for it"));
  }
  if (process.st_uid == region.owner()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("user ", region.owner(),
                                                  " put it there for process ", pid,
                                                  ", which is user ", process.st_uid, "'s"));
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
  for (auto& [user, names] : of_user_) names.erase(name);
  std::erase_if(of_user_, [](const auto& entry) { return entry.second.empty(); });
  if (remove) unlink(absl::StrCat(folder_, "/", name).c_str());
}

RingCensus RingDirectory::census() const {
  return {.rejected_total = rejected_total_, .open = open_.size(), .over_limit = over_limit_};
}

namespace {

absl::Status CheckFolder(const std::string& folder) {
  struct stat info {};
  const auto refused = [&](const std::string& why) {
    return absl::FailedPreconditionError(absl::StrCat("ring folder ", folder, ": ", why));
  };
  if (lstat(folder.c_str(), &info) != 0) return absl::ErrnoToStatus(errno, folder);
  if (!S_ISDIR(info.st_mode)) return refused("it is no folder; remove it");
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return refused(absl::StrCat("it is user ", info.st_uid, "'s; remove it, or choose another"));
  }
  const bool others_write = (info.st_mode & 0022) != 0;
  if (others_write && (info.st_mode & S_ISVTX) == 0) {
    return refused("others may take files out of it; chmod 1777 or 0700");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeRingFolder(const std::string& folder, bool shared) {
  if (mkdir(folder.c_str(), 0700) == 0) {
    // chmod, because mkdir's mode is cut by the umask and cannot set the sticky bit.
    if (shared && chmod(folder.c_str(), 01777) != 0) return absl::ErrnoToStatus(errno, folder);
    return absl::OkStatus();
  }
  if (errno != EEXIST) return absl::ErrnoToStatus(errno, absl::StrCat("ring folder ", folder));
  return CheckFolder(folder);
}

}  // namespace fathom::agent
