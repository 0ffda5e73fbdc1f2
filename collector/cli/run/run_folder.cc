#include "collector/cli/run/run_folder.h"
#include "collector/cli/text/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "fathom-run-";
// A folder is younger than its lock file for an instant; leave newborn ones alone.
constexpr std::time_t kNewbornSeconds = 60;

// A locked descriptor of the owner file, or -1 when somebody else holds it.
int Lock(const fs::path& folder, int flags) {
  const int fd =
      open((folder / "owner.lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

bool IsOursAndOld(const fs::path& folder) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         std::time(nullptr) - info.st_mtime > kNewbornSeconds;
}

void Remove(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace

int SweepRunFolders(const fs::path& parent) {
  int removed = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    const fs::path& folder = entry.path();
    if (!folder.filename().string().starts_with(kPrefix) || !IsOursAndOld(folder)) continue;
    const int fd = Lock(folder, O_CREAT);
    if (fd < 0) continue;
    Remove(folder);
    close(fd);
    ++removed;
  }
  return removed;
}

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Make(const fs::path& parent) {
  SweepRunFolders(parent);
  std::string name = (parent / Cat(kPrefix, getpid(), "-XXXXXX")).string();
  const auto failed = [&](const char* what) {
    return absl::UnavailableError(
        Cat("no folder under ", parent.string(), " (", what, "); see `fathom doctor`"));
  };
  if (mkdtemp(name.data()) == nullptr) return failed(std::strerror(errno));
  const int lock = Lock(name, O_CREAT);
  if (lock < 0 || mkdir(Cat(name, "/rings").c_str(), 0700) != 0) {
    const int error = errno;
    Remove(name);
    return failed(std::strerror(error));
  }
  return std::unique_ptr<RunFolder>(new RunFolder(name, lock));
}

RunFolder::~RunFolder() {
  Remove(path_);
  close(lock_);
}

}  // namespace fathom::cli
