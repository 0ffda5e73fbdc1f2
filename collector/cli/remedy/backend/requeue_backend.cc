#include "collector/cli/remedy/backend/requeue_backend.h"

#include <algorithm>
#include <string_view>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

std::string Field(const SlurmJob& job, const char* name) {
  const auto at = job.find(name);
  return at == job.end() || at->second == "(null)" ? "" : at->second;
}

bool Pending(const SlurmJob& job) { return Field(job, "JobState") == "PENDING"; }
bool Held(const SlurmJob& job) { return Pending(job) && Field(job, "Priority") == "0"; }

// Its run was ended and is being cleared away.
bool Leaving(const SlurmJob& job) {
  const std::string state = Field(job, "JobState");
  return state == "COMPLETING" || state.starts_with("REQUEUE");
}

// The run that was there before the deed is over, or about to be.
bool Ended(const SlurmJob& job, const Json& before) {
  return Field(job, "Restarts") != TextField(before, "restarts") || Held(job) || Leaving(job);
}

bool Lists(const std::string& list, const std::string& node) {
  return !list.empty() && WithNode(list, node) == list;
}

bool Numeric(const std::string& id) {
  return !id.empty() && id.find_first_not_of("0123456789") == id.npos;
}

}  // namespace

SlurmJob ReadSlurmJob(const std::string& text) {
  SlurmJob job;
  for (const std::string_view word : SplitWords(text, " \n")) {
    const std::size_t equals = word.find('=');
    if (equals != word.npos)
      job.emplace(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
  }
  return job;
}

std::string WithNode(const std::string& list, const std::string& node) {
  if (list.empty() || list == "(null)") return node;
  for (const std::string_view each : SplitWords(list, ",")) {
    if (each == node) return list;
  }
  return Cat(list, ",", node);
}

std::string WithoutNode(const std::string& list, const std::string& node) {
  std::vector<std::string> left;
  for (const std::string_view each : SplitWords(list, ",")) {
    if (each != node) left.emplace_back(each);
  }
  return Join(left, ",");
}

std::string RequeueBackend::IdOf(const Remedy& remedy) const {
  if (!options_.slurm_job.empty()) return options_.slurm_job;
  return remedy.job.starts_with("slurm-") ? remedy.job.substr(6) : "";
}

absl::Status RequeueBackend::Scontrol(std::vector<std::string> words) const {
  std::vector<std::string> argv = options_.scontrol;
  argv.insert(argv.end(), words.begin(), words.end());
  const auto result = run_(argv, Nanos::FromSeconds(options_.command_s));
  if (!result.ok()) return absl::UnavailableError(Message(result.status()));
  if (result->exit_code == 0) return absl::OkStatus();
  return absl::UnknownError(Cat("scontrol ", words[0], ": ", PrintableLine(result->errors)));
}

absl::StatusOr<SlurmJob> RequeueBackend::Read(const Remedy& remedy) const {
  const std::string id = IdOf(remedy);
  if (!Numeric(id))
    return absl::InvalidArgumentError(
        Cat("'", remedy.job, "' is no job of Slurm; say which (slurm_job)"));
  std::vector<std::string> argv = options_.scontrol;
  argv.insert(argv.end(), {"show", "job", id, "-o"});
  const auto result = run_(argv, Nanos::FromSeconds(options_.command_s));
  if (!result.ok()) return absl::UnavailableError(Message(result.status()));
  if (result->exit_code != 0)
    return absl::UnavailableError(Cat("scontrol: ", PrintableLine(result->errors)));
  return ReadSlurmJob(result->output);
}

absl::Status RequeueBackend::Check(const Remedy& remedy) {
  const auto job = Read(remedy);
  if (!job.ok()) return job.status();
  if (Field(*job, "JobState") != "RUNNING")
    return absl::FailedPreconditionError(
        Cat("job ", IdOf(remedy), " does not run: ", Field(*job, "JobState")));
  if (Field(*job, "Requeue") != "1")
    return absl::FailedPreconditionError(
        Cat("job ", IdOf(remedy), " may not be requeued; it was submitted with --no-requeue"));
  return absl::OkStatus();
}

absl::StatusOr<Json> RequeueBackend::Before(const Remedy& remedy, Step /*step*/) {
  const auto job = Read(remedy);
  if (!job.ok()) return job.status();
  return Json{{"state", Field(*job, "JobState")},
              {"restarts", Field(*job, "Restarts")},
              {"excluded", Field(*job, "ExcNodeList")}};
}

absl::StatusOr<SlurmJob> RequeueBackend::ReadWhenPending(const Remedy& remedy) const {
  absl::StatusOr<SlurmJob> job;
  const auto came = ComesToBe(waiting_, options_.pending_s, [&]() -> absl::StatusOr<bool> {
    job = Read(remedy);
    return job.ok() && Pending(*job);
  });
  return came.ok() ? job : came.status();
}

absl::Status RequeueBackend::Isolate(const Remedy& remedy, const Json& before) const {
  auto job = Read(remedy);
  if (!job.ok()) return job.status();
  if (!Ended(*job, before)) {
    if (auto held = Scontrol({"requeuehold", IdOf(remedy)}); !held.ok()) return held;
  }
  job = ReadWhenPending(remedy);
  if (!job.ok()) return job.status();
  return Scontrol({"update", Cat("JobId=", IdOf(remedy)),
                   Cat("ExcNodeList=", WithNode(Field(*job, "ExcNodeList"), remedy.sick))});
}

absl::StatusOr<std::string> RequeueBackend::Restart(const Remedy& remedy, int attempt) const {
  const auto job = Read(remedy);
  if (!job.ok()) return job.status();
  const std::string id = IdOf(remedy);
  if (attempt > 1 && !Pending(*job)) {
    if (auto done = Scontrol({"requeue", id}); !done.ok()) return done;
    return Cat("job ", id, " was requeued once more");
  }
  if (!Held(*job))
    return Cat("job ", id, " is ", LowerCase(Field(*job, "JobState")), ": ", Field(*job, "Reason"));
  if (auto done = Scontrol({"release", id}); !done.ok()) return done;
  return Cat("job ", id, " was released");
}

absl::StatusOr<std::string> RequeueBackend::Do(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return "Slurm chooses the node";
  if (deed.step == Step::kRestart) return Restart(remedy, deed.attempt);
  if (auto done = Isolate(remedy, deed.before); !done.ok()) return done;
  return Cat("job ", IdOf(remedy), " is held, ", remedy.sick, " excluded");
}

absl::StatusOr<Extent> RequeueBackend::HowFar(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return Extent::kAll;
  const auto job = Read(remedy);
  if (!job.ok()) return job.status();
  if (deed.step == Step::kIsolate) {
    if (!Ended(*job, deed.before)) return Extent::kNone;
    return Lists(Field(*job, "ExcNodeList"), remedy.sick) ? Extent::kAll : Extent::kPart;
  }
  const bool requeued = Field(*job, "Restarts") != TextField(deed.before, "restarts");
  return (deed.attempt > 1 ? requeued : !Held(*job)) ? Extent::kAll : Extent::kNone;
}

absl::StatusOr<std::string> RequeueBackend::Undo(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return "nothing was done";
  if (deed.step == Step::kRestart) return "the job is Slurm's again";
  const std::string id = IdOf(remedy);
  auto job = Read(remedy);
  if (job.ok() && Leaving(*job)) job = ReadWhenPending(remedy);
  if (!job.ok()) return job.status();
  const std::string state = LowerCase(Field(*job, "JobState"));
  const std::string excluded = Field(*job, "ExcNodeList");
  const bool ours =
      Lists(excluded, remedy.sick) && !Lists(TextField(deed.before, "excluded"), remedy.sick);
  if (!Pending(*job) && !ours) return Cat("job ", id, " is ", state, "; nothing of it is left");
  if (!Pending(*job))
    return absl::FailedPreconditionError(
        Cat("job ", id, " is ", state, " already, without ", remedy.sick));
  if (ours) {
    const std::string left = WithoutNode(excluded, remedy.sick);
    if (auto done = Scontrol({"update", Cat("JobId=", id), Cat("ExcNodeList=", left)}); !done.ok())
      return done;
  }
  if (Held(*job)) {
    if (auto done = Scontrol({"release", id}); !done.ok()) return done;
  }
  return Cat("job ", id, " may run on ", remedy.sick, " again; the run that was ended is gone");
}

std::string RequeueBackend::ByHand(const Remedy& remedy, const Deed& deed) const {
  const std::string id = IdOf(remedy);
  if (deed.step == Step::kIsolate)
    return Cat("scontrol requeuehold ", id, ", scontrol update JobId=", id,
               " ExcNodeList=", TextField(deed.before, "excluded"), " (what it excluded before), ",
               "scontrol release ", id);
  return Cat("scontrol show job ", id, " says why it does not run; its output says why it ended");
}

}  // namespace fathom::cli
