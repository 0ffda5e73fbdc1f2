#include "collector/import/fathom/recorded_captures.h"

#include <set>

#include "collector/evaluate/tell_functions.h"
#include "collector/job/orders/stack_captures.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kRecentIterations = 9;

}  // namespace

void RecordedCaptures::Take(const v1::CaptureReply& reply, const Clock& clock) {
  Gathered& gathered = jobs_[reply.job()];
  if (gathered.request != reply.request_id()) gathered = {};
  gathered.request = reply.request_id();
  gathered.newest = clock.Mono();
  gathered.capture.at = clock.Wall();
  for (const v1::RankCapture& told : reply.ranks()) {
    gathered.capture.ranks[RankId(told.rank())] = StacksOf(told);
  }
}

void RecordedCaptures::Tell(const JobTable& jobs, VerdictLedger& ledger, const Clock& clock,
                            bool all) {
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    auto& [name, gathered] = *at;
    if (!all && clock.Mono() - gathered.newest < kQuiet) {
      ++at;
      continue;
    }
    std::set<RankId> accused;
    for (const Episode& episode : ledger.Of(name)) {
      const auto& ranks = episode.verdict.entity.ranks;
      if (WantsCapture(episode)) accused.insert(ranks.begin(), ranks.end());
    }
    gathered.capture.accused.assign(accused.begin(), accused.end());
    if (const auto job = jobs.Find(name); job != nullptr) {
      job->Read([&](const RankTable&, const GroupTable&, const SummaryWindow& window) {
        gathered.capture.iteration = window.RecentDuration(kRecentIterations);
      });
      const diagnosis::JobView view = job->View([](std::string_view) { return true; });
      TellFunctions(view, gathered.capture, ledger, clock, nullptr);
    }
    at = jobs_.erase(at);
  }
}

}  // namespace fathom::collector
