// Kubernetes: the sick node is cordoned, the job's pods are ended, and the job's own controller
// makes them anew elsewhere. For Job, JobSet and PyTorchJob (collector/kubernetes/workload.h).
//
// Changes objects only as they were read, by collector/kubernetes/api_client.h, as fathom-cordon
// does. What keeps new pods from the sick node is the cordon; the pods' template is left as it is
// (workload.h says why). Two ways to end pods, by the configuration (`restart`):
//
//            suspend (the default)                       pods
//   standby  nothing is reserved: the spare is looked at, whether it takes pods and has room
//   isolate  cordon, suspend, wait until no pod runs     cordon, delete those on the sick node,
//                                                        wait until they are gone
//   restart  1: resume; 2: suspend, wait, resume         1: nothing, the controller makes them
//                                                        2: delete all of them
//
// The scheduler chooses the nodes; the spare is where it could go, not where it must. Answers after
// a crash come from the API: who holds the node (its tag is the recovery's id), what was written on
// the job last (`ID/isolate`, `ID/again`, `ID/restart-1`), which pods are there by their uid. A job
// that somebody suspended, finished, or made anew (its uid) is left alone. Undo lets the node go
// where we hold it, and resumes the job where we suspended it; pods that were ended are gone.
//
// Members lie in kubernetes_backend.cc and kubernetes_after.cc (what was done, and undo).
//
// Thread-safety, errors: see remedy_backend.h. A cordon that was set before a refusal counts as
// done in part. Cost: two to eight requests a step, and five a second while pods end. Tried with a
// stand-in of the API server, over TLS and with the rights of deploy/k8s/recover.
#ifndef FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_BACKEND_H_
#define FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "collector/cli/remedy/backend/waiting.h"
#include "collector/cli/remedy/remedy_backend.h"
#include "collector/kubernetes/api_client.h"
#include "collector/kubernetes/pods.h"
#include "collector/kubernetes/workload.h"

namespace fathom::cli {

struct KubernetesRemedyOptions {
  std::string server{};      // https://HOST:PORT, or http:// of a `kubectl proxy`
  std::string token_file{};  // empty: the proxy proves who we are
  kubernetes::WorkloadKind kind = kubernetes::WorkloadKind::kJob;
  std::string space = "default";
  std::string name{};    // of the workload; empty: the job's
  bool suspend = true;   // else its pods are deleted
  bool hold = true;      // else somebody must have cordoned the node
  double ended_s = 120;  // for pods to end
};

class KubernetesRemedy final : public RemedyBackend {
 public:
  KubernetesRemedy(KubernetesRemedyOptions options,
                   std::unique_ptr<collector::HttpTransport> transport, Waiting waiting);

  std::string Name() const override { return "kubernetes"; }
  std::string WhoPlaces() const override { return "the scheduler of Kubernetes"; }
  absl::Status Check(const Remedy& remedy) override;
  absl::StatusOr<Json> Before(const Remedy& remedy, Step step) override;
  absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<Extent> HowFar(const Remedy& remedy, const Deed& deed) override;
  absl::StatusOr<std::string> Undo(const Remedy& remedy, const Deed& deed) override;
  std::string ByHand(const Remedy& remedy, const Deed& deed) const override;

 private:
  using Object = kubernetes::Json;
  using Pods = std::vector<kubernetes::Pod>;

  kubernetes::Workload WorkloadOf(const Remedy& remedy) const;
  absl::StatusOr<Object> Read(const std::string& path);
  // As it is now; an error where it is finished or another than `before` tells.
  absl::StatusOr<Object> ReadJob(const Remedy& remedy, const Json& before);
  absl::StatusOr<Object> AwaitJob(const Remedy& remedy, const Json& before);
  // Those that are not over.
  absl::StatusOr<Pods> PodsOf(const Remedy& remedy);
  absl::StatusOr<Pods> PodsOn(const Remedy& remedy, const std::string& node);
  absl::Status CheckRights(const Remedy& remedy);
  absl::Status CheckNode(const Remedy& remedy);
  absl::StatusOr<std::string> LookAtSpare(const Remedy& remedy);
  absl::Status Hold(const Remedy& remedy, const Json& before);
  absl::Status Mark(const Remedy& remedy, const Json& before, bool suspended,
                    const std::string& mark);
  absl::Status Delete(const Pods& pods, const std::string& query);
  absl::Status AwaitEnd(const Remedy& remedy, const std::string& node);
  absl::Status EndPods(const Remedy& remedy, const Json& before);
  absl::StatusOr<std::string> Restart(const Remedy& remedy, const Deed& deed);
  absl::StatusOr<Extent> HowFarIsolated(const Remedy& remedy, const Deed& deed);
  absl::StatusOr<Extent> HowFarRestarted(const Remedy& remedy, const Deed& deed);
  absl::StatusOr<Extent> HowManyAreGone(const Remedy& remedy, const Json& before);
  absl::StatusOr<std::string> LetNodeGo(const Remedy& remedy);
  absl::StatusOr<std::string> LetJobGo(const Remedy& remedy, const Json& before);

  const KubernetesRemedyOptions options_;
  const std::unique_ptr<collector::HttpTransport> transport_;
  const Waiting waiting_;
  kubernetes::ApiClient client_;
};

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_REMEDY_BACKEND_KUBERNETES_BACKEND_H_
