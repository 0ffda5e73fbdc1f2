#include "collector/api/cordon_relay.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "collector/api/cordon_address.h"
#include "collector/http/json_text.h"
#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 5> kRights = {"off", "sign_in", "viewer", "no_token", "on"};

bool OneOf(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The path at fathom-cordon; empty: there is no such command.
std::string PathOf(const std::vector<std::string>& at) {
  if (at.size() == 5 && OneOf(at[4], {"approve", "undo"})) {
    return absl::StrCat("/api/v1/actions/", PercentEncoded(at[3]), "/", at[4]);
  }
  if (at.size() == 4 && OneOf(at[3], {"pause", "resume", "reset"})) {
    return absl::StrCat("/api/v1/", at[3]);
  }
  return "";
}

std::string WhyNot(CordonRelay::Right right) {
  switch (right) {
    case CordonRelay::Right::kOff:
      return "commands are not passed on here (cordon_changes); use `fathom action`";
    case CordonRelay::Right::kNoToken:
      return "fathom-cordon decides by your own token, and you came without one: sign in with it "
             "at /login, or use `fathom action`";
    default:
      return "sign in as an operator";
  }
}

// As fathom-cordon said it. A token that it does not take is no reason to sign in here again.
Response Passed(const HttpAnswer& answer) {
  if (answer.status == 200) return Response::Json(R"({"done":true})");
  if (answer.status == 401) {
    return Response::Error(
        403, "fathom-cordon does not take your token: its own list of tokens must have your line");
  }
  constexpr std::array kKnown = {400, 403, 404, 409, 429};
  const std::string said = JsonText(answer.body, "error");
  const bool known = std::find(kKnown.begin(), kKnown.end(), answer.status) != kKnown.end();
  return Response::Error(
      known ? answer.status : 503,
      absl::StrCat("fathom-cordon: ", said.empty() ? absl::StrCat("HTTP ", answer.status) : said));
}

}  // namespace

CordonRelay::CordonRelay(const std::string& address, bool offered, HttpTransport& transport)
    : url_(CordonUrl(address)), offered_(offered && !address.empty()), transport_(transport) {}

CordonRelay::Right CordonRelay::RightOf(const Request& request) const {
  if (!offered_) return Right::kOff;
  if (request.person.name.empty()) return Right::kSignIn;
  if (request.person.role < Role::kOperator) return Right::kViewer;
  return request.token.empty() ? Right::kNoToken : Right::kOn;
}

std::string CordonRelay::You(const Request& request) const {
  JsonWriter json;
  json.BeginObject().Field("name", request.person.name);
  json.Field("changes", kRights[static_cast<std::size_t>(RightOf(request))]);
  return json.EndObject().Take();
}

Response CordonRelay::Pass(const Request& request) {
  const std::string path = PathOf(request.segments);
  if (path.empty()) return Response::Error(404, "there is no such command");
  if (auto refused = RefusedUnlessJson(request)) return *std::move(refused);
  const Right right = RightOf(request);
  if (right != Right::kOn) return Response::Error(403, WhyNot(right));
  const bool room = ++under_way_ <= kMostUnderWay;
  Response response =
      room ? Ask(path, request)
           : Response::Error(503, "others wait for fathom-cordon; nothing was sent, try again");
  --under_way_;
  return response;
}

Response CordonRelay::Ask(const std::string& path, const Request& request) {
  const std::string body = Json{{"reason", JsonText(request.body, "reason")}}.dump();
  const auto answer =
      transport_.Send({"POST",
                       url_ + path,
                       {"Authorization: Bearer " + request.token, "Content-Type: application/json"},
                       body,
                       kPatienceS});
  if (answer.ok()) return Passed(*answer);
  return Response::Error(503,
                         "fathom-cordon did not answer, so it is not known whether this "
                         "arrived; look at the action before trying again");
}

}  // namespace fathom::collector
