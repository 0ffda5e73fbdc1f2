#include "collector/cli/remedy/backend/kubernetes_backend.h"

#include "collector/cli/remedy/backend/kubernetes_marks.h"
#include "collector/cli/text/text.h"
#include "collector/kubernetes/node_hold.h"

namespace fathom::cli {
namespace {

using kubernetes::Pod;

constexpr const char* kDryRun = "?dryRun=All";

// What may stand in a path: letters, digits, '-' and '.'.
bool Plain(const std::string& name) {
  return !name.empty() && name.size() <= 253 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == name.npos &&
         name.front() != '.' && name.front() != '-';
}

std::string UidOf(const kubernetes::Json& object) {
  return kubernetes::TextAt(kubernetes::At(object, "metadata"), "uid");
}

}  // namespace

KubernetesRemedy::KubernetesRemedy(KubernetesRemedyOptions options,
                                   std::unique_ptr<collector::HttpTransport> transport,
                                   Waiting waiting)
    : options_(std::move(options)),
      transport_(std::move(transport)),
      waiting_(std::move(waiting)),
      client_({options_.server, options_.token_file, "fathom-recover/" FATHOM_VERSION}, *transport_,
              waiting_.now) {}

kubernetes::Workload KubernetesRemedy::WorkloadOf(const Remedy& remedy) const {
  return {options_.kind, options_.space, options_.name.empty() ? remedy.job : options_.name};
}

absl::StatusOr<KubernetesRemedy::Object> KubernetesRemedy::Read(const std::string& path) {
  const auto body = client_.Send("GET", path);
  if (!body.ok()) return body.status();
  return kubernetes::ParseObject(*body);
}

absl::StatusOr<KubernetesRemedy::Object> KubernetesRemedy::ReadJob(const Remedy& remedy,
                                                                   const Json& before) {
  const kubernetes::Workload workload = WorkloadOf(remedy);
  auto job = Read(kubernetes::PathOf(workload));
  if (absl::IsNotFound(job.status()))
    return absl::NotFoundError(Cat(kubernetes::NameOf(workload), " is gone"));
  if (!job.ok()) return job;
  if (kubernetes::IsFinished(*job))
    return absl::FailedPreconditionError(Cat(kubernetes::NameOf(workload), " has ended"));
  if (!before.empty() && UidOf(*job) != TextField(before, "uid"))
    return absl::FailedPreconditionError(
        Cat(kubernetes::NameOf(workload), " was made anew by somebody"));
  return job;
}

// A job that stands still by our own hand is worth waiting for a server that is away.
absl::StatusOr<KubernetesRemedy::Object> KubernetesRemedy::AwaitJob(const Remedy& remedy,
                                                                    const Json& before) {
  absl::StatusOr<Object> job;
  const auto came = ComesToBe(waiting_, options_.ended_s, [&]() -> absl::StatusOr<bool> {
    job = ReadJob(remedy, before);
    const absl::Status& status = job.status();
    return !absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status) &&
           !absl::IsResourceExhausted(status);
  });
  return came.ok() ? job : came.status();
}

absl::StatusOr<KubernetesRemedy::Pods> KubernetesRemedy::PodsOf(const Remedy& remedy) {
  const auto body = client_.Send("GET", kubernetes::PodsPath(WorkloadOf(remedy)));
  if (!body.ok()) return body.status();
  auto pods = kubernetes::ReadPods(*body);
  if (pods.ok()) std::erase_if(*pods, [](const Pod& pod) { return pod.over; });
  return pods;
}

absl::StatusOr<KubernetesRemedy::Pods> KubernetesRemedy::PodsOn(const Remedy& remedy,
                                                                const std::string& node) {
  auto pods = PodsOf(remedy);
  if (pods.ok()) std::erase_if(*pods, [&](const Pod& pod) { return pod.node != node; });
  return pods;
}

absl::Status KubernetesRemedy::CheckNode(const Remedy& remedy) {
  const auto node = Read(NodePath(remedy.sick));
  if (!node.ok()) return node.status();
  if (kubernetes::IsWithheld(*node)) return absl::OkStatus();
  if (!options_.hold)
    return absl::FailedPreconditionError(
        Cat(remedy.sick, " is not cordoned, and is to be by somebody else (node: held)"));
  return client_
      .Change(
          NodePath(remedy.sick),
          [&](const std::string& now) {
            return kubernetes::HoldPatch(now, {remedy.sick, remedy.id, "recovery"});
          },
          kDryRun)
      .status();
}

