#include "diagnosis/history/regression.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "diagnosis/stats/robust.h"

namespace fathom::diagnosis {
namespace {

using Limits = HistoryLimits;

constexpr double kMarkedShare = 0.5;  // of the growth, in what sources mark

double MeanDistance(const Distribution& run, const std::vector<Distribution>& history,
                    std::size_t without) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (i != without) distances.push_back(ShapeDistance(run, history[i]));
  }
  return Mean(distances);
}

IterationParts MeanParts(const std::vector<Distribution>& history) {
  IterationParts sum;
  for (const Distribution& each : history) sum += each.mean;
  return MeanOf(sum, history.size());
}

IssueShift CompareIssue(const Distribution& run, const std::vector<Distribution>& history) {
  std::vector<IssueShares> earlier;
  for (const Distribution& each : history) earlier.push_back(each.mean.issued);
  return ShiftOf(run.mean.issued, earlier);
}

void CompareShapes(const Distribution& run, const std::vector<Distribution>& history,
                   RunJudgement& out) {
  out.shape_s = MeanDistance(run, history, history.size());
  double largest = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    out.usual_shape_s = std::max(out.usual_shape_s, MeanDistance(history[i], history, i));
    largest = std::max(largest, history[i].Bulk());
  }
  const double least =
      std::max(Limits::kShapeFactor * out.usual_shape_s, Limits::kShapeShare * out.before_s);
  out.by_shape = run.count >= Limits::kShapeIterations && out.shape_s > least &&
                 run.Bulk() > (1 + LeastGrowth(run.count)) * largest;
}

// Waiting for cores lies in void time too, wherever it is.
bool GrewBy(const MetricShift& shift, double least_s, double cores_s) {
  return shift.known && shift.chance_above < Limits::kMostChance &&
         shift.after - shift.before - std::max(0.0, cores_s) > least_s;
}

void CompareMetrics(RunJudgement& out) {
  const double least_s = LeastGrowth(out.iterations) * out.before.duration_s;
  const double cores_s = out.after.cores_s - out.before.cores_s;
  out.more_between = GrewBy(out.shifts.between, least_s, cores_s);
  out.more_within = GrewBy(out.shifts.within, least_s, cores_s);
  const MetricShift& work = out.shifts.work;
  out.more_work =
      work.known && work.chance_above < Limits::kMostChance && work.growth() > Limits::kMoreWork;
  const MetricShift& rate = out.shifts.rate;
  out.lower_rate =
      rate.known && rate.chance_below < Limits::kMostChance && rate.growth() < -Limits::kLowerRate;
}

// A growth that is mostly waiting for cores.
bool Starved(const RunJudgement& out) {
  const double growth = out.after.duration_s - out.before.duration_s;
  const double cores = out.after.cores_s - out.before.cores_s;
  return growth > 0 && cores > Limits::kCoresShare * growth;
}

// What is left without waiting for cores tells by itself, or together with a metric that has moved.
void ConcludeNet(RunJudgement& out) {
  const MetricShift& net = out.shifts.net;
  const bool moved = out.more_between || out.more_within || out.more_work || out.lower_rate;
  const double chance = out.more_work ? Limits::kWorkChance : Limits::kMetricChance;
  out.by_net = net.known && net.chance_above < Limits::kMostChance &&
               net.growth() > LeastGrowth(out.iterations);
  out.by_metric = net.known && !out.by_net && moved && net.chance_above < chance &&
                  net.growth() > Limits::kMetricGrowth;
  if (!out.by_net && !out.by_metric) return;
  out.before_s = net.before;
  out.after_s = net.after;
  out.chance = net.chance_above;
  out.by_shape = out.by_issue = false;
}

