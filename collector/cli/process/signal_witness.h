// Tells a signal sent to us alone from one sent to the whole process group.
//
// Used by TracedRun. Model: the kernel does not say whether kill() named a process or a group. The
// command is in our group, so a group signal has reached it already, and passing it on would
// deliver it twice (torchrun, hit twice, abandons its clean-up). The witness is a tiny process in
// the same group that does nothing but report what it is sent: seen by the witness = sent to the
// group (or to every process, as Slurm and systemd do) = not to be passed on.
//
//   kill(-group, TERM) -> command, us, witness      kill(us, TERM) -> us -> relayed to command
//
// Ownership: owns the process (it dies with us) and its pipe. Thread-safety: single-threaded.
// Errors: kUnavailable when it cannot be started; then signals are relayed unseen.
#ifndef FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_WITNESS_H_
#define FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_WITNESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace fathom::cli {

class SignalWitness {
 public:
  struct Report {
    std::int32_t signal;
    std::int32_t sender;  // its pid
  };

  // Requires: the relayed signals are blocked (SignalGate).
  static absl::StatusOr<std::unique_ptr<SignalWitness>> Start();
  ~SignalWitness();

  int fd() const { return fd_; }
  // A child was reaped elsewhere; when it was the witness there is nothing left to end.
  void OnReaped(pid_t pid) { pid_ = pid == pid_ ? -1 : pid_; }
  std::vector<Report> Take() const;

 private:
  SignalWitness(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  pid_t pid_;
  int fd_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_PROCESS_SIGNAL_WITNESS_H_
