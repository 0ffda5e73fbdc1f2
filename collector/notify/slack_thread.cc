#include "collector/notify/slack_thread.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "collector/http/json_writer.h"
#include "collector/notify/shapes.h"

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kChannel = "channel=";
constexpr std::string_view kToken = "token=";

std::string ChannelOf(const std::string& url) {
  const auto at = url.find(kChannel);
  return at == url.npos ? "" : url.substr(at + kChannel.size());
}

}  // namespace

absl::StatusOr<SlackAddress> ReadSlackAddress(const std::string& address) {
  const auto question = address.find('?');
  std::string channel;
  SlackAddress out;
  if (question != address.npos) {
    const std::vector<std::string> parts = absl::StrSplit(address.substr(question + 1), '&');
    for (const std::string& part : parts) {
      if (part.starts_with(kChannel)) channel = part.substr(kChannel.size());
      if (part.starts_with(kToken)) out.token = part.substr(kToken.size());
    }
  }
  if (channel.empty() || out.token.empty()) {
    return absl::InvalidArgumentError(
        "slackbot needs https://slack.com/api/chat.postMessage?channel=ID&token=TOKEN; write it "
        "into a file and name that with slackbot=@FILE");
  }
  out.url = absl::StrCat(address.substr(0, question + 1), std::string(kChannel), channel);
  return out;
}

HttpCall SlackThreadCall(const SlackAddress& address, const Notice& notice,
                         const std::string& thread) {
  JsonWriter json;
  json.BeginObject().Field("channel", std::string_view(ChannelOf(address.url)));
  json.Field("text", std::string_view(SlackWords(notice)));
  if (!thread.empty()) json.Field("thread_ts", std::string_view(thread));
  return {
      "POST",
      address.url.substr(0, address.url.find('?')),
      {"Content-Type: application/json; charset=utf-8", "Authorization: Bearer " + address.token},
      json.EndObject().Take(),
      5};
}

absl::StatusOr<std::string> SlackThreadOf(const std::string& body, const std::string& thread) {
  const Json answer = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return absl::UnavailableError("Slack's answer is no JSON");
  const auto ok = answer.find("ok");
  if (ok != answer.end() && ok->is_boolean() && ok->get<bool>()) {
    const auto stamp = answer.find("ts");
    const bool first = thread.empty() && stamp != answer.end() && stamp->is_string();
    return first ? stamp->get<std::string>() : thread;
  }
  const auto error = answer.find("error");
  const std::string why =
      error != answer.end() && error->is_string() ? error->get<std::string>() : "no reason";
  const std::string said = absl::StrCat("Slack refuses the message: ", why.substr(0, 100));
  const bool later = why == "ratelimited" || why == "internal_error" || why == "fatal_error" ||
                     why == "service_unavailable" || why == "request_timeout";
  return later ? absl::UnavailableError(said) : absl::InvalidArgumentError(said);
}

}  // namespace fathom::collector