// What the caller gets is named by what decides.
void Conclude(double chance_slower, RunJudgement& out) {
  const double least = LeastGrowth(out.iterations);
  const bool slower = chance_slower < Limits::kMostChance && out.growth() > least;
  const bool faster = 1 - chance_slower < Limits::kMostChance && out.growth() < -least;
  out.by_shape = out.by_shape && !slower && !faster;
  const bool grew = chance_slower < Limits::kIssueChance && out.growth() > Limits::kIssueGrowth;
  out.unpriced = out.issue.far && !grew && !faster && out.told_from > Limits::kBlindTo;
  out.by_issue = out.issue.fallen && !slower && !out.by_shape && (grew || out.unpriced);
  out.unpriced = out.unpriced && out.by_issue;
  out.chance = faster ? 1 - chance_slower : chance_slower;
  const bool by_duration = slower || out.by_shape || out.by_issue;
  if (out.unpriced || (by_duration && !Starved(out))) {
    out.outcome = RunOutcome::kSlower;
    if (!out.by_shape) return;
    out.before_s = out.before.duration_s;
    out.after_s = out.after.duration_s;
    return;
  }
  out.outcome = by_duration ? RunOutcome::kStarved
                : faster    ? RunOutcome::kFaster
                            : RunOutcome::kSame;
  if (!faster) ConcludeNet(out);
  if (out.by_net || out.by_metric) out.outcome = RunOutcome::kSlower;
}

}  // namespace

std::string_view ToString(RunOutcome outcome) {
  constexpr std::array<std::string_view, 5> kNames = {"unknown", "same", "slower", "faster",
                                                      "starved"};
  return kNames[static_cast<std::size_t>(outcome)];
}

double LeastGrowth(std::int64_t iterations) {
  return iterations < RunSample::kStart / 2 ? 0.025 : 0.0125;
}

RunJudgement JudgeRun(const Distribution& run, const std::vector<Distribution>& all) {
  RunJudgement out;
  out.iterations = run.count;
  std::vector<Distribution> history;
  for (const Distribution& each : all) {
    if (each.known() && each.Location() > 0) history.push_back(each);
  }
  if (history.size() > Limits::kMostRuns) {
    history.erase(history.begin(), history.end() - Limits::kMostRuns);
  }
  out.runs = history.size();
  if (!run.known() || run.Location() <= 0) {
    out.why = "too few healthy iterations of this run";
    return out;
  }
  if (history.size() < Limits::kLeastRuns) {
    out.why = absl::StrCat("earlier healthy runs of its profile: there are ", history.size(),
                           " of at least ", Limits::kLeastRuns);
    return out;
  }
  out.shifts = ShiftsOf(run, history);
  const MetricShift& duration = out.shifts.duration;
  out.before_s = duration.before;
  out.after_s = duration.after;
  out.spread = duration.spread;
  out.told_from = std::max(LeastGrowth(run.count), duration.GrowthAt(Limits::kMostChance));
  out.before = MeanParts(history);
  out.after = run.mean;
  CompareShapes(run, history, out);
  out.issue = CompareIssue(run, history);
  CompareMetrics(out);
  Conclude(duration.chance_above, out);
  return out;
}

bool Witnessed(const RunJudgement& j) {
  if (j.issue.fallen || j.more_work) return true;
  const double growth = j.growth();
  const auto out_of_place = [&](bool grew, const MetricShift& shift) {
    return grew && shift.growth() > Limits::kOutOfPlace * growth;
  };
  if (out_of_place(j.more_between, j.shifts.between)) return true;
  if (out_of_place(j.more_within, j.shifts.within)) return true;
  const MetricShift& rate = j.shifts.rate;
  if (rate.known && rate.before / rate.after - 1 < Limits::kPaceShare * growth) return true;
  const double longer_s = j.after.duration_s - j.before.duration_s;
  const double marked_s =
      std::max(j.after.gc_s - j.before.gc_s, j.after.dataloader_s - j.before.dataloader_s);
  return marked_s > kMarkedShare * longer_s;
}

std::string LeadingPart(const IterationParts& before, const IterationParts& after) {
  constexpr double kLeads = 0.4;  // of the growth
  const double growth = after.duration_s - before.duration_s;
  if (growth <= 0) return "";
  if (after.gc_s - before.gc_s > kMarkedShare * growth) return "garbage collection";
  if (after.dataloader_s - before.dataloader_s > kMarkedShare * growth)
    return "waiting for batches";
  const std::pair<double, const char*> parts[] = {
      {after.computing_s - before.computing_s, "computing on the CPU"},
      {after.communication_s - before.communication_s, "communication, with the waits in it"},
      {after.cores_s - before.cores_s, "waiting for cores"},
      {after.host_s() - before.host_s(), "host time (neither computing nor communicating)"}};
  const auto& most = *std::max_element(std::begin(parts), std::end(parts));
  return most.first > kLeads * growth ? most.second : "";
}

}  // namespace fathom::diagnosis
