#include "collector/window/diagnoser.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/engine/stall.h"
#include "diagnosis/engine/totals.h"

namespace fathom::collector {
namespace {

JobMoment MomentOf(const JobFigures& figures, const Clock& clock) {
  return {figures.name, figures.started, Iteration(figures.iteration), clock.Wall(), clock.Mono()};
}

std::map<RankId, std::string> OutOfSight(const diagnosis::JobView& view) {
  std::map<RankId, std::string> ranks;
  for (const diagnosis::RankFacts& facts : view.ranks) {
    if (!facts.agent_reachable && !diagnosis::IsDead(facts)) ranks.emplace(facts.rank, facts.node);
  }
  return ranks;
}

bool NewestIsIrregular(const diagnosis::JobView& view, const diagnosis::Suspicion& suspicion) {
  return !view.window.empty() && !suspicion.irregular.empty() &&
         suspicion.irregular.back().index == view.window.back().index;
}

}  // namespace

Diagnoser::Diagnoser(Parts parts, DiagnosisFunctions functions, diagnosis::DiagnosisConfig config,
                     Nanos job_timeout, const LookPace& pace)
    : parts_(std::move(parts)),
      functions_(std::move(functions)),
      config_(config),
      job_timeout_(job_timeout),
      pace_(pace) {}

void Diagnoser::Notify(const std::string& job) {
  const std::lock_guard lock(mutex_);
  if (news_.insert(job).second) wake_.notify_one();
}

void Diagnoser::Stop() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  wake_.notify_all();
}

void Diagnoser::Run() {
  for (;;) {
    const Nanos next = RunDue();
    ++turns_;
    std::unique_lock lock(mutex_);
    // News may make a job due at once; 10 ms, so that what comes together is looked at together.
    if (next > Nanos(0)) {
      wake_.wait_for(lock, std::chrono::nanoseconds(std::min(next, LookSchedule::kGap).count),
                     [this] { return stop_ || !news_.empty(); });
      if (!stop_ && !news_.empty()) {
        wake_.wait_for(lock, std::chrono::milliseconds(10), [this] { return stop_; });
      }
    }
    if (stop_) return;
  }
}

Nanos Diagnoser::RunDue() {
  std::set<std::string> news;
  {
    const std::lock_guard lock(mutex_);
    news.swap(news_);
  }
  const auto jobs = parts_.jobs.All();
  Nanos next = LookSchedule::kIdle;
  for (const auto& job : jobs) {
    Watched& watched = WatchedOf(*job);
    watched.news = watched.news || news.contains(job->name());
    next = std::min(next, LookIfDue(job, watched));
  }
  std::erase_if(watched_, [&](const auto& entry) { return !parts_.jobs.Find(entry.first); });
  return next;
}

Diagnoser::Watched& Diagnoser::WatchedOf(const JobState& job) {
  return watched_.try_emplace(job.name(), Watched{.schedule = LookSchedule(pace_)}).first->second;
}

LookReasons Diagnoser::ReasonsFor(const JobState& job, const Watched& watched) {
  const JobState::Progress progress = job.progress();
  // The look that asked for rows is not over yet: its second half is not kept waiting.
  const bool rows_are_in =
      watched.rows_deadline.known() && parts_.requests.Outstanding(job.name()) == 0;
  return {watched.news, rows_are_in, progress.newest, progress.whole, progress.partial_since};
}

Nanos Diagnoser::LookIfDue(const std::shared_ptr<JobState>& job, Watched& watched) {
  const MonoNs begin = parts_.clock.Mono();
  const LookReasons reasons = ReasonsFor(*job, watched);
  if (const Nanos left = watched.schedule.Left(reasons, begin); left > Nanos(0)) return left;
  const Nanos cpu = parts_.clock.ThreadCpu();
  watched.news = false;
  Look(job, watched);
  const MonoNs end = parts_.clock.Mono();
  watched.schedule.Looked(reasons, watched.findings, begin, end, parts_.clock.ThreadCpu() - cpu);
  {
    const std::lock_guard lock(mutex_);
    latencies_.look.Observe(end - begin);
  }
  return watched.schedule.Left(ReasonsFor(*job, watched), end);
}

