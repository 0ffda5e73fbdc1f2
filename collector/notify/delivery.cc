#include "collector/notify/delivery.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "collector/net/masked_url.h"
#include "collector/net/redacted.h"
#include "collector/net/secret_file.h"
#include "collector/notify/shapes.h"
#include "collector/notify/slack_thread.h"

namespace fathom::collector {
namespace {

constexpr std::array<std::string_view, 5> kShapes = {"alertmanager", "pagerduty", "slack", "json",
                                                     "slackbot"};
constexpr std::size_t kLongestShape = 12;
constexpr std::size_t kLongestName = 32;

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == text.npos;
}

absl::StatusOr<Receiver> ParseReceiver(const std::string& text, const std::string& secret) {
  const auto equals = text.find('=');
  const auto colon = text.substr(0, equals).find(':');
  const std::string shape =
      colon == text.npos ? text.substr(0, equals) : text.substr(colon + 1, equals - colon - 1);
  const std::string name = colon == text.npos ? shape : text.substr(0, colon);
  if (colon != text.npos && !IsName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", MaskedReceivers(text),
                     "': a receiver's name is at most 32 small letters, digits, - and _"));
  }
  for (std::size_t i = 0; i < kShapes.size() && equals != text.npos; ++i) {
    if (shape != kShapes[i]) continue;
    Receiver receiver{static_cast<Shape>(i), text.substr(equals + 1), "", name};
    if (receiver.url.starts_with('@')) {
      auto url = ReadSecretFile(receiver.url.substr(1));
      if (!url.ok()) return url.status();
      receiver.url = *std::move(url);
    }
    if (!receiver.url.starts_with("http://") && !receiver.url.starts_with("https://")) break;
    while (receiver.url.ends_with('/')) receiver.url.pop_back();
    if (receiver.shape == Shape::kSlackBot) {
      auto address = ReadSlackAddress(receiver.url);
      if (!address.ok()) return address.status();
      receiver.url = std::move(address->url);
      receiver.secret = std::move(address->token);
    }
    if (receiver.shape == Shape::kPagerDuty) receiver.secret = secret;
    if (receiver.shape == Shape::kPagerDuty && secret.empty()) {
      return absl::InvalidArgumentError("pagerduty needs its routing key in notify_key_file");
    }
    return receiver;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", MaskedReceivers(text),
      "' is no receiver; write alertmanager=URL, pagerduty=URL, slack=URL, slackbot=@FILE or "
      "json=URL, or @FILE in the place of a URL that is a secret; NAME: before it gives a name "
      "for notify_routes"));
}

std::string BodyOf(const Receiver& receiver, const Notice& notice, WallNs now) {
  switch (receiver.shape) {
    case Shape::kAlertmanager:
      return AlertmanagerJson(notice, now, Receiver::kLifetime);
    case Shape::kPagerDuty:
      return PagerDutyJson(notice, receiver.secret);
    case Shape::kSlack:
      return SlackJson(notice);
    case Shape::kPlain:
    case Shape::kSlackBot:
      break;
  }
  return PlainJson(notice);
}

HttpCall CallOf(const Receiver& receiver, const Notice& notice, WallNs now,
                const std::string& thread) {
  if (receiver.shape == Shape::kSlackBot) {
    return SlackThreadCall({receiver.url, receiver.secret}, notice, thread);
  }
  const bool alertmanager = receiver.shape == Shape::kAlertmanager;
  return {"POST",
          receiver.url + (alertmanager ? "/api/v2/alerts" : ""),
          {"Content-Type: application/json"},
          BodyOf(receiver, notice, now),
          5};
}

// Without a shape it may be all secret.
std::string MaskedWord(const std::string& word) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  const auto colon = word.find(':');
  const std::string shape = colon == word.npos ? "" : word.substr(colon + 1);
  const bool named = std::find(kShapes.begin(), kShapes.end(), shape) != kShapes.end() &&
                     colon <= kLongestName && IsName(word.substr(0, colon));
  const bool name = word.size() <= kLongestShape && word.find_first_not_of(kLetters) == word.npos;
  return name || named ? word : std::string("***");
}

}  // namespace

std::string NameOf(const Receiver& receiver) {
  // FNV-1a, 64 bit: the same in every build.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : receiver.url) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return absl::StrCat(std::string(kShapes[static_cast<std::size_t>(receiver.shape)]), "=",
                      MaskedUrl(receiver.url), "#", absl::Hex(hash));
}

absl::StatusOr<std::vector<Receiver>> ParseReceivers(const std::string& text,
                                                     const std::string& secret) {
  std::vector<Receiver> receivers;
  std::istringstream list(text);
  for (std::string each; std::getline(list, each, ',');) {
    if (each.empty()) continue;
    auto receiver = ParseReceiver(each, secret);
    if (!receiver.ok()) return receiver.status();
    receivers.push_back(*std::move(receiver));
  }
  return receivers;
}

absl::StatusOr<std::vector<Receiver>> ReadReceivers(const std::string& text,
                                                    const std::string& key_file) {
  std::string key;
  if (!key_file.empty()) {
    auto read = ReadSecretFile(key_file);
    if (!read.ok()) {
      return absl::InvalidArgumentError("notify_key_file: " + std::string(read.status().message()));
    }
    key = *std::move(read);
  }
  auto receivers = ParseReceivers(text, key);
  if (receivers.ok()) return receivers;
  return absl::InvalidArgumentError("notify: " + std::string(receivers.status().message()));
}

std::string MaskedReceivers(const std::string& text) {
  std::string masked;
  std::istringstream list(text);
  for (std::string each; std::getline(list, each, ',');) {
    const auto equals = each.find('=');
    if (!masked.empty()) masked += ",";
    masked += MaskedWord(each.substr(0, equals));
    if (equals == each.npos) continue;
    const std::string url = each.substr(equals + 1);
    const bool shown = url.starts_with('@') || url.find("://") != url.npos;
    masked.append("=").append(shown ? MaskedUrl(url) : "***");
  }
  return masked;
}

absl::Status Deliver(const Receiver& receiver, const Notice& notice, WallNs now,
                     HttpTransport& transport, std::string* thread) {
  const std::string known = thread == nullptr ? "" : *thread;
  const auto answer = transport.Send(CallOf(receiver, notice, now, known));
  if (!answer.ok()) return absl::UnavailableError(std::string(answer.status().message()));
  if (answer->status >= 200 && answer->status < 300) {
    if (receiver.shape != Shape::kSlackBot) return absl::OkStatus();
    auto of = SlackThreadOf(answer->body, known);
    if (of.ok() && thread != nullptr) *thread = *of;
    if (of.ok()) return absl::OkStatus();
    const std::string why(of.status().message());
    return absl::Status(of.status().code(), Redacted(why, receiver.url, {}, {receiver.secret}));
  }
  const std::string body = Redacted(answer->body, receiver.url, {}, {receiver.secret});
  const std::string said = absl::StrCat(MaskedUrl(receiver.url), ": HTTP status ", answer->status,
                                        ": ", body.substr(0, 200));
  const bool ours = answer->status >= 400 && answer->status < 500 && answer->status != 408 &&
                    answer->status != 429;
  return ours ? absl::InvalidArgumentError(said) : absl::UnavailableError(said);
}

}  // namespace fathom::collector
