// Tells listeners what changed of a job: `job` when its object changed, `iterations` when there
// are newer ones, `verdict` when one was opened, changed or closed.
//
// Called after each look at a job and by the verdict ledger. A job's object is sent at most once a
// second, or as seldom as the collector's budget wants, unless its state or its verdicts changed.
// Thread-safety: thread-safe. Cost: O(1) a call while nobody listens.
#ifndef FATHOM_COLLECTOR_API_JOB_NEWS_H_
#define FATHOM_COLLECTOR_API_JOB_NEWS_H_

#include <map>
#include <string>

#include "collector/budget/centre_work.h"
#include "collector/http/event_hub.h"
#include "collector/job/state/job_table.h"
#include "collector/process/clock.h"
#include "collector/verdict/verdict_ledger.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class JobNews {
 public:
  // `work`: where what it costs is counted; may be null.
  JobNews(EventHub& hub, const JobTable& jobs, const Clock& clock, CentreWork* work = nullptr)
      : hub_(hub), jobs_(jobs), clock_(clock), work_(work) {}

  void Looked(const std::string& job, const VerdictLedger& ledger);
  void Verdict(const Episode& episode);

 private:
  struct Told {
    std::string headline;  // state, verdicts and sentence
    std::int64_t iteration = -1;
    MonoNs at;
  };

  EventHub& hub_;
  const JobTable& jobs_;
  const Clock& clock_;
  CentreWork* const work_;
  service::Mutex mutex_;
  std::map<std::string, Told> told_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_JOB_NEWS_H_
