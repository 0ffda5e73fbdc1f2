// The part of Api below /api/v1/jobs.
#include <algorithm>

#include "collector/api/api.h"
#include "collector/api/job_json.h"
#include "collector/api/profile_json.h"
#include "collector/export/hardware_json.h"
#include "collector/export/job_ledger_proto.h"
#include "collector/export/report.h"
#include "collector/month/recovery_loss.h"
#include "collector/runs/work_figures.h"
#include "diagnosis/hardware/tell/tell_hardware.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

std::string JobObject(const JobState& job, const VerdictLedger& ledger) {
  JsonWriter json;
  json.BeginObject();
  WriteJob(job.Figures(), ledger.Of(job.name()), json);
  return json.EndObject().Take();
}

void PutWork(const WorkFigures& figures, v1::Work& out) {
  out.set_iterations(static_cast<std::uint64_t>(figures.iterations));
  out.set_device(figures.device);
  out.set_flop_per_s(figures.flop_per_s);
  out.set_mfu_ratio(figures.mfu.value_or(0));
  out.set_mfu_unknown(figures.mfu_unknown);
  out.set_peak_source(figures.peak_source);
  out.set_void_between_ratio(figures.void_between.value_or(0));
  out.set_void_within_ratio(figures.void_within.value_or(0));
  out.set_void_known(figures.void_between.has_value());
  out.set_sentence(InWords(figures));
}

// Until when it took the job's time, as far as is known.
std::int64_t LastedUntil(const ToldRecovery& told) {
  if (told.under_way()) return told.told_ns;
  return std::max(told.times.running_ns, told.times.ended_ns);
}

// Of recoveries that the account began with, or that came since; nothing where there is none.
void PutDowntime(std::vector<ToldRecovery> told, WallNs since, WallNs now, v1::Report& out) {
  constexpr double kHour = 3600;
  std::erase_if(told, [&](const ToldRecovery& each) { return LastedUntil(each) < since.ns; });
  if (told.empty()) return;
  const RecoveryLosses losses = RecoveryLossesOf(told, WallNs(), now);
  v1::JobLedger::Downtime& downtime = *out.mutable_job_ledger()->mutable_downtime();
  downtime.set_recoveries(static_cast<std::int64_t>(losses.count));
  downtime.set_recovered(static_cast<std::int64_t>(losses.recovered));
  double hours = 0;
  for (const StageLoss& each : losses.stages) {
    hours += each.gpu_hours;
    if (each.seconds <= 0) continue;
    v1::JobLedger::Downtime::Stage& stage = *downtime.add_stages();
    stage.set_stage(each.stage);
    stage.set_seconds(each.seconds);
    stage.set_lost_gpu_s(kHour * each.gpu_hours);
  }
  downtime.set_lost_gpu_s(kHour * hours);
}

}  // namespace

std::vector<std::string> Api::JobObjects(const std::string& name) const {
  std::vector<std::string> objects;
  for (const auto& job : parts_.jobs.All()) {
    if (!name.empty() && job->name() != name) continue;
    if (job->rank_count() > 0) objects.push_back(JobObject(*job, parts_.ledger));
  }
  return objects;
}

Response Api::Jobs() const {
  JsonWriter json;
  json.BeginObject().Key("jobs").BeginArray();
  for (const std::string& object : JobObjects("")) json.Raw(object);
  return Response::Json(json.EndArray().EndObject().Take());
}

Response Api::AnswerJob(const Request& request) const {
  const auto& at = request.segments;
  const std::string what = at.size() == 5 ? at[4] : "";
  const auto job = parts_.jobs.Find(at[3]);
  if (job == nullptr || job->rank_count() == 0) {
    const auto stored = what == "report" ? parts_.store.FindJob(at[3]) : std::nullopt;
    if (stored && !stored->report_json.empty()) return Response::Json(stored->report_json);
    auto unread = what == "report" ? Unread() : std::nullopt;
    if (unread && !stored) return *std::move(unread);
    return Response::Error(404, "no job " + at[3] + "; see /api/v1/jobs");
  }
  if (at.size() == 4) return Job(*job);
  if (what == "report") return Response::Json(ReportOf(*job));
  if (what == "iterations") return Iterations(*job, request);
  if (what == "profile") return Profile(*job, request);
  if (what == "capture") return Capture(*job, request);
  if (what == "trace") return Trace(*job, request);
  if (what == "stacks") return Stacks(*job, request);
  if (what == "hardware") return Hardware(*job, request);
  if (what == "health") return Response::Json(HealthJson(*job, parts_.registry.Agents()));
  if (what == "pictures") return Pictures(job, request);
  if (what == "perfetto") return Perfetto(*job);
  if (what == "bandwidth") return Bandwidth(job, request);
  if (what == "work") return Work(*job);
  if (what == "communicators") return Communicators(*job, request);
  return Response::Error(404,
                         "a job has report, iterations, health, hardware, profile, capture, trace, "
                         "stacks, pictures, perfetto, bandwidth, work and communicators");
}