// Tries on the server what is going to be done, without doing it.
absl::Status KubernetesRemedy::CheckRights(const Remedy& remedy) {
  const kubernetes::Workload workload = WorkloadOf(remedy);
  const std::string name = kubernetes::NameOf(workload);
  if (!options_.suspend) {
    const auto pods = PodsOn(remedy, remedy.sick);
    if (!pods.ok()) return pods.status();
    if (pods->empty())
      return absl::FailedPreconditionError(Cat("no pod of ", name, " runs on ", remedy.sick));
    return Delete({pods->front()}, kDryRun);
  }
  const auto tried = client_.Change(
      kubernetes::PathOf(workload),
      [&](const std::string& now) -> absl::StatusOr<std::string> {
        const auto object = kubernetes::ParseObject(now);
        if (!object.ok()) return object.status();
        return kubernetes::MarkPatch(*object, workload.kind, true, IsolateMark(remedy));
      },
      kDryRun);
  if (!tried.ok()) return tried.status();
  const auto suspended = kubernetes::ParseObject(*tried);
  if (!suspended.ok()) return suspended.status();
  if (!kubernetes::IsSuspended(*suspended, workload.kind))
    return absl::FailedPreconditionError(
        Cat(name,
            " cannot be suspended here (a Job can from Kubernetes 1.22 on, a PyTorchJob from "
            "the training operator 1.7 on); delete its pods instead (restart: pods)"));
  return PodsOf(remedy).status();
}

absl::Status KubernetesRemedy::Check(const Remedy& remedy) {
  const kubernetes::Workload workload = WorkloadOf(remedy);
  for (const std::string& name : {workload.name, workload.space, remedy.sick, remedy.spare}) {
    if (!Plain(name)) return absl::InvalidArgumentError(Cat("'", name, "' is no name here"));
  }
  const auto job = ReadJob(remedy, Json::object());
  if (!job.ok()) return job.status();
  const std::string why = kubernetes::WhyNotStoppable(*job, workload, options_.suspend);
  if (!why.empty()) return absl::FailedPreconditionError(why);
  if (kubernetes::IsSuspended(*job, workload.kind))
    return absl::FailedPreconditionError(
        Cat(kubernetes::NameOf(workload), " is suspended by somebody else"));
  if (auto rights = CheckRights(remedy); !rights.ok()) return rights;
  if (auto node = CheckNode(remedy); !node.ok()) return node;
  return LookAtSpare(remedy).status();
}

absl::StatusOr<std::string> KubernetesRemedy::LookAtSpare(const Remedy& remedy) {
  const auto node = Read(NodePath(remedy.spare));
  if (!node.ok()) return node.status();
  const auto newcomers = PodsOn(remedy, remedy.sick);
  if (!newcomers.ok()) return newcomers.status();
  std::string why = kubernetes::WhyClosed(*node, *newcomers);
  const auto body =
      client_.Send("GET", Cat("/api/v1/pods?fieldSelector=spec.nodeName%3D", remedy.spare));
  const auto there = body.ok() ? kubernetes::ReadPods(*body) : absl::StatusOr<Pods>(body.status());
  if (why.empty() && there.ok()) why = kubernetes::WhyNoRoom(*node, *there, *newcomers);
  if (!why.empty())
    return absl::FailedPreconditionError(
        Cat(remedy.spare, " cannot take the place of ", remedy.sick, ": ", why));
  return Cat("the scheduler chooses the nodes; ", remedy.spare, " takes pods",
             there.ok() ? " and has room"
                        : Cat("; whether it has room is not known: ", Message(there.status())));
}

absl::StatusOr<Json> KubernetesRemedy::Before(const Remedy& remedy, Step step) {
  const auto job = ReadJob(remedy, Json::object());
  if (!job.ok()) return job.status();
  Json before = {{"uid", UidOf(*job)}};
  if (step == Step::kStandby) return before;
  const auto pods = step == Step::kIsolate ? PodsOn(remedy, remedy.sick) : PodsOf(remedy);
  if (!pods.ok()) return pods.status();
  before["pods"] = Json::array();
  for (const Pod& pod : *pods) before["pods"].push_back(pod.uid);
  if (step != Step::kIsolate) return before;
  const auto node = Read(NodePath(remedy.sick));
  if (!node.ok()) return node.status();
  before["held"] = kubernetes::IsWithheld(*node) && kubernetes::HolderOf(*node) != remedy.id;
  return before;
}

absl::Status KubernetesRemedy::Hold(const Remedy& remedy, const Json& before) {
  if (BoolField(before, "held") || !options_.hold) {
    const auto node = Read(NodePath(remedy.sick));
    if (!node.ok()) return node.status();
    if (kubernetes::IsWithheld(*node)) return absl::OkStatus();
    return absl::FailedPreconditionError(
        Cat("somebody has uncordoned ", remedy.sick, " in the meantime"));
  }
  const absl::Status held =
      client_
          .Change(NodePath(remedy.sick),
                  [&](const std::string& now) {
                    return kubernetes::HoldPatch(now, {remedy.sick, remedy.id, "recovery"});
                  })
          .status();
  return absl::IsAlreadyExists(held) ? absl::OkStatus() : held;
}

