#include "collector/cluster/peer_api.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "collector/api/ops/kept_ops_answer.h"
#include "collector/cluster/bus_message.h"

namespace fathom::collector {
namespace {

using Json = nlohmann::ordered_json;

v1::BusRequest ToBus(const Request& request) {
  v1::BusRequest bus;
  bus.set_method(request.method);
  bus.set_path(request.path);
  bus.mutable_segments()->Assign(request.segments.begin(), request.segments.end());
  for (const auto& [name, value] : request.parameters) (*bus.mutable_parameters())[name] = value;
  bus.set_content_type(request.content_type);
  bus.set_body(request.body);
  bus.set_person(request.person.name);
  bus.set_role(static_cast<std::uint32_t>(request.person.role));
  return bus;
}

// The token of whoever asks stays where it was shown.
Request FromBus(const v1::BusRequest& bus) {
  Request request;
  request.method = bus.method();
  request.path = bus.path();
  request.segments.assign(bus.segments().begin(), bus.segments().end());
  request.parameters = {bus.parameters().begin(), bus.parameters().end()};
  request.content_type = bus.content_type();
  request.body = bus.body();
  request.person.name = bus.person();
  const bool known = bus.role() <= static_cast<std::uint32_t>(Role::kOperator);
  request.person.role = known ? static_cast<Role>(bus.role()) : Role::kNobody;
  return request;
}

// Of a plan, whose it is.
std::string NameOf(const Json& each) {
  if (each.contains("collector")) return each.value("collector", "") + " (collector)";
  return each.contains("name") ? each.value("name", "") : each.value("node", "");
}

// Adds what `more` has and `all` has not, by name. One that is connected is worth more than one
// that is not, and ranks are counted by whoever owns their job.
void Join(const Json& more, Json& all) {
  for (const Json& each : more) {
    const std::string name = NameOf(each);
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Json& known) { return NameOf(known) == name; });
    if (same == all.end()) {
      all.push_back(each);
      continue;
    }
    if (!each.contains("connected")) continue;
    const auto ranks = same->value("ranks", std::int64_t{0}) + each.value("ranks", std::int64_t{0});
    const bool suspect = same->value("suspect", false) || each.value("suspect", false);
    if (each.value("connected", false) && !same->value("connected", false)) *same = each;
    if (!same->contains("ranks")) continue;
    (*same)["ranks"] = ranks;
    (*same)["suspect"] = suspect;
  }
}

void JoinById(const Json& more, Json& all) {
  for (const Json& each : more) {
    const std::string id = each.value("id", "");
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Json& one) { return one.value("id", "") == id; });
    if (!known) all.push_back(each);
  }
}

}  // namespace

absl::Status PeerApi::Start() {
  auto answering =
      parts_.bus.Answer(parts_.name, [this](std::string_view bytes) { return OnAsked(bytes); });
  if (answering.ok()) answering_ = *std::move(answering);
  return answering.status();
}

std::string PeerApi::OnAsked(std::string_view bytes) const {
  v1::BusResponse answer;
  const auto asked = ReadBus<v1::BusRequest>(bytes, parts_.counters);
  if (!asked) {
    answer.set_status(501);
    answer.set_type("application/json");
    answer.set_body(Response::Error(501, "asked by a later version").body);
  } else if (asked->path().empty()) {
    answer.set_status(200);
    const auto parameter = asked->parameters().find("job");
    const std::string job = parameter == asked->parameters().end() ? "" : parameter->second;
    for (const std::string& object : parts_.near.JobObjects(job)) answer.add_objects(object);
  } else {
    const Response response = parts_.near.Answer(FromBus(*asked));
    answer.set_status(static_cast<std::uint32_t>(response.status));
    answer.set_type(response.type);
    answer.set_body(response.body);
  }
  return BusBytes(std::move(answer));
}

std::string PeerApi::OwnerOf(const std::string& job) const {
  const std::string owner = parts_.owner_of(job);
  return owner == parts_.name ? "" : owner;
}

std::optional<v1::BusResponse> PeerApi::Ask(const std::string& collector, v1::BusRequest request,
                                            Nanos patience) const {
  const auto bytes = parts_.bus.Ask(collector, BusBytes(request), patience);
  auto answer = bytes.ok() ? ReadBus<v1::BusResponse>(*bytes, parts_.counters) : std::nullopt;
  ++(answer ? parts_.counters.forwarded : parts_.counters.unanswered);
  return answer;
}

std::optional<Response> PeerApi::Ask(const std::string& collector, const Request& request,
                                     Nanos patience) const {
  const auto answer = Ask(collector, ToBus(request), patience);
  if (!answer) return std::nullopt;
  return Response{static_cast<int>(answer->status()), answer->type(), answer->body(), ""};
}

Response PeerApi::Forward(const std::string& owner, const std::string& job,
                          const Request& request) const {
  if (auto response = Ask(owner, request, kPatience)) return *std::move(response);
  return Response::Error(
      503, absl::StrCat("collector ", owner, ", which owns job ", job,
                        ", does not answer; if it is gone another takes the job in some seconds"));
}

Response PeerApi::Joined(const Request& request, const std::string& list) const {
  Response near = parts_.near.Answer(request);
  const std::vector<std::string> others = parts_.members.Others();
  if (near.status != 200 || others.empty()) return near;
  Json all = Json::parse(near.body, nullptr, false);
  if (!all.is_object() || !all.contains(list)) return near;
  for (const std::string& other : others) {
    const auto response = Ask(other, request, kListPatience);
    if (!response || response->status != 200) continue;
    const Json more = Json::parse(response->body, nullptr, false);
    if (more.is_object() && more.contains(list)) Join(more[list], all[list]);
  }
  near.body = all.dump();
  return near;
}

