#include "daemon/service/agent_socket.h"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fathom::service {
namespace {

constexpr const char* kRootsFolder = "/run/fathom";

std::string Folder(const char* variable, const char* below) {
  const char* set = std::getenv(variable);
  if (set == nullptr || *set != '/') return "";
  const std::string text = set;  // systemd's may name several
  return absl::StrCat(text.substr(0, text.find(':')), below);
}

// A connection that does not wait: a listener that takes nobody is as good as none.
int Connect(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  path.copy(to.sun_path, kLongestSocketPath);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

absl::StatusOr<SocketPeer> PeerOfSocket(int fd) {
  ucred told{};
  socklen_t length = sizeof told;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &told, &length) != 0) {
    return absl::ErrnoToStatus(errno, "the kernel does not tell whose process this is");
  }
  return SocketPeer{told.uid, told.pid};
}

std::string AgentSocketName(int port) {
  struct stat space {};
  if (stat("/proc/self/ns/net", &space) != 0) space.st_ino = 0;
  return absl::StrCat("agents-", space.st_ino, "-", port, ".sock");
}

std::string AgentSocketFolder() {
  if (std::string of_service = Folder("RUNTIME_DIRECTORY", ""); !of_service.empty()) {
    return of_service;
  }
  return geteuid() == 0 ? kRootsFolder : Folder("XDG_RUNTIME_DIR", "/fathom");
}

std::vector<std::string> AgentSocketFolders() {
  std::vector<std::string> all;
  if (geteuid() != 0) all.push_back(Folder("XDG_RUNTIME_DIR", "/fathom"));
  all.emplace_back(kRootsFolder);
  return all;
}

absl::Status CheckSocketFolder(const std::string& folder, uid_t also) {
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::NotFoundError(absl::StrCat(folder, " is no folder"));
  }
  if (info.st_uid != 0 && info.st_uid != geteuid() && info.st_uid != also) {
    return absl::PermissionDeniedError(
        absl::StrCat(folder, " belongs to user ", info.st_uid, ", who may put anything there"));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("others than its owner may write in ", folder, "; chmod go-w it"));
}

absl::Status CheckAgentSocket(const std::string& path) {
  struct stat info {};
  if (path.size() > kLongestSocketPath || lstat(path.c_str(), &info) != 0 ||
      !S_ISSOCK(info.st_mode)) {
    return absl::NotFoundError(absl::StrCat("there is no socket ", path));
  }
  const int fd = Connect(path);
  if (fd < 0) {
    const char* why = std::strerror(errno);
    return absl::UnavailableError(absl::StrCat("nobody answers at ", path, " (", why, ")"));
  }
  const absl::StatusOr<SocketPeer> listens = PeerOfSocket(fd);
  close(fd);
  if (!listens.ok()) return listens.status();
  return CheckSocketFolder(path.substr(0, path.rfind('/')), listens->user);
}

}  // namespace fathom::service
