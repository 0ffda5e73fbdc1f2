// `fathom run`: one command, traced, with its verdicts on stderr.
//
// Called by the verb. Model: one thread, one poll loop over signals, the witness, the collector's
// events and the companions' output, from the start of the command to its end.
//
//   look the command up -> tracing up (or said why not) -> command -> loop -> agent sends the rest
//   -> report and last word -> [hold] -> everything of ours down
//
// The command's stdin, stdout, stderr, process group, signal mask and dispositions are ours as they
// were given to us. Nothing of ours can end it; its exit code is returned.
// Thread-safety: single-threaded; one at a time in a process. Errors: one line on stderr each.
#ifndef FATHOM_COLLECTOR_CLI_RUN_TRACED_RUN_H_
#define FATHOM_COLLECTOR_CLI_RUN_TRACED_RUN_H_

#include <poll.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/cli/http/collector_api.h"
#include "collector/cli/process/signal_gate.h"
#include "collector/cli/process/signal_relay.h"
#include "collector/cli/process/signal_witness.h"
#include "collector/cli/run/event_follower.h"
#include "collector/cli/run/installation.h"
#include "collector/cli/run/tracing_session.h"
#include "collector/cli/run/verdict_narrator.h"

namespace fathom::cli {

struct RunOptions {
  SessionOptions session;
  std::string report;  // file; empty: none
  bool hold = false;
  std::vector<std::string> command;
};

class TracedRun {
 public:
  TracedRun(RunOptions options, Installation installation);

  // Runs the command to its end; its exit code, 128 + S for signal S, 127 or 126 when it cannot be
  // started. Requires: options.command is not empty; called once.
  int Execute();

 private:
  void StartTracing();
  int StartCommand();
  void Turn();
  std::vector<pollfd> Wanted() const;
  int WaitMs() const;
  void OnSignals();
  void OnChildren();
  void OnCommandStatus(int wait_status);
  void OnEvents();
  void Finish();
  // Until the collector has looked at the job for the last time, so that the report has all of it.
  void AwaitLastLook(const CollectorApi& api) const;
  Json FetchReport() const;
  void WriteReport(const Json& report) const;
  void Hold();
  void Say(const std::string& line) const;

  RunOptions options_;
  Installation installation_;
  SignalGate gate_;
  VerdictNarrator narrator_;
  std::unique_ptr<TracingSession> session_;
  std::optional<EventFollower> follower_;
  std::unique_ptr<SignalWitness> witness_;
  std::optional<SignalRelay> relay_;
  pid_t command_ = -1;
  std::optional<int> wait_status_;
  bool end_asked_ = false;  // a signal that ends us, once the command is gone
};

// `text` to stderr in one write, so that it does not mix with the command's own lines.
void WriteStderr(const std::string& text);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RUN_TRACED_RUN_H_
