#include "collector/kubernetes/workload.h"

#include <absl/strings/str_cat.h>

#include <array>

namespace fathom::kubernetes {
namespace {

constexpr char kMark[] = "fathom.dev/recovery";
constexpr char kMarkPath[] = "/metadata/annotations/fathom.dev~1recovery";
constexpr char kQueue[] = "kueue.x-k8s.io/queue-name";
constexpr char kCordoned[] = "node.kubernetes.io/unschedulable";

struct Kind {
  const char *name, *group, *plural, *label, *run_policy;
};
// In the order of WorkloadKind.
constexpr std::array<Kind, 3> kKinds = {{
    {"Job", "batch/v1", "jobs", "job-name", ""},
    {"JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets", "jobset.sigs.k8s.io/jobset-name", ""},
    {"PyTorchJob", "kubeflow.org/v1", "pytorchjobs", "training.kubeflow.org/job-name", "runPolicy"},
}};

const Kind& Of(WorkloadKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

// Where `suspend` stands.
const Json& PolicyOf(const Json& object, WorkloadKind kind) {
  const Json& spec = At(object, "spec");
  return *Of(kind).run_policy == 0 ? spec : At(spec, Of(kind).run_policy);
}

// A pod with it is put onto a cordoned node all the same.
bool ToleratesCordon(const Json& template_spec) {
  for (const Json& each : At(template_spec, "tolerations")) {
    const std::string key = TextAt(each, "key"), effect = TextAt(each, "effect");
    const bool all = key.empty() && TextAt(each, "operator") == "Exists";
    if ((all || key == kCordoned) && (effect.empty() || effect == "NoSchedule")) return true;
  }
  return false;
}

bool SomePodToleratesCordon(const Json& object) {
  const Json& spec = At(object, "spec");
  if (ToleratesCordon(At(At(spec, "template"), "spec"))) return true;
  for (const Json& each : At(spec, "replicatedJobs")) {
    const Json& job = At(At(each, "template"), "spec");
    if (ToleratesCordon(At(At(job, "template"), "spec"))) return true;
  }
  for (const Json& each : At(spec, "pytorchReplicaSpecs")) {
    if (ToleratesCordon(At(At(each, "template"), "spec"))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<WorkloadKind> ReadWorkloadKind(std::string_view word) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (word == kKinds[i].name) return static_cast<WorkloadKind>(i);
  }
  return absl::InvalidArgumentError("kind must be Job, JobSet or PyTorchJob");
}

std::string NameOf(const Workload& workload) {
  std::string plural = Of(workload.kind).plural;
  plural.pop_back();
  return absl::StrCat(plural, "/", workload.name);
}

std::string PathOf(const Workload& workload) {
  const Kind& kind = Of(workload.kind);
  return absl::StrCat("/apis/", kind.group, "/namespaces/", workload.space, "/", kind.plural, "/",
                      workload.name);
}

std::string PodLabel(const Workload& workload) {
  return absl::StrCat(Of(workload.kind).label, "=", workload.name);
}

std::string PodsPath(const Workload& workload) {
  // '/' and '=' of the selector, encoded.
  std::string selector;
  for (const char c : PodLabel(workload)) {
    selector += c == '/' ? std::string("%2F") : c == '=' ? std::string("%3D") : std::string(1, c);
  }
  return absl::StrCat("/api/v1/namespaces/", workload.space, "/pods?labelSelector=", selector);
}

bool IsSuspended(const Json& object, WorkloadKind kind) {
  return At(PolicyOf(object, kind), "suspend") == true;
}

bool IsFinished(const Json& object) {
  for (const char* type : {"Complete", "Completed", "Succeeded", "Failed"}) {
    if (HasCondition(object, type)) return true;
  }
  return false;
}

std::string MarkOf(const Json& object) { return AnnotationOf(object, kMark); }

std::string WhyNotStoppable(const Json& object, const Workload& workload, bool suspend) {
  const std::string name = NameOf(workload);
  if (IsFinished(object)) return name + " has ended";
  if (SomePodToleratesCordon(object)) {
    return name + " tolerates cordoned nodes, so that its pods may come back to the sick one";
  }
  if (suspend && !TextAt(At(At(object, "metadata"), "labels"), kQueue).empty()) {
    return name + " is suspended and resumed by Kueue alone; delete its pods (restart: pods)";
  }
  const Json& backoff = At(At(object, "spec"), "backoffLimit");
  if (!suspend && workload.kind == WorkloadKind::kJob && backoff == 0) {
    return name + " has a backoffLimit of 0: a pod that is deleted would end it";
  }
  return "";
}

std::string MarkPatch(const Json& object, WorkloadKind kind, bool suspended,
                      const std::string& mark) {
  Json patch = SameObject(object);
  if (!At(At(object, "metadata"), "annotations").is_object()) {
    patch.push_back(Operation("add", "/metadata/annotations", Json::object()));
  }
  if (!mark.empty()) {
    patch.push_back(Operation("add", kMarkPath, mark));
  } else if (!MarkOf(object).empty()) {
    patch.push_back({{"op", "remove"}, {"path", kMarkPath}});
  }
  const std::string policy = Of(kind).run_policy;
  if (!policy.empty() && !PolicyOf(object, kind).is_object()) {
    patch.push_back(Operation("add", "/spec/" + policy, Json::object()));
  }
  const std::string where = policy.empty() ? "/spec/suspend" : "/spec/" + policy + "/suspend";
  patch.push_back(Operation("add", where, suspended));
  return TextOf(patch);
}

std::string SuspendCommand(const Workload& workload, bool suspended) {
  const std::string policy = Of(workload.kind).run_policy;
  const std::string field = absl::StrCat("{\"suspend\":", suspended ? "true" : "false", "}");
  const std::string spec = policy.empty() ? field : absl::StrCat("{\"", policy, "\":", field, "}");
  return absl::StrCat("kubectl -n ", workload.space, " patch ", NameOf(workload),
                      " --type merge -p '{\"spec\":", spec, "}'");
}

}  // namespace fathom::kubernetes