void Diagnoser::Look(const std::shared_ptr<JobState>& job, Watched& watched) {
  const bool ended = job->UpdateEnded(parts_.clock.Mono() - job_timeout_);
  const JobFigures figures = job->Figures();
  if (figures.ranks == 0) return;
  const JobMoment moment = MomentOf(figures, parts_.clock);
  if (watched.incarnation != 0 && watched.incarnation != figures.incarnation) {
    parts_.ledger.Restart(moment);
    watched = Watched{.schedule = watched.schedule};
  }
  watched.incarnation = figures.incarnation;
  watched.findings = {};
  if (!ended) {
    watched.ended = false;
    LookAtRunning(job, watched, moment);
  } else if (!watched.ended) {
    watched.ended = true;
    watched.rows_deadline = MonoNs();
    parts_.ledger.Conclude(moment, DiagnoseNow(*job).diagnosis);
    if (parts_.ended) parts_.ended(*job);
  } else {
    return;
  }
  if (parts_.looked) parts_.looked(job->name());
}

NodeConnected Diagnoser::Connected() const {
  return [this](std::string_view node) { return parts_.registry.Connected(node); };
}

void Diagnoser::LookAtRunning(const std::shared_ptr<JobState>& job, Watched& watched,
                              const JobMoment& moment) {
  diagnosis::JobView view = job->View(Connected());
  const diagnosis::Suspicion suspicion = functions_.watch(view, config_);
  job->SetSuspicion(suspicion);
  watched.findings.uneasy =
      suspicion.slow || suspicion.stalled || NewestIsIrregular(view, suspicion);
  if (!suspicion.slow && !suspicion.stalled) {
    watched.suspected = watched.rows_deadline = MonoNs();
    watched.localized = false;
    parts_.ledger.Update(moment, suspicion, nullptr);
    return;
  }
  if (!watched.suspected.known()) watched.suspected = moment.mono;
  if (WaitForRows(job, suspicion, watched)) return;
  Localize(job, view, suspicion, watched, moment);
}

bool Diagnoser::WaitForRows(const std::shared_ptr<JobState>& job,
                            const diagnosis::Suspicion& suspicion, Watched& watched) {
  const MonoNs now = parts_.clock.Mono();
  const int outstanding = parts_.requests.Outstanding(job->name());
  if (watched.rows_deadline.known()) {
    if (outstanding > 0 && now < watched.rows_deadline) return true;
    watched.rows_deadline = MonoNs();
    return false;
  }
  if (suspicion.rows.empty()) return false;
  const int sent = parts_.requests.Ask(job, job->MissingRows(suspicion.rows), kRowsTimeout);
  if (sent == 0) return false;
  watched.rows_deadline = now + kRowsTimeout;
  return true;
}

void Diagnoser::Localize(const std::shared_ptr<JobState>& job, diagnosis::JobView& view,
                         const diagnosis::Suspicion& suspicion, Watched& watched,
                         const JobMoment& moment) {
  job->FillRows(suspicion.rows, view);
  const diagnosis::Diagnosis diagnosis = functions_.diagnose(view, suspicion, config_);
  job->SetDiagnosis(diagnosis);
  JobMoment now = moment;
  now.out_of_sight = OutOfSight(view);
  const bool opened = parts_.ledger.Update(now, suspicion, &diagnosis);
  watched.findings.verdict_waits = parts_.ledger.Waits(moment.job);
  if (!opened || watched.localized) return;
  watched.localized = true;
  const std::lock_guard lock(mutex_);
  latencies_.localization.Observe(parts_.clock.Mono() - watched.suspected);
}

Diagnoser::Fresh Diagnoser::DiagnoseNow(const JobState& job) const {
  Fresh fresh{job.View(Connected()), {}};
  const diagnosis::Suspicion suspicion = functions_.watch(fresh.view, config_);
  job.FillRows(suspicion.rows, fresh.view);
  fresh.diagnosis = functions_.diagnose(fresh.view, suspicion, config_);
  fresh.diagnosis.ranks = diagnosis::TotalsOf(fresh.view);
  return fresh;
}

Diagnoser::Latencies Diagnoser::latencies() const {
  const std::lock_guard lock(mutex_);
  return latencies_;
}

}  // namespace fathom::collector
