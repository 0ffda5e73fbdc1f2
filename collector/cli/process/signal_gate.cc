#include "collector/cli/process/signal_gate.h"

#include <unistd.h>

namespace fathom::cli {

SignalGate::SignalGate() {
  sigset_t read_here;
  sigemptyset(&read_here);
  for (const int signal : kRelayedSignals) sigaddset(&read_here, signal);
  sigaddset(&read_here, SIGCHLD);
  blocked_ = read_here;
  // A closed stderr must not end us: a write then fails with EPIPE.
  sigaddset(&blocked_, SIGPIPE);
  sigprocmask(SIG_BLOCK, &blocked_, &inherited_mask_);
  // With SIGCHLD ignored (as some parents leave it) children vanish without an exit code.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &inherited_child_action_);
  fd_ = signalfd(-1, &read_here, SFD_NONBLOCK | SFD_CLOEXEC);
}

SignalGate::~SignalGate() {
  if (fd_ >= 0) close(fd_);
  // One still pending (a SIGPIPE of ours, an impatient second Ctrl-C) must not end us now.
  const timespec at_once{};
  while (sigtimedwait(&blocked_, nullptr, &at_once) > 0) {
  }
  Restore();
}

std::vector<signalfd_siginfo> SignalGate::Take() const {
  std::vector<signalfd_siginfo> out;
  signalfd_siginfo info{};
  while (read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) out.push_back(info);
  return out;
}

void SignalGate::Restore() const {
  sigaction(SIGCHLD, &inherited_child_action_, nullptr);
  sigprocmask(SIG_SETMASK, &inherited_mask_, nullptr);
}

}  // namespace fathom::cli
