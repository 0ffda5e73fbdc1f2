#include "daemon/agent/source/stack/inside_stack.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/agent/source/stack/stack_text.h"

namespace fathom::agent {
namespace {

constexpr int kPollMs = 100;
constexpr std::size_t kMaxAnswer = 1 << 15;
constexpr std::string_view kHeld = "held ";

absl::StatusOr<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::NotFoundError(absl::StrCat(path, " is too long for a socket"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// A socket of ours with a file in the folder, so that a process in another network namespace finds
// it, too.
class Asker {
 public:
  explicit Asker(const std::string& folder) {
    path_ = absl::StrCat(folder, "/", getpid(), "-", gettid(), ".asks");
    const auto address = AddressOf(path_);
    if (!address.ok()) return;
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    unlink(path_.c_str());
    bound_ = fd_ >= 0 && setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0 &&
             bind(fd_, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0 &&
             chmod(path_.c_str(), 0666) == 0;  // the process may be another user's
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;
  ~Asker() {
    if (fd_ >= 0) close(fd_);
    if (bound_) unlink(path_.c_str());
  }

  bool bound() const { return bound_; }
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_ = -1;
  bool bound_ = false;
};

absl::Status Send(int fd, const std::string& to) {
  struct stat info {};
  if (lstat(to.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) {
    return absl::NotFoundError("the job runs without FATHOM_INSIDE_STACKS=1");
  }
  const auto address = AddressOf(to);
  if (!address.ok()) return address.status();
  const char question = '?';
  if (sendto(fd, &question, 1, 0, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) ==
      1) {
    return absl::OkStatus();
  }
  if (errno == ECONNREFUSED || errno == ENOENT) return absl::NotFoundError("nobody listens there");
  if (errno == EAGAIN) return absl::DeadlineExceededError("earlier questions are not answered yet");
  return absl::ErrnoToStatus(errno, to);
}

// The next datagram, if the kernel says that `pid` sent it.
std::optional<std::string> Receive(int fd, std::uint32_t pid) {
  std::string text(kMaxAnswer, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> extra{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = extra.data();
  message.msg_controllen = extra.size();
  const ssize_t bytes = recvmsg(fd, &message, 0);
  if (bytes < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(bytes));
  const cmsghdr* first = CMSG_FIRSTHDR(&message);
  if (first == nullptr || first->cmsg_type != SCM_CREDENTIALS) return std::nullopt;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(first), sizeof(sender));
  if (sender.pid != static_cast<pid_t>(pid)) return std::nullopt;
  return text;
}

}  // namespace

std::string InsideSocket(std::string_view folder, std::uint32_t pid) {
  return absl::StrCat(std::string(folder), "/", pid, ".stacks");
}

absl::StatusOr<StackReading> ParseAnswer(std::string_view answer, std::uint32_t pid) {
  const std::size_t end = answer.find('\n');
  std::int64_t held_ns = 0;
  if (!answer.starts_with(kHeld) || end == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(answer.substr(kHeld.size(), end - kHeld.size())), &held_ns) ||
      held_ns < 0) {
    return absl::DataLossError("its answer does not begin with the time it held the lock");
  }
  StackReading out{ParseStack(answer.substr(end + 1), pid), "in-process", Nanos(held_ns)};
  if (out.frames.empty()) return absl::DataLossError("its answer has no frame");
  return out;
}

absl::StatusOr<StackReading> AskInside(const std::string& folder, std::uint32_t pid,
                                       const std::atomic<bool>& stop) {
  const Asker asker(folder);
  if (!asker.bound()) return absl::InternalError(absl::StrCat("no socket can be made in ", folder));
  if (absl::Status sent = Send(asker.fd(), InsideSocket(folder, pid)); !sent.ok()) return sent;
  for (int waited = 0; waited < kAnswerMs && !stop.load(); waited += kPollMs) {
    pollfd ready{asker.fd(), POLLIN, 0};
    if (poll(&ready, 1, kPollMs) <= 0) continue;
    if (const auto text = Receive(asker.fd(), pid)) return ParseAnswer(*text, pid);
  }
  return absl::DeadlineExceededError(
      "it does not answer: a thread of it keeps Python's lock, or it is stopped");
}

}  // namespace fathom::agent
