// Asks agents for rows and takes in their answers: request ids, deadlines, partial answers.
//
// Used by the diagnoser (Ask, Outstanding), for the page by Collector (AskForPage), and by sessions
// (OnReply, OnDisconnect). An answer counts only if it carries an open request's id, comes from the
// node that was asked and names its job; it goes straight to one of the job's two row caches, by
// whom it is for. What has not come by the deadline is given up and counted.
//
// Thread-safety: thread-safe. Ownership: jobs are held weakly. Errors: kUnasked.
// Cost: O(log open requests); at most kMaxOpen are open. A request names at most
// kIterationsPerRequest iterations, and fewer of jobs with many ops, so that its answer fits one
// message; of an answer that was cut all the same the rest is asked for again.
#ifndef FATHOM_COLLECTOR_AGENTS_ROW_REQUESTS_H_
#define FATHOM_COLLECTOR_AGENTS_ROW_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "collector/agents/ingest_counters.h"
#include "collector/agents/session_registry.h"
#include "collector/job/state/job_state.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class RowRequests {
 public:
  static constexpr std::size_t kMaxOpen = 4096;
  static constexpr std::size_t kIterationsPerRequest = 8;
  static constexpr std::size_t kRanksPerRequest = 64;
  // An agent's message holds 4 MiB, some 23,000 rows; marks and functions take some of it.
  static constexpr std::size_t kRowsPerReply = 16'000;

  RowRequests(const SessionRegistry& registry, IngestCounters& counters, const Clock& clock)
      : registry_(registry), counters_(counters), clock_(clock) {}

  // Sends what can be sent; the number of requests that are on their way.
  int Ask(const std::shared_ptr<JobState>& job, const std::vector<RowsAsk>& asks, Nanos timeout);
  // For a page, one question at a time: one that asks again waits for the answers to the first.
  int AskForPage(const std::shared_ptr<JobState>& job, const diagnosis::RowsWanted& wanted,
                 Nanos timeout);
  Rejection OnReply(std::string_view node, const v1::RowsReply& reply);
  // The agent went away: its requests will not be answered.
  void OnDisconnect(std::string_view node);
  // Requests of the job that may still be answered. Drops those past their deadline.
  int Outstanding(std::string_view job, RowsFor whom = RowsFor::kDiagnosis);

 private:
  struct Open {
    std::weak_ptr<JobState> job;
    RowsAsk ask;
    MonoNs deadline;
  };

  [[nodiscard]] bool SendOne(const std::shared_ptr<JobState>& job, RowsAsk ask, MonoNs deadline);

  const SessionRegistry& registry_;
  IngestCounters& counters_;
  const Clock& clock_;
  service::Mutex mutex_;
  std::map<std::uint64_t, Open> open_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_AGENTS_ROW_REQUESTS_H_