Response Api::Job(const JobState& job) const {
  JsonWriter json;
  json.BeginObject();
  WriteJob(job.Figures(), parts_.ledger.Of(job.name()), json);
  WriteMembers(job, parts_.diagnoser.Connected(), json);
  return Response::Json(json.EndObject().Take());
}

Response Api::Profile(JobState& job, const Request& request) const {
  if (request.method != "POST") return Response::Json(ProfileJson(job));
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  const auto wish = ParseWish(request);
  if (!wish) {
    return Response::Error(
        400,
        "seconds is a number from 1 to 300, iterations one to 100000, ranks a list "
        "like 0,3,5");
  }
  if (!parts_.profile) return Response::Error(503, "this collector opens no windows");
  const absl::Status asked = parts_.profile(job, *wish);
  if (!asked.ok()) return Response::Error(409, std::string(asked.message()));
  return Response::Json(ProfileJson(job));
}

// Of the node that is asked for, else of those of open verdicts and some to compare with, else of
// the first few.
Response Api::Hardware(const JobState& job, const Request& request) const {
  constexpr std::size_t kUnasked = 4;
  const diagnosis::JobView view = job.View(parts_.diagnoser.Connected());
  if (parts_.hardware == nullptr) return Response::Json(HardwareJson(view, {}));
  if (const std::string asked = request.Text("node"); !asked.empty()) {
    return Response::Json(HardwareJson(view, parts_.hardware->Of({asked})));
  }
  std::vector<diagnosis::Verdict> open;
  for (const Episode& episode : parts_.ledger.Of(job.name())) {
    if (episode.open()) open.push_back(episode.verdict);
  }
  std::vector<std::string> nodes = diagnosis::HardwareNodesWanted(view, open);
  for (const diagnosis::RankFacts& facts : view.ranks) {
    const bool known = std::find(nodes.begin(), nodes.end(), facts.node) != nodes.end();
    if (!known && nodes.size() < kUnasked) nodes.push_back(facts.node);
  }
  return Response::Json(HardwareJson(view, parts_.hardware->Of(nodes)));
}

Response Api::Iterations(const JobState& job, const Request& request) const {
  const auto after = request.Number("after", -1);
  const auto limit = request.Number("limit", kDefaultIterations);
  if (!after || !limit || *limit < 1 || *limit > kMaxIterations) {
    return Response::Error(400, "after is a number, limit one from 1 to 2000");
  }
  return Response::Json(IterationsJson(job, *after, static_cast<std::size_t>(*limit)));
}

std::string Api::ReportOf(const JobState& job) const {
  v1::Report report;
  const auto fresh = parts_.diagnoser.DiagnoseNow(job);
  BuildReport(fresh.view, fresh.diagnosis, parts_.ledger.Of(job.name()), "live", report);
  TellOfHistory(job.name(), report);
  const auto account = parts_.account ? parts_.account(job.name()) : std::nullopt;
  if (account) ToProto(*account, *report.mutable_job_ledger());
  // An account begins anew where all processes did.
  const bool counted = account && !account->slices.empty();
  PutDowntime(parts_.store.Recoveries(job.name(), Store::kMaxRecoveriesOfJob),
              counted ? account->slices.front().begin : job.Figures().started, parts_.clock.Wall(),
              report);
  PutWork(FiguresOf(job, parts_.store), *report.mutable_work());
  return ToJson(report);
}

// That its history is not there to compare with.
void Api::TellOfHistory(const std::string& job, v1::Report& report) const {
  if (!parts_.run) return;
  const RunRecord run = parts_.run(job);
  if (run.id.empty() || run.outcome != diagnosis::RunOutcome::kUnknown) return;
  v1::Abstention& out = *report.add_abstained();
  out.set_question("whether the job is slower than earlier runs of its profile");
  out.set_missing(!run.sentence.empty()  ? run.sentence
                  : !run.profile.known() ? "what it does in an iteration, which is told after some"
                                         : "its first 50 healthy iterations");
}

}  // namespace fathom::collector
