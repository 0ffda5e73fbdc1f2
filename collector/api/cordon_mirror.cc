#include "collector/api/cordon_mirror.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "collector/api/cordon_address.h"
#include "collector/http/json_text.h"
#include "collector/http/json_writer.h"
#include "collector/net/masked_url.h"
#include "collector/net/redacted.h"
#include "collector/net/token_file.h"

namespace fathom::collector {
namespace {

using Tree = nlohmann::json;

absl::Status NotCordon() {
  return absl::UnavailableError("what answers there is not fathom-cordon");
}

std::int64_t Changed(const Tree& action) {
  const auto at = action.is_object() ? action.find("changed_unix_ns") : action.end();
  return at != action.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

// Newest first, as many as are shown.
void Shorten(Tree& actions) {
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Tree& a, const Tree& b) { return Changed(a) > Changed(b); });
  if (actions.size() > CordonMirror::kMostActions) {
    actions.erase(actions.begin() + CordonMirror::kMostActions, actions.end());
  }
}

// What lies deeper is left out: a tree is written by recursion, and whoever answers is not known
// to be fathom-cordon yet.
Tree Read(const std::string& text) {
  constexpr int kDeepest = 32;
  const auto shallow = [](int depth, Tree::parse_event_t, Tree&) { return depth <= kDeepest; };
  return Tree::parse(text, shallow, /*allow_exceptions=*/false);
}

std::string Dump(const Tree& tree) {
  return tree.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace

CordonMirror::CordonMirror(const std::string& address, std::string token_file,
                           HttpTransport& transport, const Clock& clock)
    : url_(CordonUrl(address)),
      token_file_(std::move(token_file)),
      transport_(transport),
      clock_(clock) {
  answer_ = url_.empty() ? Answer("off", "") : Answer("away", "not asked yet");
}

void CordonMirror::Forget() {
  const service::MutexLock lock(mutex_);
  asked_ = MonoNs();
}

std::string CordonMirror::Json() {
  {
    const service::MutexLock lock(mutex_);
    const bool fresh = asked_.known() && clock_.Mono() - asked_ < kFresh;
    if (url_.empty() || fresh || asking_) return answer_;
    asking_ = true;
    asked_ = clock_.Mono();
  }
  auto fields = Ask();
  const service::MutexLock lock(mutex_);
  if (fields.ok()) {
    known_ = *std::move(fields);
    known_at_ = clock_.Wall();
    answer_ = Answer("on", "");
  } else {
    answer_ = Answer("away", std::string(fields.status().message()));
  }
  if (asked_.known()) asked_ = clock_.Mono();  // else forgotten while it was asked
  asking_ = false;
  return answer_;
}

absl::StatusOr<std::string> CordonMirror::Ask() {
  const auto actions = Get("/api/v1/actions");
  if (!actions.ok()) return actions.status();
  const auto plan = Get("/api/v1/plan");
  if (!plan.ok()) return plan.status();
  Tree all = Read(*actions);
  Tree planned = Read(*plan);
  if (!all.is_object() || !planned.is_object()) return NotCordon();
  if (!all["actions"].is_array() || !planned["plan"].is_array()) return NotCordon();
  Shorten(all["actions"]);
  all["plan"] = std::move(planned["plan"]);
  for (const char* own : {"state", "why", "where", "known_unix_ns", "you"}) all.erase(own);
  const std::string text = Dump(all);
  return text.substr(1, text.size() - 2);
}

absl::StatusOr<std::string> CordonMirror::Get(const std::string& path) {
  const std::vector<std::string> headers = BearerHeaders(token_file_);
  auto answer = transport_.Send({"GET", url_ + path, headers, "", kPatienceS});
  if (!answer.ok()) return answer.status();
  if (answer->status == 200) return std::move(answer->body);
  if (answer->status == 401) {
    return absl::UnavailableError("it asks for a login: give a viewer's token, cordon_token_file");
  }
  const std::string said = JsonText(Redacted(answer->body, url_, headers), "error", 300);
  return absl::UnavailableError(
      said.empty() ? absl::StrCat("it answers with HTTP status ", answer->status) : said);
}

std::string CordonMirror::Answer(const std::string& state, const std::string& why) const {
  JsonWriter json;
  json.BeginObject().Field("state", state).Field("why", why);
  json.Field("where", MaskedUrl(url_));
  json.Field("known_unix_ns", known_at_.known() ? known_at_.ns : 0).EndObject();
  std::string text = json.Take();
  if (!known_.empty()) text.insert(text.size() - 1, "," + known_);
  return text;
}

}  // namespace fathom::collector
