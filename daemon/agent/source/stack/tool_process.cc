#include "daemon/agent/source/stack/tool_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

extern char** environ;

namespace fathom::agent {
namespace {

using std::chrono::steady_clock;

// A child whose output and errors come through one pipe; killed with its owner.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    error_ = posix_spawnp(&pid_, arguments.front(), &actions, nullptr, arguments.data(), environ);
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
  void Interrupt() const { kill(pid_, SIGINT); }
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

absl::StatusOr<std::string> RunTool(const ToolPlan& plan, const std::atomic<bool>& stop) {
  Child child(plan.command);
  if (!child.started()) return absl::ErrnoToStatus(child.error(), plan.command.front());
  const auto deadline = steady_clock::now() + plan.patience;
  auto next = steady_clock::now();
  std::string text;
  std::array<char, 4096> buffer;
  bool interrupted = false;
  while (!stop.load() && steady_clock::now() < deadline) {
    if (plan.between && steady_clock::now() >= next) {
      plan.between();
      next = steady_clock::now() + plan.every;
    }
    if (!interrupted && plan.enough && plan.enough()) {
      interrupted = true;
      child.Interrupt();
    }
    pollfd readable{child.output(), POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(plan.every.count())) <= 0) continue;
    const ssize_t n = read(child.output(), buffer.data(), buffer.size());
    if (n > 0) {
      const std::size_t room = plan.most_bytes - std::min(plan.most_bytes, text.size());
      text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
      continue;
    }
    return child.Wait() == 0 ? absl::StatusOr<std::string>(text)
                             : absl::InternalError(text.empty() ? "it failed" : text);
  }
  return absl::DeadlineExceededError("it did not answer in time");
}

}  // namespace fathom::agent
