#include "collector/evaluate/diagnoser.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collector/job/state/job_moment.h"
#include "diagnosis/engine/look_ahead.h"
#include "diagnosis/hardware/tell/path_flows.h"
#include "diagnosis/hardware/tell/tell_hardware.h"
#include "diagnosis/slowness/rules/odd_path.h"
#include "diagnosis/watch/series.h"
#include "diagnosis/watch/stall.h"
#include "diagnosis/watch/totals.h"

namespace fathom::collector {
namespace {

// Iterations in a row above the usual: hardly by chance, and fewer than a small step must last
// until it is looked into (DiagnosisConfig::baseline_iterations).
constexpr int kRising = 8;
// Without an iteration for so many times the usual, and so long at least: well before a job counts
// as stalled.
constexpr double kOverdue = 2;
constexpr Nanos kOverdueAtLeast{1'000'000'000};
// A path that was slow from the beginning is seen by then: later ones show in the job's past.
constexpr int kPathsSettled = 30;

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
      ahead_(diagnosis::LookingAhead(config)),
      job_timeout_(job_timeout),
      pace_(pace) {}

void Diagnoser::Notify(const std::string& job) {
  const service::MutexLock lock(mutex_);
  if (news_.insert(job).second) wake_.NotifyOne();
}

void Diagnoser::Stop() {
  const service::MutexLock lock(mutex_);
  stop_ = true;
  wake_.NotifyAll();
}

void Diagnoser::Run() {
  for (;;) {
    const Nanos next = RunDue();
    ++turns_;
    service::MutexLock lock(mutex_);
    // News may make a job due at once; 10 ms, so that what comes together is looked at together.
    if (next > Nanos(0)) {
      wake_.WaitFor(mutex_, std::chrono::nanoseconds(std::min(next, LookSchedule::kGap).count),
                    [this]()
                        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !news_.empty(); });
      if (!stop_ && !news_.empty()) {
        wake_.WaitFor(mutex_, std::chrono::milliseconds(10),
                      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
      }
    }
    if (stop_) return;
  }
}

Nanos Diagnoser::RunDue() {
  const Doing turn(parts_.work, CentrePart::kTurns);
  std::set<std::string> news;
  {
    const service::MutexLock lock(mutex_);
    news.swap(news_);
  }
  const auto jobs = parts_.jobs.All();
  Nanos next = LookSchedule::kIdle;
  for (const auto& job : jobs) {
    if (parts_.mine && !parts_.mine(job->name())) continue;
    Watched& watched = WatchedOf(*job);
    watched.news = watched.news || news.contains(job->name());
    next = std::min(next, LookIfDue(job, watched));
  }
  std::erase_if(watched_, [&](const auto& entry) {
    const bool left = parts_.jobs.Find(entry.first) == nullptr;
    if (left && parts_.forgotten) parts_.forgotten(entry.first);
    return left;
  });
  std::vector<CalmLook> calm;
  for (const auto& [job, watched] : watched_) {
    if (watched.calm.cpu_s > 0) calm.push_back(watched.calm);
  }
  {
    const service::MutexLock lock(mutex_);
    calm_looks_ = std::move(calm);
  }
  parts_.ledger.CloseAbsent(
      parts_.clock.Wall(), parts_.clock.Mono(), job_timeout_,
      [this](const std::string& job) { return parts_.jobs.Find(job) != nullptr; });
  return next;
}

Diagnoser::Watched& Diagnoser::WatchedOf(const JobState& job) {
  return watched_.try_emplace(job.name(), Watched{.schedule = LookSchedule(pace_)}).first->second;
}

bool Diagnoser::Shows(const JobState::Progress& progress) const {
  if (progress.usual <= Nanos(0) || progress.rank_lost || progress.rising >= kRising) return true;
  const Nanos patience =
      std::max(kOverdueAtLeast, Nanos::FromSeconds(kOverdue * progress.usual.Seconds()));
  return parts_.clock.Mono() - progress.whole_since > patience;
}

LookReasons Diagnoser::ReasonsFor(const JobState& job, const Watched& watched) {
  const JobState::Progress progress = job.progress();
  // The look that asked for rows is not over yet: its second half is not kept waiting.
  const bool rows_are_in =
      watched.rows_deadline.known() && parts_.requests.Outstanding(job.name()) == 0;
  const Nanos limit = Nanos::FromSeconds(
      diagnosis::IrregularAbove(config_, progress.usual.Seconds(), progress.noise.Seconds()));
  const bool slower = progress.usual > Nanos(0) && progress.took > limit;
  return {.news = watched.news,
          .rows_are_in = rows_are_in,
          .newest = progress.newest,
          .whole = progress.whole,
          .partial_since = progress.partial_since,
          .slower = slower,
          .shows = Shows(progress),
          .calm_gap = GapOf(parts_.work, CentreKnob::kLooks)};
}

Nanos Diagnoser::LookIfDue(const std::shared_ptr<JobState>& job, Watched& watched) {
  const MonoNs begin = parts_.clock.Mono();
  const LookReasons reasons = ReasonsFor(*job, watched);
  if (const Nanos left = watched.schedule.Left(reasons, begin); left > Nanos(0)) return left;
  const Nanos cpu = parts_.clock.ThreadCpu();
  watched.news = false;
  const bool well = watched.schedule.Well(reasons);
  {
    const Doing looking(parts_.work, well ? CentrePart::kLooks : CentrePart::kUrgent);
    Look(job, watched);
  }
  const MonoNs end = parts_.clock.Mono();
  const Nanos cost = parts_.clock.ThreadCpu() - cpu;
  watched.schedule.Looked(reasons, watched.findings, begin, end, cost);
  watched.calm = well ? CalmLook{cost.Seconds(), watched.schedule.gap().Seconds()} : CalmLook();
  {
    const service::MutexLock lock(mutex_);
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
    watched.asked_for.reset();
    parts_.ledger.Conclude(moment, DiagnoseNow(*job).diagnosis);
    if (parts_.ended) parts_.ended(*job);
  } else {
    return;
  }
  if (parts_.looked) parts_.looked(*job);
}

NodeConnected Diagnoser::Connected() const {
  return [this](std::string_view node) { return parts_.registry.Connected(node); };
}

void Diagnoser::LookAtRunning(const std::shared_ptr<JobState>& job, Watched& watched,
                              const JobMoment& moment) {
  const bool asked = watched.rows_deadline.known();
  if (asked && AwaitsRows(*job, watched)) {
    watched.findings.uneasy = true;
    return;
  }
  watched.rows_deadline = MonoNs();
  std::optional<Sight> sight = std::exchange(watched.asked_for, std::nullopt);
  if (!sight) sight = See(*job, watched, moment);
  const diagnosis::Suspicion& suspicion = sight->suspicion;
  const bool suspicious = suspicion.slow || suspicion.stalled || suspicion.differs;
  watched.findings.uneasy = suspicious || NewestIsIrregular(sight->view, suspicion);
  if (!suspicious) return;
  if (!asked && AskForRows(job, suspicion.rows, watched)) {
    // Of stalled ranks the newest facts count.
    if (!suspicion.stalled) watched.asked_for = std::move(sight);
    return;
  }
  Judge(*job, *std::move(sight), watched, moment);
}

Diagnoser::Sight Diagnoser::See(JobState& job, Watched& watched, JobMoment moment) {
  job.BeginLook();
  Sight sight{job.View(Connected()), {}};
  diagnosis::Episode asked_ahead = std::exchange(watched.ahead, {});
  if (sight.view.episode.onset.value < 0) sight.view.episode = asked_ahead;
  sight.suspicion = functions_.watch(sight.view, config_);
  LookAtPaths(sight, watched, moment);
  job.SetSuspicion(sight.suspicion);
  if (sight.suspicion.slow || sight.suspicion.stalled || sight.suspicion.differs) {
    if (!watched.suspected.known()) watched.suspected = moment.mono;
    return sight;
  }
  watched.suspected = MonoNs();
  watched.localized = false;
  moment.repeated = watched.foreseen == EvidenceOf(sight.view);
  parts_.ledger.Update(moment, sight.suspicion, nullptr);
  if (moment.repeated) {
    watched.ahead = std::move(asked_ahead);
    return sight;
  }
  // Of short iterations another comes before the next look anyway.
  if (sight.suspicion.expected < LookSchedule::kGap) return sight;
  if (!diagnosis::MayBeSlowSoon(sight.view, sight.suspicion, config_)) return sight;
  diagnosis::Suspicion ahead = functions_.watch(sight.view, ahead_);
  if (ahead.slow) sight = {std::move(sight.view), std::move(ahead), true};
  return sight;
}

bool Diagnoser::AwaitsRows(const JobState& job, const Watched& watched) {
  const bool outstanding = parts_.requests.Outstanding(job.name()) > 0;
  return outstanding && parts_.clock.Mono() < watched.rows_deadline;
}

bool Diagnoser::AskForRows(const std::shared_ptr<JobState>& job,
                           const diagnosis::RowsWanted& wanted, Watched& watched) {
  if (wanted.empty()) return false;
  const MonoNs now = parts_.clock.Mono();
  if (parts_.requests.Ask(job, job->MissingRows(wanted), kRowsTimeout) == 0) return false;
  watched.rows_deadline = now + kRowsTimeout;
  return true;
}

void Diagnoser::Judge(JobState& job, Sight sight, Watched& watched, JobMoment moment) {
  if (sight.ahead) watched.foreseen = EvidenceOf(sight.view);
  job.FillRows(sight.suspicion.rows, sight.view);
  std::optional<Doing> diagnosing(std::in_place, parts_.work, CentrePart::kDiagnosis);
  AskFlows(sight.suspicion, sight.view);
  diagnosis::Diagnosis diagnosis =
      functions_.diagnose(sight.view, sight.suspicion, sight.ahead ? ahead_ : config_);
  AskHardware(sight.view, diagnosis);
  diagnosing.reset();
  const Evidence before = std::exchange(watched.judged, EvidenceOf(sight.view));
  if (!sight.ahead) {
    // A stall brings no new data, and what is said of it is confirmed by that.
    moment.repeated = !sight.suspicion.stalled && before == watched.judged;
    return Localize(job, sight, diagnosis, watched, std::move(moment));
  }
  watched.ahead.asked = std::move(sight.suspicion.rows.ranks);
  parts_.ledger.Foresee(moment, diagnosis);
}

void Diagnoser::AskFlows(const diagnosis::Suspicion& suspicion, diagnosis::JobView& view) const {
  if (parts_.hardware == nullptr || view.window.empty()) return;
  const bool told = std::any_of(view.ranks.begin(), view.ranks.end(),
                                [](const auto& facts) { return !facts.flows.empty(); });
  if (told || suspicion.stalled || (suspicion.slow && !suspicion.onset_time.known())) return;
  const WallNs from = suspicion.slow ? suspicion.onset_time : diagnosis::PathStretchOf(view);
  const std::vector<std::string> nodes = diagnosis::FlowNodesWanted(view);
  diagnosis::TellFlows(parts_.hardware->ConnectionsOf(nodes), from, view);
}

void Diagnoser::LookAtPaths(Sight& sight, Watched& watched, const JobMoment& moment) const {
  diagnosis::Suspicion& suspicion = sight.suspicion;
  if (parts_.hardware == nullptr || suspicion.slow || suspicion.stalled) return;
  const bool settled = watched.paths_alike >= kPathsSettled;
  const Nanos gap = GapOf(settled ? parts_.work : nullptr, CentreKnob::kPaths);
  const bool due = !watched.paths_looked.known() || moment.mono - watched.paths_looked >= gap;
  if (!due && !watched.path_differs) return;
  const Doing comparing(parts_.work, CentrePart::kPaths);
  watched.paths_looked = moment.mono;
  AskFlows(suspicion, sight.view);
  watched.path_differs = diagnosis::FindOddPath(sight.view, config_).has_value();
  watched.paths_alike = watched.path_differs ? 0 : watched.paths_alike + 1;
  suspicion.differs |= watched.path_differs;
}

void Diagnoser::AskHardware(const diagnosis::JobView& view, diagnosis::Diagnosis& diagnosis) const {
  if (parts_.hardware == nullptr) return;
  for (auto* verdicts : {&diagnosis.verdicts, &diagnosis.held_back}) {
    const std::vector<std::string> nodes = diagnosis::HardwareNodesWanted(view, *verdicts);
    if (nodes.empty()) continue;
    diagnosis::TellHardware(view, parts_.hardware->Of(nodes), *verdicts);
  }
  for (diagnosis::Verdict& verdict : diagnosis.held_back) {
    if (!Convicts(verdict)) continue;
    diagnosis.verdicts.push_back(std::move(verdict));
    diagnosis.named = true;
    diagnosis.undecided = false;
  }
  diagnosis.held_back.clear();
}

Diagnoser::Evidence Diagnoser::EvidenceOf(const diagnosis::JobView& view) {
  Evidence evidence;
  if (!view.window.empty()) evidence.newest = view.window.back().index;
  for (const diagnosis::IterationSummary& it : view.window) evidence.reports += it.ranks.size();
  for (const auto& [rank, rows] : view.rows) evidence.ops += rows.ops.size();
  return evidence;
}

void Diagnoser::Localize(JobState& job, const Sight& sight, const diagnosis::Diagnosis& diagnosis,
                         Watched& watched, JobMoment moment) {
  job.SetDiagnosis(diagnosis);
  moment.out_of_sight = OutOfSight(sight.view);
  const bool opened = parts_.ledger.Update(moment, sight.suspicion, &diagnosis);
  watched.findings.verdict_waits = sight.suspicion.stalled && parts_.ledger.Waits(moment.job);
  if (!opened || watched.localized) return;
  watched.localized = true;
  const service::MutexLock lock(mutex_);
  latencies_.localization.Observe(parts_.clock.Mono() - watched.suspected);
}

// Agents that cannot send all in time give up ops first, then health, then summaries.
void Diagnoser::TellShedding(diagnosis::JobView& view) const {
  std::set<std::string> nodes;
  for (const diagnosis::RankFacts& facts : view.ranks) nodes.insert(facts.node);
  const std::size_t shedding = parts_.registry.Shedding(nodes);
  if (shedding == 0) return;
  using Level = diagnosis::SignalState::Level;
  view.signals.push_back({"agents_in_time", shedding < nodes.size() ? Level::kPartly : Level::kOff,
                          "what agents could not send in time: ops first, then health, then "
                          "summaries"});
}

Diagnoser::Fresh Diagnoser::DiagnoseNow(const JobState& job) const {
  Fresh fresh{job.View(Connected()), {}};
  TellShedding(fresh.view);
  const diagnosis::Suspicion suspicion = functions_.watch(fresh.view, config_);
  job.FillRows(suspicion.rows, fresh.view);
  AskFlows(suspicion, fresh.view);
  fresh.diagnosis = functions_.diagnose(fresh.view, suspicion, config_);
  AskHardware(fresh.view, fresh.diagnosis);
  fresh.diagnosis.ranks = diagnosis::TotalsOf(fresh.view);
  return fresh;
}

std::vector<CalmLook> Diagnoser::calm_looks() const {
  const service::MutexLock lock(mutex_);
  return calm_looks_;
}

Diagnoser::Latencies Diagnoser::latencies() const {
  const service::MutexLock lock(mutex_);
  return latencies_;
}

}  // namespace fathom::collector
