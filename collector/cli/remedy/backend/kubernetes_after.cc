// The part of KubernetesRemedy that says afterwards what was done, and takes it back.
#include <algorithm>
#include <set>

#include "collector/cli/remedy/backend/kubernetes_backend.h"
#include "collector/cli/remedy/backend/kubernetes_marks.h"
#include "collector/cli/text/text.h"
#include "collector/kubernetes/node_hold.h"

namespace fathom::cli {
namespace {

using kubernetes::Pod;

absl::StatusOr<Extent> Told(bool some, bool all) {
  return all ? Extent::kAll : some ? Extent::kPart : Extent::kNone;
}

}  // namespace

// Of the pods that were there before.
absl::StatusOr<Extent> KubernetesRemedy::HowManyAreGone(const Remedy& remedy, const Json& before) {
  const auto pods = PodsOf(remedy);
  if (!pods.ok()) return pods.status();
  std::set<std::string> there;
  for (const Pod& pod : *pods) there.insert(pod.uid);
  const std::vector<std::string> uids = TextsField(before, "pods");
  const auto left = std::count_if(uids.begin(), uids.end(),
                                  [&](const std::string& uid) { return there.contains(uid); });
  return Told(left < static_cast<std::ptrdiff_t>(uids.size()), left == 0);
}

absl::StatusOr<Extent> KubernetesRemedy::HowFarIsolated(const Remedy& remedy, const Deed& deed) {
  const auto node = Read(NodePath(remedy.sick));
  if (!node.ok()) return node.status();
  const bool ours = kubernetes::HolderOf(*node) == remedy.id;
  const auto job = Read(kubernetes::PathOf(WorkloadOf(remedy)));
  if (!job.ok() && !absl::IsNotFound(job.status())) return job.status();
  const auto gone = HowManyAreGone(remedy, deed.before);
  if (!gone.ok()) return gone.status();
  const bool suspended = job.ok() && kubernetes::IsSuspended(*job, options_.kind) &&
                         kubernetes::MarkOf(*job) == IsolateMark(remedy);
  bool ended = *gone == Extent::kAll;
  if (options_.suspend && job.ok()) {
    const auto pods = PodsOf(remedy);
    if (!pods.ok()) return pods.status();
    ended = suspended && pods->empty();
  }
  // Pods come and go by themselves where nobody suspended their job.
  const bool some = ours || suspended || (!options_.suspend && *gone != Extent::kNone);
  return Told(some, kubernetes::IsWithheld(*node) && ended);
}

absl::StatusOr<Extent> KubernetesRemedy::HowFarRestarted(const Remedy& remedy, const Deed& deed) {
  if (!options_.suspend)
    return deed.attempt == 1 ? Extent::kAll : HowManyAreGone(remedy, deed.before);
  const auto job = ReadJob(remedy, deed.before);
  if (!job.ok()) return job.status();
  const bool runs = !kubernetes::IsSuspended(*job, options_.kind);
  const std::string mark = kubernetes::MarkOf(*job);
  if (deed.attempt == 1) return runs ? Extent::kAll : Extent::kNone;
  return Told(mark == AgainMark(remedy), runs && mark == RestartMark(remedy, deed.attempt));
}

absl::StatusOr<Extent> KubernetesRemedy::HowFar(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return Extent::kAll;
  return deed.step == Step::kIsolate ? HowFarIsolated(remedy, deed) : HowFarRestarted(remedy, deed);
}

absl::StatusOr<std::string> KubernetesRemedy::LetNodeGo(const Remedy& remedy) {
  const auto node = Read(NodePath(remedy.sick));
  if (absl::IsNotFound(node.status())) return Cat(remedy.sick, " is gone");
  if (!node.ok()) return node.status();
  if (kubernetes::HolderOf(*node) != remedy.id)
    return Cat(remedy.sick, kubernetes::IsWithheld(*node) ? " stays cordoned: it is not by us"
                                                          : " is not cordoned");
  const absl::Status done =
      client_
          .Change(NodePath(remedy.sick),
                  [&](const std::string& now) { return kubernetes::ReleasePatch(now, remedy.id); })
          .status();
  return done.ok() ? absl::StatusOr<std::string>(Cat(remedy.sick, " is uncordoned")) : done;
}

absl::StatusOr<std::string> KubernetesRemedy::LetJobGo(const Remedy& remedy, const Json& before) {
  const std::string name = kubernetes::NameOf(WorkloadOf(remedy));
  const auto job = ReadJob(remedy, before);
  if (absl::IsNotFound(job.status()) || absl::IsFailedPrecondition(job.status()))
    return Message(job.status());
  if (!job.ok()) return job.status();
  const std::string mark = kubernetes::MarkOf(*job);
  const bool suspended = kubernetes::IsSuspended(*job, options_.kind);
  if (suspended && !IsOurSuspension(remedy, mark))
    return Cat(name, " stays suspended: it is not by us");
  if (!IsOurMark(remedy, mark)) return Cat(name, " is left as it is");
  if (auto done = Mark(remedy, before, false, ""); !done.ok()) return done;
  return Cat(name, " is not suspended; the pods that were ended are gone");
}

absl::StatusOr<std::string> KubernetesRemedy::Undo(const Remedy& remedy, const Deed& deed) {
  if (deed.step == Step::kStandby) return "nothing was done";
  if (deed.step == Step::kRestart) return "the job is its controller's again";
  const auto node = LetNodeGo(remedy);
  // Whatever else it was may be over when it is asked for again.
  if (absl::IsPermissionDenied(node.status())) return node;
  if (!node.ok()) return absl::UnknownError(Message(node.status()));
  const auto job = LetJobGo(remedy, deed.before);
  if (!job.ok()) return InPart(*node, job.status());
  return Cat(*node, "; ", *job);
}

std::string KubernetesRemedy::ByHand(const Remedy& remedy, const Deed& deed) const {
  const kubernetes::Workload workload = WorkloadOf(remedy);
  const std::string let_go =
      Cat("kubectl uncordon ", remedy.sick, "; kubectl taint node ", remedy.sick,
          " fathom.dev/suspect-; kubectl annotate node ", remedy.sick, " fathom.dev/held-by-");
  if (deed.step == Step::kIsolate)
    return options_.suspend ? Cat(let_go, "; ", kubernetes::SuspendCommand(workload, false))
                            : let_go;
  return Cat(
      "kubectl -n ", workload.space, " describe pods -l ", kubernetes::PodLabel(workload),
      " says why they do not run, their logs why they ended; ", remedy.sick,
      " stays cordoned; where the job is suspended: ", kubernetes::SuspendCommand(workload, false));
}

}  // namespace fathom::cli
