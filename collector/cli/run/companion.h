// A process of ours beside the command: the agent or the collector.
//
// Used by TracingSession, and by fathom-fleet for a collector of its own. Model: started -> says
// where it listens (ready line on stdout) -> runs -> stopped by SIGTERM, or found dead. Its stderr
// goes to a log file, whose last line explains a death. It never shares the terminal's process
// group and dies with us. Ownership: owns process and pipe; the destructor ends it (SIGKILL when
// SIGTERM is not enough). Thread-safety: single-threaded. Errors: kUnavailable, with the reason in
// its own words.
#ifndef FATHOM_COLLECTOR_CLI_RUN_COMPANION_H_
#define FATHOM_COLLECTOR_CLI_RUN_COMPANION_H_

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/http/socket.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/cli/run/ready_line.h"

namespace fathom::cli {

class Companion {
 public:
  struct Plan {
    std::string program;  // as in its ready line
    std::vector<std::string> argv;
    std::filesystem::path log;
    std::chrono::milliseconds grace{2000};  // to end by itself, when the object goes
  };

  // Started and listening.
  static absl::StatusOr<std::unique_ptr<Companion>> Start(const Plan& plan, const SignalGate& gate,
                                                          Deadline deadline);
  ~Companion();

  const Listening& listening() const { return listening_; }
  bool alive() const { return pid_ > 0; }
  // A child was reaped elsewhere: true when it was this one, which is dead from then on.
  bool OnReaped(pid_t pid, int wait_status);
  // How it died, with the last line of its log.
  std::string Obituary() const;
  // Readable when it wrote to stdout again; Drain() throws that away.
  int stdout_fd() const { return stdout_fd_; }
  void Drain() const;
  // SIGTERM, and SIGKILL when it is still there after `grace`.
  void Stop(std::chrono::milliseconds grace);

 private:
  Companion(const Plan& plan, pid_t pid, int stdout_fd)
      : program_(plan.program),
        log_(plan.log),
        grace_(plan.grace),
        pid_(pid),
        stdout_fd_(stdout_fd) {}
  absl::Status AwaitReady(Deadline deadline);
  void ReapIfDead();

  std::string program_;
  std::filesystem::path log_;
  std::chrono::milliseconds grace_;
  pid_t pid_;
  int stdout_fd_;
  Listening listening_;
  std::optional<int> wait_status_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_COMPANION_H_
