// Keeps the collector within its budget: every few seconds adds up what its work cost, and sets how
// finely each part of it goes on.
//
// Owned by Collector. Used by the API and the metrics, which show the plan
// (docs/operations/budget.md). Without a budget all stays as fine as it is set, and the plan tells
// what it costs.
//
// Threads: one, that calls Look every kEvery_s; a test calls Look itself. Thread-safety: plan() and
// Message() from any thread, Look by one at a time. Ownership: refers to its parts, which outlive
// it. Errors: none. Cost: below a millisecond a look. Stop path: the destructor, at once.
#ifndef FATHOM_COLLECTOR_SERVE_BUDGET_KEEPER_H_
#define FATHOM_COLLECTOR_SERVE_BUDGET_KEEPER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "collector/agents/ingest_counters.h"
#include "collector/budget/centre_planner.h"
#include "collector/budget/centre_work.h"
#include "collector/evaluate/diagnoser.h"
#include "collector/job/state/job_table.h"
#include "daemon/service/budget/process_use.h"
#include "daemon/service/mutex.h"
#include "fathom/v1/plan.pb.h"

namespace fathom::collector {

struct CollectorConfig;

// As set; what is not limited is as good as endless.
service::Spend BudgetOf(const CollectorConfig& config);

class BudgetKeeper {
 public:
  static constexpr double kEvery_s = 5;

  struct Parts {
    CentreWork& work;
    const JobTable& jobs;
    const Diagnoser& diagnoser;
    const IngestCounters& counters;
    const Clock& clock;
    std::function<void(const std::string& line)> say;
    std::function<double()> process_cpu_s = &service::ProcessCpuSeconds;
    // Bytes that the process shares with nobody.
    std::function<double()> memory = [] { return service::PrivateBytes(); };
  };

  BudgetKeeper(Parts parts, const service::Spend& budget);
  ~BudgetKeeper();
  BudgetKeeper(const BudgetKeeper&) = delete;
  BudgetKeeper& operator=(const BudgetKeeper&) = delete;

  // From now on a thread looks.
  void Start();
  void Look();
  service::WorkPlan plan() const;
  v1::NodePlan Message() const;

 private:
  void Run();
  CentreSeen Observe(MonoNs now);
  void Hold();

  const Parts parts_;
  MonoNs looked_;            // of Look; not known: never
  std::uint64_t bytes_ = 0;  // of agents, at the last look
  mutable service::Mutex mutex_;
  service::ConditionVariable wake_;
  CentrePlanner planner_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_BUDGET_KEEPER_H_
