// Asks one process for a window of detail and picks up what it left.
//
// Owned by rank_session; asked by agent when the collector wants a window.
//
// Model: at most one window at a time. Ask writes the order into the process's control block; Look,
// called a few times a second, reads what became of it. A closed window's side file is read, summed
// and removed. A process that enters no op neither opens nor closes: a second after the deadline
// the window counts as refused for `deadline`, and its file is removed.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: single-threaded, on the poll loop.
// Ownership: refers to nothing; the region is handed in.
// Errors: Ask: those of RegionReader, FailedPrecondition while another window is open. What goes
// wrong later is an outcome with a reason.
// Cost: nothing while no window is wanted; else two system calls a look, and at the end one reading
// of the side file.
#ifndef FATHOM_DAEMON_AGENT_SESSION_WINDOW_WATCH_H_
#define FATHOM_DAEMON_AGENT_SESSION_WINDOW_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "daemon/agent/source/ring/region_reader.h"
#include "daemon/agent/source/window/window_sums.h"

namespace fathom::agent {

struct WindowOutcome {
  std::uint64_t request_id = 0;
  bool closed = false;  // else it never opened
  std::string reason;   // why it was refused or cut short; empty: neither
  WindowSnapshot state;
  WindowSums sums;
  std::uint64_t lost = 0;
  std::int64_t clock_residual_ns = 0;
};

class WindowWatch {
 public:
  // Of the folder that holds the process's ring.
  explicit WindowWatch(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Ask(const RegionReader& region, std::uint64_t request_id, const WindowOrder& order);
  bool waiting() const { return request_id_ != 0; }
  // The outcome, once. Requires: `region` is the one that was asked.
  std::optional<WindowOutcome> Look(const RegionReader& region, std::int64_t now_ns);
  // The process is gone: its outcome, if one was awaited.
  std::optional<WindowOutcome> Abandon(const RegionIdentity& identity);
  // Why the newest window did not open; empty: it did, or none was asked for.
  const std::string& last_refusal() const { return last_refusal_; }
  bool ever_closed() const { return ever_closed_; }

 private:
  WindowOutcome Finish(const RegionIdentity& identity, WindowOutcome outcome);
  WindowOutcome PickUp(const RegionIdentity& identity, const WindowSnapshot& state);

  const std::string folder_;
  std::uint64_t request_id_ = 0;  // 0: none
  std::uint32_t ticket_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::string last_refusal_;
  bool ever_closed_ = false;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SESSION_WINDOW_WATCH_H_
