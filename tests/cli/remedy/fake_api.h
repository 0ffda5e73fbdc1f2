// An API server of Kubernetes in memory, with a controller that ends and makes the pods of one job
// and a scheduler that puts one pod on each node that takes any.
//
// Used by the tests of the Kubernetes back-end. Model: GET, PATCH (JSON patches with `test`,
// dryRun) and DELETE (with the uid asked for), versions, 404, 409, 422. `before` is called with
// each request and may change what is there, as other people do, or answer in its place.
// Thread-safety: single-threaded.
#ifndef FATHOM_TESTS_CLI_REMEDY_FAKE_API_H_
#define FATHOM_TESTS_CLI_REMEDY_FAKE_API_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/kubernetes/workload.h"
#include "collector/net/http_transport.h"

namespace fathom::cli {

class FakeApi final : public collector::HttpTransport {
 public:
  using Object = kubernetes::Json;

  // A job of so many pods, on the first nodes.
  FakeApi(kubernetes::Workload workload, int pods, const std::vector<std::string>& nodes);

  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override;

  Object& Node(const std::string& name) { return objects.at("/api/v1/nodes/" + name); }
  Object& Job() { return objects.at(job_path); }
  bool Suspended() { return kubernetes::IsSuspended(Job(), workload.kind); }
  bool Cordoned(const std::string& node) {
    return Node(node)["spec"].value("unschedulable", false);
  }
  // Nodes of the pods that run, in order; "" for one that waits.
  std::multiset<std::string> Where() const;
  void Changed(Object& object);
  // Lets the controllers do their work; also after each change by a request.
  void Settle();

  const kubernetes::Workload workload;
  const std::string job_path;
  const int wanted;
  std::map<std::string, Object> objects;  // by path
  std::function<std::optional<collector::HttpAnswer>(const collector::HttpCall&)> before =
      [](const collector::HttpCall&) { return std::nullopt; };
  bool knows_suspend = true;
  bool pods_end = true;            // else those that are told to end go on
  bool loses_answers = false;      // carries out what is asked, answers nothing
  std::vector<std::string> asked;  // "PATCH /api/v1/nodes/n1"

 private:
  collector::HttpAnswer Answer(const collector::HttpCall& call);
  collector::HttpAnswer Patch(const std::string& path, const std::string& body, bool dry);
  collector::HttpAnswer Delete(const std::string& path, const std::string& body, bool dry);
  collector::HttpAnswer List(const std::string& query) const;
  void MakePod();
  std::string FreeNode() const;

  int version_ = 1, made_ = 0;
};

}  // namespace fathom::cli

#endif  // FATHOM_TESTS_CLI_REMEDY_FAKE_API_H_
