#include "collector/process/command.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

extern char** environ;

namespace fathom::collector {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::size_t kMaxOutput = 16 << 20;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    for (const int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseWriteEnd() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_;
};

// 0 or an errno.
int Spawn(const std::vector<std::string>& argv, const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int error = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// False at the end of the stream, or when there is too much of it.
bool ReadSome(int fd, std::string& text) {
  std::array<char, 65'536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got <= 0 || text.size() > kMaxOutput) return false;
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

// Until both streams end. False: the deadline came first.
bool ReadBoth(const Pipe& out, const Pipe& err, SteadyClock::time_point deadline,
              CommandResult& result) {
  std::array<pollfd, 2> wanted = {pollfd{out.read_end(), POLLIN, 0},
                                  pollfd{err.read_end(), POLLIN, 0}};
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0) return false;
    if (poll(wanted.data(), wanted.size(), static_cast<int>(left)) <= 0) continue;
    if (wanted[0].revents != 0 && !ReadSome(wanted[0].fd, result.output)) wanted[0].fd = -1;
    if (wanted[1].revents != 0 && !ReadSome(wanted[1].fd, result.errors)) wanted[1].fd = -1;
  }
  return true;
}

}  // namespace

absl::StatusOr<CommandResult> RunCommand(const std::vector<std::string>& argv, Nanos limit) {
  Pipe out, err;
  if (out.read_end() < 0 || err.read_end() < 0) {
    return absl::ResourceExhaustedError("no file descriptors left");
  }
  pid_t pid = 0;
  if (const int error = Spawn(argv, out, err, pid); error != 0) {
    return absl::NotFoundError(absl::StrCat(argv[0], ": ", std::strerror(error)));
  }
  out.CloseWriteEnd();
  err.CloseWriteEnd();
  CommandResult result;
  const auto deadline = SteadyClock::now() + std::chrono::nanoseconds(limit.count);
  const bool ended = ReadBoth(out, err, deadline, result);
  if (!ended) kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!ended) {
    return absl::DeadlineExceededError(
        absl::StrCat(argv[0], " did not end within ", limit.Seconds(), " s"));
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace fathom::collector
