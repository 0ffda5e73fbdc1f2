#include "collector/serve/budget_keeper.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <utility>

#include "collector/admission/limits.h"
#include "collector/config/collector_config.h"
#include "daemon/service/budget/plan_message.h"

namespace fathom::collector {
namespace {

constexpr double kShownRowBytes = 150;  // job/rows/row_cache.h

}  // namespace

service::Spend BudgetOf(const CollectorConfig& config) {
  const auto or_none = [](double value) { return value > 0 ? value : service::kNoLimit; };
  return {or_none(config.budget_cpu / 100), service::kNoLimit,
          or_none(static_cast<double>(config.budget_mib) * (1 << 20))};
}

BudgetKeeper::BudgetKeeper(Parts parts, const service::Spend& budget)
    : parts_(std::move(parts)), planner_(budget) {}

BudgetKeeper::~BudgetKeeper() {
  {
    const service::MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

void BudgetKeeper::Start() {
  thread_ = std::thread([this] { Run(); });
}

void BudgetKeeper::Run() {
  service::MutexLock lock(mutex_);
  while (!wake_.WaitFor(mutex_, std::chrono::duration<double>(kEvery_s),
                        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; })) {
    lock.Unlock();
    Look();
    lock.Lock();
  }
}

CentreSeen BudgetKeeper::Observe(MonoNs now) {
  CentreSeen seen;
  seen.seconds = looked_.known() ? (now - looked_).Seconds() : 0;
  looked_ = now;
  seen.costs = parts_.work.meter.Take();
  seen.process_cpu_s = parts_.process_cpu_s();
  seen.memory = parts_.memory();
  const std::uint64_t bytes = parts_.counters.bytes;
  seen.bytes = static_cast<double>(bytes - std::exchange(bytes_, bytes));
  seen.looks = parts_.diagnoser.calm_looks();
  for (const auto& job : parts_.jobs.All()) {
    seen.shown.push_back(static_cast<double>(job->shown_rows()));
  }
  seen.shown_most = static_cast<double>(kMaxShownRowsPerJob);
  seen.shown_row_bytes = kShownRowBytes;
  return seen;
}

// Also for jobs that came since.
void BudgetKeeper::Hold() {
  {
    const service::MutexLock lock(mutex_);
    for (std::size_t k = 0; k < kCentreKnobs; ++k) {
      const auto knob = static_cast<CentreKnob>(k);
      parts_.work.Hold(knob, planner_.LevelOf(knob));
    }
  }
  const double share = parts_.work.Pace(CentreKnob::kShown);
  const auto most = static_cast<std::size_t>(share * static_cast<double>(kMaxShownRowsPerJob));
  for (const auto& job : parts_.jobs.All()) job->LimitShownRows(most);
}

void BudgetKeeper::Look() {
  const MonoNs now = parts_.clock.Mono();
  const CentreSeen seen = Observe(now);
  std::string why;
  {
    const service::MutexLock lock(mutex_);
    if (planner_.Look(seen, now)) why = planner_.plan().why;
  }
  Hold();
  if (!why.empty()) parts_.say(absl::StrCat("plan changed: ", why));
}

service::WorkPlan BudgetKeeper::plan() const {
  const service::MutexLock lock(mutex_);
  return planner_.plan();
}

v1::NodePlan BudgetKeeper::Message() const {
  const MonoNs now = parts_.clock.Mono();
  return service::PlanMessageOf(plan(), now, parts_.clock.Wall().ns - now.ns);
}

}  // namespace fathom::collector
