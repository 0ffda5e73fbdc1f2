#include "collector/store/database/file_lock.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fathom::collector {

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(const std::string& file) {
  const std::string name = file + ".lock";
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return absl::UnavailableError(absl::StrCat(name, ": ", std::strerror(errno)));
  std::unique_ptr<FileLock> lock(new FileLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) {
    return absl::UnavailableError(absl::StrCat(name, ": ", std::strerror(errno)));
  }
  return absl::UnavailableError(absl::StrCat(file, ": another collector writes it"));
}

FileLock::~FileLock() { close(fd_); }

}  // namespace fathom::collector
