#include "collector/runs/run_keeper.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "collector/job/state/job_moment.h"
#include "collector/runs/run_words.h"
#include "diagnosis/history/history_verdict.h"
#include "diagnosis/model/short_id.h"

namespace fathom::collector {
namespace {

using diagnosis::Distribution;
using diagnosis::RunOutcome;
using diagnosis::RunSample;

constexpr std::int64_t kWholeFrom = 1000;
constexpr std::int64_t kListed = 50;

std::string IdOf(const JobFigures& figures) {
  return diagnosis::ShortId(
      'r', absl::StrCat(figures.name, "|", figures.started.ns, "|", figures.restart_count));
}

std::int64_t After(std::int64_t mark) {
  if (mark == RunSample::kFirst) return RunSample::kStart;
  return mark == RunSample::kStart ? kWholeFrom : 3 * mark;
}

// What of a run the end of a stretch compares.
const Distribution& StretchOf(const RunRecord& run, std::int64_t mark) {
  if (mark == RunSample::kFirst) return run.first;
  return mark == RunSample::kStart ? run.start : run.whole;
}

// Of `runs`, the newest first, those that a new one is held against at this mark.
std::vector<RunRecord> HeldAgainst(const std::vector<RunRecord>& runs, std::int64_t mark) {
  std::vector<RunRecord> out;
  for (const RunRecord& run : runs) {
    if (out.size() == diagnosis::HistoryLimits::kMostRuns) break;
    const Distribution& stretch = StretchOf(run, mark);
    const bool long_enough = mark < kWholeFrom || stretch.count >= RunSample::kStart;
    if (stretch.known() && long_enough) out.push_back(run);
  }
  return out;
}

std::vector<Distribution> StretchesOf(const std::vector<RunRecord>& runs, std::int64_t mark) {
  std::vector<Distribution> out;  // the newest last
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) out.push_back(StretchOf(*run, mark));
  return out;
}

double SpanOf(const std::vector<RunRecord>& runs) {
  if (runs.empty()) return 0;
  const auto [first, last] = std::minmax_element(
      runs.begin(), runs.end(),
      [](const RunRecord& a, const RunRecord& b) { return a.started < b.started; });
  return (last->started - first->started).Seconds();
}

}  // namespace

RunKeeper::Kept RunKeeper::Begin(const JobFigures& figures) const {
  Kept kept;
  kept.incarnation = figures.incarnation;
  const std::string id = IdOf(figures);
  if (auto known = parts_.store.FindRun(id)) {
    kept.record = *std::move(known);
    kept.record.ended = false;
    while (kept.record.iterations >= kept.next_mark) kept.next_mark = After(kept.next_mark);
    kept.stands = kept.record.outcome == RunOutcome::kSlower;
  }
  kept.record.id = id;
  kept.record.job = figures.name;
  kept.record.started = figures.started;
  return kept;
}

void RunKeeper::Looked(const JobState& job) {
  const Doing accounting(parts_.work, CentrePart::kAccounts);
  const JobFigures figures = job.Figures();
  if (figures.ended || figures.ranks == 0) return;
  const service::MutexLock lock(mutex_);
  auto at = kept_.find(figures.name);
  if (at != kept_.end() && at->second.incarnation != figures.incarnation) {
    at->second.record.ended = true;
    Save(at->second);
    kept_.erase(at);
    at = kept_.end();
  }
  if (at == kept_.end()) {
    at = kept_.emplace(figures.name, Begin(figures)).first;
    ended_.erase(figures.name);
  }
  Kept& kept = at->second;
  Take(job, figures, kept);
  CompareIfDue(figures, kept);
  if (parts_.clock.Mono() - kept.saved >= RestOf(parts_.work, kEvery)) Save(kept);
}

bool RunKeeper::Convicted(const JobFigures& figures) const {
  const auto episodes = parts_.ledger.Of(figures.name);
  return std::any_of(episodes.begin(), episodes.end(), [](const Episode& each) {
    // Work that is unequal by design is so in every run.
    const bool usual = each.verdict.entity.type == diagnosis::EntityType::kJob ||
                       each.verdict.cause == diagnosis::Cause::kImbalance;
    return each.open() && Convicts(each.verdict) && !usual;
  });
}