absl::Status KubernetesRemedy::Mark(const Remedy& remedy, const Json& before, bool suspended,
                                    const std::string& mark) {
  const kubernetes::Workload workload = WorkloadOf(remedy);
  const auto patch_of = [&](const std::string& now) -> absl::StatusOr<std::string> {
    const auto job = kubernetes::ParseObject(now);
    if (!job.ok()) return job.status();
    const std::string name = kubernetes::NameOf(workload);
    if (UidOf(*job) != TextField(before, "uid"))
      return absl::FailedPreconditionError(Cat(name, " was made anew by somebody"));
    if (kubernetes::IsFinished(*job)) return absl::FailedPreconditionError(Cat(name, " has ended"));
    const bool is = kubernetes::IsSuspended(*job, workload.kind);
    if (is && !IsOurSuspension(remedy, kubernetes::MarkOf(*job)))
      return absl::FailedPreconditionError(Cat(name, " is suspended by somebody else"));
    if (is == suspended && kubernetes::MarkOf(*job) == mark) return absl::AlreadyExistsError(name);
    return kubernetes::MarkPatch(*job, workload.kind, suspended, mark);
  };
  const auto done = client_.Change(kubernetes::PathOf(workload), patch_of);
  if (absl::IsAlreadyExists(done.status())) return absl::OkStatus();
  if (!done.ok()) return done.status();
  const auto job = kubernetes::ParseObject(*done);
  if (job.ok() && kubernetes::IsSuspended(*job, workload.kind) != suspended)
    return absl::UnknownError("the server does not know how to suspend it");
  return absl::OkStatus();
}

absl::Status KubernetesRemedy::Delete(const Pods& pods, const std::string& query) {
  for (const Pod& pod : pods) {
    const absl::Status gone = client_
                                  .Send("DELETE", kubernetes::PathOf(pod) + query,
                                        "application/json", kubernetes::DeleteOptions(pod))
                                  .status();
    // Another one has its name by now.
    if (!gone.ok() && !absl::IsNotFound(gone) && !absl::IsAborted(gone)) return gone;
  }
  return absl::OkStatus();
}

// Until no pod of the job is left; with a node, none on it.
absl::Status KubernetesRemedy::AwaitEnd(const Remedy& remedy, const std::string& node) {
  std::size_t left = 0;
  const auto ended = ComesToBe(waiting_, options_.ended_s, [&]() -> absl::StatusOr<bool> {
    const auto pods = node.empty() ? PodsOf(remedy) : PodsOn(remedy, node);
    if (absl::IsPermissionDenied(pods.status())) return pods.status();
    left = pods.ok() ? pods->size() : left;
    return pods.ok() && pods->empty();
  });
  if (!ended.ok()) return ended.status();
  if (*ended) return absl::OkStatus();
  return absl::DeadlineExceededError(Cat(left, " pods of ", remedy.job, " have not ended"));
}

absl::Status KubernetesRemedy::EndPods(const Remedy& remedy, const Json& before) {
  if (options_.suspend) {
    if (auto done = Mark(remedy, before, true, IsolateMark(remedy)); !done.ok()) return done;
    return AwaitEnd(remedy, "");
  }
  const auto job = ReadJob(remedy, before);
  if (!job.ok()) return job.status();
  const auto pods = PodsOn(remedy, remedy.sick);
  if (!pods.ok()) return pods.status();
  if (auto done = Delete(*pods, ""); !done.ok()) return done;
  return AwaitEnd(remedy, remedy.sick);
}

absl::StatusOr<std::string> KubernetesRemedy::Restart(const Remedy& remedy, const Deed& deed) {
  const std::string name = kubernetes::NameOf(WorkloadOf(remedy));
  if (!options_.suspend) {
    if (deed.attempt == 1) return Cat("the controller of ", name, " makes the pods anew");
    const auto pods = PodsOf(remedy);
    if (!pods.ok()) return pods.status();
    if (auto done = Delete(*pods, ""); !done.ok()) return InPart("some pods may be deleted", done);
    return Cat(pods->size(), " pods of ", name, " were deleted to be made anew");
  }
  const auto job = AwaitJob(remedy, deed.before);
  if (!job.ok()) return job.status();
  const bool runs = !kubernetes::IsSuspended(*job, options_.kind);
  if (runs && deed.attempt == 1) return Cat(name, " was resumed by somebody already");
  if (runs) {
    const absl::Status stopped = Mark(remedy, deed.before, true, AgainMark(remedy));
    if (!stopped.ok()) return stopped;
    if (auto ended = AwaitEnd(remedy, ""); !ended.ok()) return ended;
  }
  const absl::Status resumed = Mark(remedy, deed.before, false, RestartMark(remedy, deed.attempt));
  if (!resumed.ok()) return runs ? InPart(Cat(name, " is suspended"), resumed) : resumed;
  return Cat(name, " was resumed");
}

absl::StatusOr<std::string> KubernetesRemedy::Do(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return LookAtSpare(remedy);
  if (deed.step == Step::kRestart) return Restart(remedy, deed);
  if (auto held = Hold(remedy, deed.before); !held.ok()) return held;
  if (auto ended = EndPods(remedy, deed.before); !ended.ok())
    return InPart(Cat(remedy.sick, " is cordoned"), ended);
  return Cat(remedy.sick, " is cordoned, ", kubernetes::NameOf(WorkloadOf(remedy)),
             options_.suspend ? " is suspended and has no pod any more" : " has no pod on it");
}

}  // namespace fathom::cli
