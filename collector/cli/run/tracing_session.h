// All that has to stand before a command can be traced: folder, collector, agent, environment.
//
// Used by TracedRun, which runs the command without it when it cannot be had.
// Model: own collector and agent (ports chosen by the kernel), or, with a collector named by the
// user, an agent alone; and where an agent already serves this node's folder for that purpose, only
// the environment.
// Ownership: owns the folder and both processes; End() or the destructor ends them, agent first, so
// that what it still holds reaches the collector.
// Thread-safety: single-threaded. Errors: kUnavailable and kInvalidArgument, one line each.
#ifndef FATHOM_COLLECTOR_CLI_RUN_TRACING_SESSION_H_
#define FATHOM_COLLECTOR_CLI_RUN_TRACING_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/cli/process/trace_environment.h"
#include "collector/cli/run/companion.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/run/run_folder.h"

namespace fathom::cli {

struct SessionOptions {
  std::string job;
  std::string trace;           // FATHOM_TRACE; empty: the tracer's default
  std::string collector;       // gRPC HOST:PORT of the user's collector; empty: our own
  std::string collector_http;  // its HTTP address; empty: the same host, port 7070
  std::string http;            // where our own collector serves; empty: a free port on loopback
  std::string record;          // folder for the agent's recording; empty: none
  std::string ops;             // folder of a store of every op; empty: none
  std::string history = {};    // store of our own collector; empty: in memory
  std::string profile;         // name of the job's profile; empty: found by itself
  std::string stack_tool;      // py-spy, for our agent; empty: what its PATH has
  std::filesystem::path shm_root = "/dev/shm";
};

class TracingSession {
 public:
  static absl::StatusOr<std::unique_ptr<TracingSession>> Start(const SessionOptions& options,
                                                               const Installation& installation,
                                                               const SignalGate& gate);

  // What the command gets.
  const Environment& environment() const { return environment_; }
  // Where verdicts can be read.
  const HostPort& http() const { return http_; }
  bool own_collector() const { return collector_ != nullptr; }
  // Worth telling at the start: an agent that was there already.
  const std::string& notice() const { return notice_; }

  // What to say about a reaped child of ours; empty when it was none.
  std::string OnReaped(pid_t pid, int wait_status);
  bool collector_lost() const { return collector_ != nullptr && !collector_->alive(); }
  // Descriptors to watch; Drain() when one is readable.
  std::vector<int> output_fds() const;
  void Drain() const;
  // Ends the agent after it has sent what it holds.
  void EndAgent();

 private:
  TracingSession() = default;
  absl::Status StartCollector(const SessionOptions& options, const Installation& installation,
                              const SignalGate& gate, Deadline deadline);
  absl::Status StartAgent(const SessionOptions& options, const Installation& installation,
                          const SignalGate& gate, Deadline deadline);
  absl::Status UseTheirs(const SessionOptions& options);

  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<Companion> collector_;
  std::unique_ptr<Companion> agent_;
  std::string agents_;  // where the collector takes them in, as fathomd is told
  HostPort http_;
  std::string shm_dir_;
  std::string notice_;
  Environment environment_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_TRACING_SESSION_H_
