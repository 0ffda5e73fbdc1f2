#include "collector/fleet/verdict_watch.h"

#include <algorithm>

#include "collector/cli/http/collector_api.h"

namespace fathom::simulate {

using std::chrono::steady_clock;

VerdictWatch::VerdictWatch(cli::HostPort http, std::string job, Listener heard)
    : http_(std::move(http)),
      heard_(std::move(heard)),
      follower_(http_, cli::CollectorApi::EventsPath(job)) {}

absl::Status VerdictWatch::Open() {
  follower_.Tick(steady_clock::now());
  if (follower_.connected()) return absl::OkStatus();
  return absl::UnavailableError(cli::UnreachableText(http_, follower_.last_error()));
}

void VerdictWatch::Read() {
  const auto now = steady_clock::now();
  follower_.Tick(now);
  for (const cli::ServerEvent& event : follower_.Receive(now)) {
    if (event.name != "verdict") continue;
    const cli::Json body = cli::Json::parse(event.data, nullptr, false);
    if (!body.is_object()) continue;
    const cli::VerdictView verdict = cli::ReadVerdict(body);
    if (heard_) heard_(verdict);
    const bool known = std::any_of(convictions_.begin(), convictions_.end(), [&](const Told& told) {
      return told.verdict.id == verdict.id && told.verdict.cause == verdict.cause &&
             told.verdict.ranks == verdict.ranks;
    });
    if (verdict.Convicts() && !verdict.closed && !known) convictions_.push_back({now, verdict});
  }
}

diagnosis::Verdict ToVerdict(const cli::VerdictView& view) {
  diagnosis::Verdict verdict;
  for (int c = 0; c <= static_cast<int>(diagnosis::Cause::kRegression); ++c) {
    const auto cause = static_cast<diagnosis::Cause>(c);
    if (ToString(cause) == view.cause) verdict.cause = cause;
  }
  for (std::int64_t rank : view.ranks) {
    verdict.entity.ranks.emplace_back(static_cast<std::uint32_t>(rank));
  }
  return verdict;
}

}  // namespace fathom::simulate
