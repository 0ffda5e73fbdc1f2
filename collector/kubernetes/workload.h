// A training job of Kubernetes: a Job, a JobSet or a PyTorchJob, as far as stopping it and letting
// it run again go.
//
//   kind        group, version                suspended by              its pods' label
//   Job         batch/v1                      spec.suspend (1.22)       job-name
//   JobSet      jobset.x-k8s.io/v1alpha2      spec.suspend jobset.sigs.k8s.io/jobset-name
//   PyTorchJob  kubeflow.org/v1               spec.runPolicy.suspend training.kubeflow.org/job-name
//
// Used by the Kubernetes back-end of `fathom recover`. Model: while a workload is suspended its
// controller deletes the pods that run and makes no new ones; resumed, it makes all of them anew.
// What was done last is written on it by the same patch, as the annotation fathom.dev/recovery, so
// that nobody's suspending is taken for ours. A server that does not know the field drops it and
// says yes: whoever suspends looks at the answer (IsSuspended).
//
// The pods' template is left as it is: of a Job it can be changed only before its first start
// (KEP-2926: scheduling directives of a suspended Job that was never resumed), of a JobSet only its
// node selector, labels and tolerations, none of which can name a node to stay away from; a
// PyTorchJob is treated alike.
//
// Thread-safety: pure functions. Errors: FailedPrecondition, with why the patch must not be made.
// Cost: O(characters). Source: the API of Kubernetes 1.22 and later (KEP-2232), of JobSet
// (JobSetSpec.suspend, JobSetNameKey) and of Kubeflow's training operator 1.7 and later
// (RunPolicy.suspend, JobNameLabel).
#ifndef FATHOM_COLLECTOR_KUBERNETES_WORKLOAD_H_
#define FATHOM_COLLECTOR_KUBERNETES_WORKLOAD_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/kubernetes/json_object.h"

namespace fathom::kubernetes {

enum class WorkloadKind : std::uint8_t { kJob, kJobSet, kPyTorchJob };

struct Workload {
  WorkloadKind kind = WorkloadKind::kJob;
  std::string space, name;
};

// Of "Job", "JobSet", "PyTorchJob". Errors: InvalidArgument.
absl::StatusOr<WorkloadKind> ReadWorkloadKind(std::string_view word);
// "job/train" as kubectl takes it.
std::string NameOf(const Workload& workload);
std::string PathOf(const Workload& workload);
std::string PodLabel(const Workload& workload);  // "job-name=train"
std::string PodsPath(const Workload& workload);

bool IsSuspended(const Json& object, WorkloadKind kind);
bool IsFinished(const Json& object);
// What was written on it last by MarkPatch; empty: nothing.
std::string MarkOf(const Json& object);
// Why its pods may not be stopped and started anew so; empty: they may. `suspend`: by suspending
// it, else by deleting its pods.
std::string WhyNotStoppable(const Json& object, const Workload& workload, bool suspend);

// Suspends or resumes the workload as it was read and writes `mark` on it; an empty one is taken
// away.
std::string MarkPatch(const Json& object, WorkloadKind kind, bool suspended,
                      const std::string& mark);

// What a person types for it.
std::string SuspendCommand(const Workload& workload, bool suspended);

}  // namespace fathom::kubernetes

#endif  // FATHOM_COLLECTOR_KUBERNETES_WORKLOAD_H_
