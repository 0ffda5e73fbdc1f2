#include "collector/cli/run/companion.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "collector/cli/process/child_process.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kReapPoll{10};

std::string LastLine(const std::filesystem::path& log) {
  std::ifstream file(log);
  std::string line, last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return Printable(last.substr(0, 300));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Companion>> Companion::Start(const Plan& plan,
                                                            const SignalGate& gate,
                                                            Deadline deadline) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::UnavailableError(std::strerror(errno));
  const int log = open(plan.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const Spawned spawned =
      SpawnCompanion(plan.argv, CompanionEnvironment(CurrentEnvironment()), gate, ends[1], log);
  close(ends[1]);
  if (log >= 0) close(log);
  if (spawned.error != 0) {
    close(ends[0]);
    return absl::UnavailableError(
        Cat(plan.argv[0], " cannot be started: ", std::strerror(spawned.error)));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<Companion> out(new Companion(plan, spawned.pid, ends[0]));
  if (absl::Status s = out->AwaitReady(deadline); !s.ok()) return s;
  return out;
}

absl::Status Companion::AwaitReady(Deadline deadline) {
  std::string line;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wanted{stdout_fd_, POLLIN, 0};
    if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) == 0) {
      return absl::UnavailableError(Cat(program_, " was not ready in time"));
    }
    std::array<char, 1024> buffer;
    const ssize_t got = read(stdout_fd_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) {
      Stop(std::chrono::milliseconds(500));
      return absl::UnavailableError(Obituary());
    }
    line.append(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t newline = line.find('\n');
    if (newline == std::string::npos && line.size() < buffer.size()) continue;
    absl::StatusOr<Listening> listening = ParseReadyLine(line.substr(0, newline), program_);
    if (!listening.ok()) return listening.status();
    listening_ = *std::move(listening);
    return absl::OkStatus();
  }
}

Companion::~Companion() {
  Stop(grace_);
  close(stdout_fd_);
}

bool Companion::OnReaped(pid_t pid, int wait_status) {
  if (pid != pid_ || !alive()) return false;
  pid_ = -1;
  wait_status_ = wait_status;
  return true;
}

std::string Companion::Obituary() const {
  const std::string how = wait_status_ ? DescribeStatus(*wait_status_) : "gone";
  const std::string last = LastLine(log_);
  return Cat(program_, " ended (", how, ")", last.empty() ? "" : Cat(": ", last));
}

void Companion::Drain() const {
  std::array<char, 4096> buffer;
  while (read(stdout_fd_, buffer.data(), buffer.size()) > 0) {
  }
}

void Companion::ReapIfDead() {
  int status = 0;
  const pid_t pid = pid_;
  if (waitpid(pid, &status, WNOHANG) == pid) OnReaped(pid, status);
}

void Companion::Stop(std::chrono::milliseconds grace) {
  if (!alive()) return;
  kill(pid_, SIGTERM);
  kill(pid_, SIGCONT);
  const Deadline deadline = In(grace);
  for (ReapIfDead(); alive() && std::chrono::steady_clock::now() < deadline; ReapIfDead()) {
    poll(nullptr, 0, static_cast<int>(kReapPoll.count()));
  }
  if (!alive()) return;
  kill(pid_, SIGKILL);
  int status = 0;
  const pid_t pid = pid_;
  if (waitpid(pid, &status, 0) == pid) OnReaped(pid, status);
}

}  // namespace fathom::cli
