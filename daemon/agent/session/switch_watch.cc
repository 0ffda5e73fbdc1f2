#include "daemon/agent/session/switch_watch.h"

#include <algorithm>
#include <utility>

namespace fathom::agent {

absl::Status SwitchWatch::Ask(const RegionReader& region, const ControlSnapshot& control,
                              std::uint64_t request_id, const SwitchWords& words,
                              std::int64_t deadline_ns) {
  if (!region.switchable()) return absl::FailedPreconditionError("old_tracer");
  // Above what any agent gave before this one.
  const std::uint32_t newest = std::max({control.switch_asked, control.switched, ticket_});
  const std::uint32_t ticket = newest + 1 == 0 ? 1 : newest + 1;
  absl::Status status = region.WriteSwitchOrder(ticket, words);
  if (!status.ok()) return status;
  if (request_id_ != 0) End("refused", "replaced", 0);
  request_id_ = request_id;
  ticket_ = ticket;
  deadline_ns_ = deadline_ns;
  said_waits_ = false;
  return absl::OkStatus();
}

std::vector<SwitchOutcome> SwitchWatch::Look(const ControlSnapshot& control, std::int64_t now_ns) {
  if (request_id_ != 0 && control.switched == ticket_) {
    End("done", "", control.switched_at);
  } else if (request_id_ != 0 && !said_waits_ && now_ns > deadline_ns_) {
    said_waits_ = true;
    news_.push_back({request_id_, "waits", "no_op", 0});
  }
  return std::exchange(news_, {});
}

std::vector<SwitchOutcome> SwitchWatch::Abandon() {
  if (request_id_ != 0) End("refused", "process_gone", 0);
  return std::exchange(news_, {});
}

void SwitchWatch::End(const std::string& state, const std::string& reason,
                      std::uint64_t at_sequence) {
  news_.push_back({request_id_, state, reason, at_sequence});
  request_id_ = 0;
}

}  // namespace fathom::agent
