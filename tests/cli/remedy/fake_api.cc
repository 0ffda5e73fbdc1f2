#include "tests/cli/remedy/fake_api.h"

#include <algorithm>

namespace fathom::cli {
namespace {

using collector::HttpAnswer;

HttpAnswer Refused(int code) { return {code, R"({"kind":"Status","message":"refused"})", 0}; }

bool IsPod(const std::string& path) { return path.find("/pods/") != path.npos; }

std::string NodeOf(const FakeApi::Object& pod) { return pod["spec"].value("nodeName", ""); }

}  // namespace

FakeApi::FakeApi(kubernetes::Workload of, int pods, const std::vector<std::string>& nodes)
    : workload(std::move(of)), job_path(kubernetes::PathOf(workload)), wanted(pods) {
  for (const std::string& name : nodes) {
    objects["/api/v1/nodes/" + name] = {
        {"metadata", {{"name", name}, {"uid", "u-" + name}}},
        {"spec", Object::object()},
        {"status",
         {{"allocatable", {{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "10"}}},
          {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  }
  objects[job_path] = {{"metadata", {{"name", workload.name}, {"uid", "u-job"}}},
                       {"spec", Object::object()},
                       {"status", Object::object()}};
  for (auto& [path, object] : objects) Changed(object);
  Settle();
}

void FakeApi::Changed(Object& object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
}

std::multiset<std::string> FakeApi::Where() const {
  std::multiset<std::string> where;
  for (const auto& [path, object] : objects) {
    if (IsPod(path)) where.insert(NodeOf(object));
  }
  return where;
}

std::string FakeApi::FreeNode() const {
  const std::multiset<std::string> taken = Where();
  for (const auto& [path, object] : objects) {
    if (!path.starts_with("/api/v1/nodes/") || object["spec"].value("unschedulable", false))
      continue;
    const std::string name = object["metadata"]["name"];
    if (!taken.contains(name)) return name;
  }
  return "";
}

void FakeApi::MakePod() {
  const std::string name = workload.name + "-" + std::to_string(made_);
  Object pod = {
      {"metadata",
       {{"name", name}, {"namespace", workload.space}, {"uid", "p" + std::to_string(made_)}}},
      {"spec", {{"containers", {{{"resources", {{"requests", {{"cpu", "6"}}}}}}}}}},
      {"status", {{"phase", "Running"}}}};
  ++made_;
  if (const std::string node = FreeNode(); !node.empty()) pod["spec"]["nodeName"] = node;
  Changed(pod);
  objects["/api/v1/namespaces/" + workload.space + "/pods/" + name] = pod;
}

void FakeApi::Settle() {
  if (!objects.contains(job_path)) return;
  if (Suspended() && pods_end)
    std::erase_if(objects, [](const auto& each) { return IsPod(each.first); });
  while (!Suspended() && static_cast<int>(Where().size()) < wanted) MakePod();
}

HttpAnswer FakeApi::List(const std::string& query) const {
  const std::string on = "fieldSelector=spec.nodeName%3D";
  const std::string node = query.starts_with(on) ? query.substr(on.size()) : "";
  Object items = Object::array();
  for (const auto& [path, object] : objects) {
    if (IsPod(path) && (node.empty() || NodeOf(object) == node)) items.push_back(object);
  }
  return {200, Object{{"items", items}}.dump(), 0};
}

HttpAnswer FakeApi::Patch(const std::string& path, const std::string& body, bool dry) {
  Object changed = objects.at(path);
  try {
    changed = changed.patch(Object::parse(body));
  } catch (const Object::exception&) {
    return Refused(422);
  }
  if (!knows_suspend && path == job_path) changed["spec"].erase("suspend");
  if (!dry && changed != objects[path]) {
    Changed(changed);
    objects[path] = changed;
    Settle();
  }
  return {200, changed.dump(), 0};
}

HttpAnswer FakeApi::Delete(const std::string& path, const std::string& body, bool dry) {
  const Object wanted_uid = Object::parse(body)["preconditions"]["uid"];
  if (objects.at(path)["metadata"]["uid"] != wanted_uid) return Refused(409);
  if (!dry && pods_end) objects.erase(path);
  if (!dry) Settle();
  return {200, "{}", 0};
}

HttpAnswer FakeApi::Answer(const collector::HttpCall& call) {
  const std::string url = call.url.substr(call.url.find('/', 8));
  const std::string path = url.substr(0, url.find('?'));
  const std::string query = path == url ? "" : url.substr(path.size() + 1);
  asked.push_back(call.method + " " + url);
  if (auto other = before(call)) return *other;
  if (path.ends_with("/pods")) return List(query);
  if (!objects.contains(path)) return Refused(404);
  if (call.method == "PATCH") return Patch(path, call.body, query == "dryRun=All");
  if (call.method == "DELETE") return Delete(path, call.body, query == "dryRun=All");
  return {200, objects.at(path).dump(), 0};
}

absl::StatusOr<HttpAnswer> FakeApi::Send(const collector::HttpCall& call) {
  const HttpAnswer answer = Answer(call);
  if (answer.status == 0 || (loses_answers && call.method != "GET"))
    return absl::UnavailableError("the server is gone");
  return answer;
}

}  // namespace fathom::cli