void RunKeeper::Take(const JobState& job, const JobFigures& figures, Kept& kept) const {
  const bool all_sick = figures.stalled || Convicted(figures);
  for (const auto& [iteration, parts] : job.IterationsAfter(kept.sample.newest())) {
    const bool sick = all_sick || (figures.slow && iteration >= figures.slow_since);
    sick ? kept.sample.Skip(iteration) : kept.sample.Add(iteration, parts);
  }
  RunRecord& record = kept.record;
  record.iterations = figures.iteration + 1;
  record.ranks = figures.ranks;
  record.last_seen = parts_.clock.Wall();
  const JobState::RunSeen seen = job.Run();
  if (seen.known) {
    record.profile = seen.profile;
    record.setup = seen.setup;
  }
  if (!record.first.known()) {
    record.first = kept.sample.Upto(RunSample::kFirst).value_or(Distribution());
  }
  if (!record.start.known()) {
    record.start = kept.sample.Upto(RunSample::kStart).value_or(Distribution());
  }
  Distribution whole = kept.sample.Whole();
  if (whole.count >= record.whole.count) record.whole = std::move(whole);
}

void RunKeeper::CompareIfDue(const JobFigures& figures, Kept& kept) {
  if (kept.sample.newest() + 1 < kept.next_mark || !kept.record.profile.known()) return;
  std::int64_t mark = kept.next_mark;
  while (kept.sample.newest() + 1 >= After(mark)) mark = After(mark);
  kept.next_mark = After(mark);
  const auto of_profile = parts_.store.RunsOfProfile(ProfileId(kept.record.profile));
  const auto comparable = Comparable(kept.record, of_profile);
  const auto earlier = HeldAgainst(comparable, mark);
  const auto judgement = JudgeRun(StretchOf(kept.record, mark), StretchesOf(earlier, mark));
  if (comparable.empty()) {
    kept.record.sentence = LikeNone(kept.record, parts_.store.Runs("", kListed));
  } else if (judgement.outcome != RunOutcome::kUnknown) {
    kept.record.outcome = judgement.outcome;
    kept.record.sentence = OutcomeInWords(judgement);
    Tell(figures, judgement, earlier, kept);
  } else if (!kept.stands) {
    kept.record.sentence = OutcomeInWords(judgement);
  }
  Save(kept);
}

void RunKeeper::Tell(const JobFigures& figures, const diagnosis::RunJudgement& judgement,
                     const std::vector<RunRecord>& earlier, Kept& kept) {
  const JobMoment now = MomentOf(figures, parts_.clock);
  if (judgement.outcome != RunOutcome::kSlower) {
    if (std::exchange(kept.stands, false)) {
      parts_.ledger.Withdraw(now, absl::StrCat("over ", judgement.iterations,
                                               " iterations it takes as long as earlier runs"));
    }
    return;
  }
  // Who is convicted explains the loss.
  if (Convicted(figures)) return;
  diagnosis::HistoryCase c;
  c.judgement = judgement;
  c.profile = kept.record.profile;
  c.run = kept.record.id;
  c.last_run = earlier.front().id;
  std::vector<diagnosis::RunSetup> before;
  for (std::size_t i = 1; i < earlier.size(); ++i) before.push_back(earlier[i].setup);
  c.changes = ChangesBetween(earlier.front().setup, kept.record.setup, before);
  c.setup_known = earlier.front().setup.known() && kept.record.setup.known();
  c.span_s = SpanOf(earlier);
  c.ranks = figures.ranks;
  diagnosis::Verdict verdict = SlowerThanHistory(c);
  verdict.since_time = figures.started;
  kept.stands = true;
  kept.record.sentence = verdict.sentence;
  parts_.ledger.Stand(now, verdict);
}

void RunKeeper::Save(Kept& kept) {
  const Doing writing(parts_.work, CentrePart::kWrites);
  kept.saved = parts_.clock.Mono();
  if (!kept.record.profile.known()) return;
  parts_.store.Save(kept.record).IgnoreError();  // counted, and shown as degraded
}

void RunKeeper::Ended(const JobState& job) {
  const service::MutexLock lock(mutex_);
  const auto at = kept_.find(job.name());
  if (at == kept_.end()) return;
  const JobFigures figures = job.Figures();
  Kept& kept = at->second;
  Take(job, figures, kept);
  CompareIfDue(figures, kept);
  parts_.ledger.CloseAll(MomentOf(figures, parts_.clock), "the job ended");
  kept.record.ended = true;
  Save(kept);
  if (ended_.size() >= kMostEnded) ended_.erase(ended_.begin());
  ended_[job.name()] = std::move(kept.record);
  kept_.erase(at);
}

void RunKeeper::Forget(const std::string& job) {
  const service::MutexLock lock(mutex_);
  kept_.erase(job);
}

void RunKeeper::SaveAll() {
  const service::MutexLock lock(mutex_);
  for (auto& [job, kept] : kept_) Save(kept);
}

RunRecord RunKeeper::RunOf(const std::string& job) const {
  const service::MutexLock lock(mutex_);
  const auto at = kept_.find(job);
  if (at != kept_.end()) return at->second.record;
  const auto ended = ended_.find(job);
  return ended == ended_.end() ? RunRecord() : ended->second;
}

}  // namespace fathom::collector
