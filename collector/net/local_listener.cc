#include "collector/net/local_listener.h"

#include <absl/strings/str_cat.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "daemon/service/agent_socket.h"

namespace fathom::collector {
namespace {

constexpr int kBacklog = 4096;
constexpr const char* kNewName = ".new";  // until it listens

absl::Status Failed(const std::string& path, const char* why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", path, " for agents: ", why,
                                             "; choose another path with --agent-socket"));
}

absl::Status PrepareFolder(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return Failed(path, strerror(errno));
  if (auto status = service::CheckSocketFolder(folder, geteuid()); !status.ok()) {
    return Failed(path, std::string(status.message()).c_str());
  }
  const absl::Status theirs = service::CheckAgentSocket(path);
  if (theirs.ok()) return Failed(path, "another process listens there");
  struct stat info {};
  const bool there = lstat(path.c_str(), &info) == 0;
  if (there && !S_ISSOCK(info.st_mode)) return Failed(path, "it is no socket");
  return absl::OkStatus();
}

// Bound, with its mode, and listening; -1 and errno.
int Listen(const std::string& path, mode_t mode) {
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  path.copy(own.sun_path, service::kLongestSocketPath);
  unlink(path.c_str());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
      chmod(path.c_str(), mode) == 0 && listen(fd, kBacklog) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  unlink(path.c_str());
  errno = error;
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalListener>> LocalListener::Open(const std::string& path,
                                                                   bool everybody) {
  const std::string before = absl::StrCat(path, kNewName);
  if (path.empty() || path[0] != '/' || before.size() > service::kLongestSocketPath) {
    return Failed(path, "no absolute path, or one that is too long");
  }
  if (auto status = PrepareFolder(path); !status.ok()) return status;
  const int fd = Listen(before, everybody ? 0666 : 0600);
  if (fd < 0) return Failed(path, strerror(errno));
  struct stat info {};
  if (stat(before.c_str(), &info) != 0 || rename(before.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(before.c_str());
    close(fd);
    return Failed(path, strerror(error));
  }
  return std::unique_ptr<LocalListener>(new LocalListener(path, fd, info.st_ino));
}

LocalListener::~LocalListener() {
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0 && info.st_ino == file_) unlink(path_.c_str());
  close(fd_);
}

}  // namespace fathom::collector
