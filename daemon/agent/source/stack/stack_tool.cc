#include "daemon/agent/source/stack/stack_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

extern char** environ;

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kDeadline{10};
constexpr int kPollMs = 100;
constexpr std::size_t kMaxOutput = 1 << 18;

// A child whose output and errors come through one pipe; killed with its owner.
class Child {
 public:
  Child(const std::string& program, const std::string& pid) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const char* arguments[] = {program.c_str(), "dump",      "--nonblocking",
                               "--pid",         pid.c_str(), nullptr};
    error_ = posix_spawnp(&pid_, program.c_str(), &actions, nullptr,
                          const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (output_ >= 0) close(output_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  bool started() const { return output_ >= 0 && error_ == 0; }
  int error() const { return error_; }
  int output() const { return output_; }
  // Its wait status, once its output has ended.
  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int error_ = EIO;
};

}  // namespace

absl::StatusOr<std::string> DumpPythonStack(const std::string& program, std::uint32_t pid,
                                            const std::atomic<bool>& stop) {
  Child child(program, std::to_string(pid));
  if (!child.started()) return absl::ErrnoToStatus(child.error(), program);
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  std::string text;
  std::array<char, 4096> buffer;
  while (!stop.load() && std::chrono::steady_clock::now() < deadline) {
    pollfd readable{child.output(), POLLIN, 0};
    if (poll(&readable, 1, kPollMs) <= 0) continue;
    const ssize_t n = read(child.output(), buffer.data(), buffer.size());
    if (n > 0) {
      if (text.size() < kMaxOutput) text.append(buffer.data(), static_cast<std::size_t>(n));
      continue;
    }
    return child.Wait() == 0 ? absl::StatusOr<std::string>(text)
                             : absl::InternalError(text.empty() ? "it failed" : text);
  }
  return absl::DeadlineExceededError("it did not answer in time");
}

}  // namespace fathom::agent
