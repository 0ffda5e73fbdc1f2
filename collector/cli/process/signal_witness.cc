#include "collector/cli/process/signal_witness.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "collector/cli/process/signal_gate.h"

namespace fathom::cli {
namespace {

// The witness's whole life. It keeps no descriptor but the pipe: a reader of the user's pipe must
// see its end when the command is done.
[[noreturn]] void Witness(pid_t parent, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "fathom-witness");
  if (getppid() != parent) _exit(0);
  dup2(pipe_end, 0);
  close_range(1, ~0U, 0);
  sigset_t all, watched;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigemptyset(&watched);
  for (const int signal : kRelayedSignals) sigaddset(&watched, signal);
  for (;;) {
    siginfo_t info;
    if (sigwaitinfo(&watched, &info) < 0) continue;
    const SignalWitness::Report report{info.si_signo, info.si_pid};
    if (write(0, &report, sizeof(report)) < 0 && errno == EPIPE) _exit(0);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SignalWitness>> SignalWitness::Start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return absl::UnavailableError(std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) Witness(parent, ends[1]);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return absl::UnavailableError(std::strerror(errno));
  }
  return std::unique_ptr<SignalWitness>(new SignalWitness(pid, ends[0]));
}

SignalWitness::~SignalWitness() {
  close(fd_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::vector<SignalWitness::Report> SignalWitness::Take() const {
  std::vector<Report> out;
  Report report{};
  while (read(fd_, &report, sizeof(report)) == static_cast<ssize_t>(sizeof(report))) {
    out.push_back(report);
  }
  return out;
}

}  // namespace fathom::cli
