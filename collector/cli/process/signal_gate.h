// Signals, while `fathom run` stands between a terminal and its command.
//
// Used by TracedRun, by doctor's captured processes and by fathom-fleet, which is told to end by
// what it takes. Model: from construction on, the signals that a command could be sent are blocked
// and read from a descriptor, so that none ends us before the command; a child gets mask and
// dispositions back exactly as we were given them, and so does this process at destruction. Signals
// nobody took by then are gone. Thread-safety: single-threaded; must live before any thread is
// started. One at a time. Errors: none; a descriptor that cannot be made reads as "no signals".
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_GATE_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_GATE_H_

#include <sys/signalfd.h>

#include <array>
#include <csignal>
#include <vector>

namespace fathom::cli {

// What is passed on to the command when it was sent to us alone.
inline constexpr std::array<int, 8> kRelayedSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                                       SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP};

class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  int fd() const { return fd_; }
  // All that arrived, without waiting.
  std::vector<signalfd_siginfo> Take() const;
  // Mask and dispositions as inherited: between fork and exec, and at the end. Async-signal-safe.
  void Restore() const;

 private:
  sigset_t blocked_;
  sigset_t inherited_mask_;
  struct sigaction inherited_child_action_;
  int fd_ = -1;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_GATE_H_
