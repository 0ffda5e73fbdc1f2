#include "daemon/agent/session/window_watch.h"

#include <unistd.h>

#include <iterator>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/window/window_file.h"

namespace fathom::agent {
namespace {

using abi::WindowPhase;

constexpr std::int64_t kGraceNs = 1'000'000'000;  // detail_window.h: then a request is over

// "no_source", "other_profiler" …, as messages and pages write it; empty for kNone.
const char* WindowReasonName(abi::WindowReason reason) {
  constexpr const char* kNames[] = {"",         "no_source", "other_profiler", "deadline",
                                    "no_space", "unsafe",    "failed"};
  static_assert(std::size(kNames) == abi::kWindowReasonCount);
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace

absl::Status WindowWatch::Ask(const RegionReader& region, std::uint64_t request_id,
                              const WindowOrder& order) {
  if (waiting()) return absl::FailedPreconditionError("another window is not over yet");
  const absl::StatusOr<WindowSnapshot> state = region.ReadWindow();
  if (!state.ok()) return state.status();
  const std::uint32_t ticket = state->asked_ticket + 1 == 0 ? 1 : state->asked_ticket + 1;
  absl::Status status = region.WriteWindowOrder(ticket, order);
  if (!status.ok()) return status;
  request_id_ = request_id;
  ticket_ = ticket;
  deadline_ns_ = order.deadline_ns;
  return absl::OkStatus();
}

std::optional<WindowOutcome> WindowWatch::Look(const RegionReader& region, std::int64_t now_ns) {
  if (!waiting()) return std::nullopt;
  const absl::StatusOr<WindowSnapshot> state = region.ReadWindow();
  if (state.ok() && state->ticket == ticket_) {
    if (state->phase == WindowPhase::kClosed) {
      return Finish(region.identity(), PickUp(region.identity(), *state));
    }
    if (state->phase == WindowPhase::kRefused) {
      WindowOutcome outcome;
      outcome.reason = WindowReasonName(state->reason);
      outcome.state = *state;
      return Finish(region.identity(), std::move(outcome));
    }
  }
  if (state.ok() && now_ns <= deadline_ns_ + kGraceNs) return std::nullopt;
  WindowOutcome outcome;
  outcome.reason = state.ok() ? WindowReasonName(abi::WindowReason::kDeadline) : "unreadable";
  return Finish(region.identity(), std::move(outcome));
}

std::optional<WindowOutcome> WindowWatch::Abandon(const RegionIdentity& identity) {
  if (!waiting()) return std::nullopt;
  WindowOutcome outcome;
  outcome.reason = "process_gone";
  return Finish(identity, std::move(outcome));
}

WindowOutcome WindowWatch::PickUp(const RegionIdentity& identity, const WindowSnapshot& state) {
  WindowOutcome outcome;
  outcome.state = state;
  outcome.reason = WindowReasonName(state.reason);
  const std::string name = WindowFileName(identity.pid, identity.generation, ticket_);
  const auto contents = ReadWindowFile(absl::StrCat(folder_, "/", name), ticket_);
  if (!contents.ok()) {
    outcome.reason = "unreadable";
    return outcome;
  }
  outcome.closed = true;
  outcome.sums = SumUp(*contents);
  outcome.lost = contents->lost;
  outcome.clock_residual_ns = contents->clock_residual_ns;
  return outcome;
}

WindowOutcome WindowWatch::Finish(const RegionIdentity& identity, WindowOutcome outcome) {
  const std::string name = WindowFileName(identity.pid, identity.generation, ticket_);
  unlink(absl::StrCat(folder_, "/", name).c_str());
  outcome.request_id = request_id_;
  last_refusal_ = outcome.closed ? "" : outcome.reason;
  ever_closed_ = ever_closed_ || outcome.closed;
  request_id_ = 0;
  return outcome;
}

}  // namespace fathom::agent