// That of the collector which it is connected to, or knows of it at all.
Response PeerApi::Node(const Request& request) const {
  Response best = parts_.near.Answer(request);
  const auto connected = [](const Response& response) {
    const Json node = Json::parse(response.body, nullptr, false);
    return response.status == 200 && node.is_object() && node.value("connected", false);
  };
  if (connected(best)) return WithTheirs(std::move(best), request);
  for (const std::string& other : parts_.members.Others()) {
    auto response = Ask(other, request, kListPatience);
    if (!response || response->status != 200) continue;
    const bool better = best.status != 200 || connected(*response);
    if (better) best = *std::move(response);
  }
  return WithTheirs(std::move(best), request);
}

Response PeerApi::WithTheirs(Response near, const Request& request) const {
  Json all = Json::parse(near.body, nullptr, false);
  const bool lacks = all.is_object() && all.contains("lacks") && all.contains("verdicts");
  if (near.status != 200 || !lacks) return near;
  std::string silent;
  for (const std::string& other : parts_.members.Others()) {
    const auto response = Ask(other, request, kListPatience);
    const Json more = response ? Json::parse(response->body, nullptr, false) : Json();
    if (more.is_object() && more.contains("verdicts")) {
      JoinById(more["verdicts"], all["verdicts"]);
    } else if (!response || response->status != 404) {
      absl::StrAppend(&silent, silent.empty() ? "" : ", ", other);
    }
  }
  if (!silent.empty()) {
    all["lacks"] = absl::StrCat(all["lacks"].get<std::string>(), "; and of ", silent,
                                ", which does not answer, what stands");
  }
  near.body = all.dump();
  return near;
}

// As it stands, where it does: the history hears of changes only.
Response PeerApi::Verdict(const Request& request) const {
  Response near = parts_.near.Answer(request);
  if (near.status == 503) {  // the history does not answer
    for (const std::string& other : parts_.members.Others()) {
      auto theirs = Ask(other, request, kListPatience);
      if (theirs && theirs->status == 200) return *std::move(theirs);
    }
  }
  if (near.status != 200) return near;
  const Json verdict = Json::parse(near.body, nullptr, false);
  const std::string owner = verdict.is_object() ? OwnerOf(verdict.value("job", "")) : "";
  if (owner.empty()) return near;
  auto theirs = Ask(owner, request, kListPatience);
  return theirs && theirs->status == 200 ? *std::move(theirs) : near;
}

Response PeerApi::Ops(const Request& request) const {
  const Response near = parts_.near.Answer(request);
  const auto stretch = OpsStretchOf(request);
  if (near.status != 200 || !stretch) return near;
  std::vector<std::string> lists = {near.body};
  for (const std::string& other : parts_.members.Others()) {
    const auto response = Ask(other, request, kListPatience);
    if (response && response->status == 200) lists.push_back(response->body);
  }
  absl::StatusOr<std::vector<KeptOps>> told = std::vector<KeptOps>();
  if (parts_.kept_ops) told = parts_.kept_ops(request.segments[3]);
  return Response::Json(JoinedKeptOps(lists, told, *stretch));
}

Response PeerApi::PartOfOps(const Request& request) const {
  const std::string& collector = request.segments[4];
  if (collector == parts_.name) return parts_.near.Answer(request);
  if (auto response = Ask(collector, request, kPatience)) return *std::move(response);
  return Response::Error(503, absl::StrCat("collector ", collector,
                                           ", which keeps these ops, does not answer; ask again"));
}

Response PeerApi::Answer(const Request& request) const {
  const auto& at = request.segments;
  const bool of_api = at.size() >= 3 && at[0] == "api" && at[1] == "v1";
  if (!of_api) return parts_.near.Answer(request);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (at[2] == "jobs" && at.size() > 3) {
    const std::string owner = OwnerOf(at[3]);
    return owner.empty() ? parts_.near.Answer(request) : Forward(owner, at[3], request);
  }
  if (!reads) return parts_.near.Answer(request);
  if (at[2] == "jobs" && at.size() == 3) return Joined(request, "jobs");
  if (at[2] == "nodes" && at.size() == 3) return Joined(request, "nodes");
  if (at[2] == "plan" && at.size() == 3) return Joined(request, "plan");
  if (at[2] == "nodes" && at.size() == 4) return Node(request);
  if (at[2] == "verdicts" && at.size() == 3) {
    return WithTheirs(parts_.near.Answer(request), request);
  }
  if (at[2] == "verdicts" && at.size() == 4) return Verdict(request);
  if (at[2] == "ops" && at.size() == 4) return Ops(request);
  if (at[2] == "ops" && at.size() == 6) return PartOfOps(request);
  return parts_.near.Answer(request);
}

std::vector<std::string> PeerApi::JobObjects(const std::string& job) const {
  std::vector<std::string> objects = parts_.near.JobObjects(job);
  v1::BusRequest request;
  (*request.mutable_parameters())["job"] = job;
  for (const std::string& other : parts_.members.Others()) {
    const auto theirs = Ask(other, request, kListPatience);
    if (!theirs) continue;
    objects.insert(objects.end(), theirs->objects().begin(), theirs->objects().end());
  }
  return objects;
}

}  // namespace fathom::collector
