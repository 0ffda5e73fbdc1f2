#include "diagnosis/schedule/slow_worker.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "diagnosis/evidence/cost.h"
#include "diagnosis/schedule/replay.h"
#include "diagnosis/schedule/slow_workers.h"
#include "diagnosis/wording/phrase.h"

namespace fathom::diagnosis {
namespace {

RankId RankOf(const ScheduleTrace& trace, std::size_t replica, std::size_t stage) {
  for (const Worker& worker : trace.workers) {
    if (static_cast<std::size_t>(worker.replica) == replica &&
        static_cast<std::size_t>(worker.stage) == stage) {
      return worker.rank;
    }
  }
  return kNoRank;
}

Grade GradeOf(const Case& c, const SlowWorker& slow, double odds) {
  const bool contrasted = c.replay->schedule().stages > 1;
  const bool costly = slow.step_s >= c.config.delta * slow.repaired_s;
  if (contrasted && costly && slow.steps >= kEstablishedIterations &&
      odds >= c.config.established_odds()) {
    return Grade::kEstablished;
  }
  return odds >= c.config.supported_odds ? Grade::kSupported : Grade::kUnknown;
}

void Describe(const Case& c, const SlowWorker& slow, Verdict& verdict) {
  const Schedule& schedule = c.replay->schedule();
  const std::int64_t since = schedule.steps[slow.since];
  const RankId rank = verdict.entity.ranks.front();
  verdict.sentence = absl::StrFormat(
      "Rank %d (replica %d, stage %d) takes %.2f times as long to compute as the others with the "
      "same work, %s: %s against %s a step. A step takes %s; with it as its peers it would take "
      "%s.",
      rank.value, slow.replica, slow.stage, slow.ratio,
      slow.since == 0 ? std::string("in all of the recording") : absl::StrCat("since step ", since),
      Duration(slow.seconds), Duration(slow.peers), Duration(slow.step_s),
      Duration(slow.repaired_s));
  verdict.evidence.push_back({"Computing in a step, against its peers in other replicas.",
                              slow.seconds, "s", slow.peers, "schedule"});
  verdict.evidence.push_back({"Steps in which it is that much slower.",
                              static_cast<double>(slow.shows), "steps",
                              static_cast<double>(slow.steps), "schedule"});
  verdict.evidence.push_back({"Step time of the replay, against one in which it is as its peers.",
                              slow.step_s, "s", slow.repaired_s, "what_if"});
  if (schedule.stages > 1) {
    verdict.evidence.push_back(
        {"The other stages of its replica are not slower than their peers, "
         "so it was given no more work.",
         static_cast<double>(schedule.stages - 1), "stages", 0, "schedule"});
  } else {
    verdict.counter_evidence.push_back(
        {"With one stage, longer sequences in this replica would look alike.", slow.ratio, "times",
         1, "schedule"});
  }
  if (c.view.schedule.ranks_per_worker > 1) {
    verdict.counter_evidence.push_back(
        {"One rank stands for the tensor group of the worker; the slow device may be any of it.",
         static_cast<double>(c.view.schedule.ranks_per_worker), "ranks", 1, "schedule"});
  }
  verdict.would_change.push_back(
      "The same device computing as fast as others, in a probe or in another job.");
}

Verdict Convict(const Case& c, const SlowWorker& slow) {
  Verdict verdict;
  verdict.cause = Cause::kComputeSlow;
  verdict.posterior_odds = PosteriorOdds(c.config.prior_rank, slow.shows, slow.steps,
                                         c.config.chance_share(), c.config.guilty_share());
  verdict.grade = GradeOf(c, slow, verdict.posterior_odds);
  verdict.problem = ClassOf(verdict.cause);
  verdict.owner = OwnerOf(verdict.cause);
  const RankId rank = RankOf(c.view.schedule, slow.replica, slow.stage);
  verdict.entity.type = EntityType::kRank;
  verdict.entity.ranks = {rank};
  verdict.since_iteration = Iteration(c.replay->schedule().steps[slow.since]);
  verdict.cost = CostOfSteps(c.view, slow.steps, slow.step_s, slow.repaired_s);
  for (const Worker& worker : c.view.schedule.workers) {
    if (worker.rank != rank) verdict.victims.push_back(worker.rank);
  }
  Describe(c, slow, verdict);
  AdviseOnRank(c.view, rank, verdict);
  return verdict;
}

void Examine(const Case& c, Findings& out) {
  if (c.replay == nullptr) return;
  const char* const question = "whether a worker is slower than others with the same work";
  if (c.replay->schedule().replicas < 2) {
    out.abstained.push_back({question, "a second replica to compare it with"});
    return;
  }
  const SlowWorkers found = FindSlowWorkers(*c.replay, c.config);
  for (const SlowWorker& slow : found.workers) {
    Verdict verdict = Convict(c, slow);
    if (verdict.grade != Grade::kUnknown) out.verdicts.push_back(std::move(verdict));
  }
  for (const std::size_t replica : found.replicas) {
    out.abstained.push_back(
        {absl::StrCat("why replica ", replica, " computes more slowly than others at every stage"),
         "the lengths of its sequences, or the health of its nodes"});
  }
}

}  // namespace

Rule SlowWorkerRule() {
  return {"slow_worker",
          {"schedule"},
          "whether a worker is slower than others with the same work",
          [](const Suspicion& s) { return !s.stalled; },
          Examine};
}

}  // namespace fathom::diagnosis
