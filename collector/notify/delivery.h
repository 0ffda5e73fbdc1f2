// One receiver of notices, and one attempt to reach it.
//
// Used by Notifier (verdicts, retried in the background) and by fathom-cordon (actions, where an
// undelivered notice stops the action).
//
//   "alertmanager=http://127.0.0.1:9093"  POST /api/v2/alerts
//   "pagerduty=https://events.pagerduty.com/v2/enqueue"  with the routing key in notify_key_file
//   "slack=https://hooks.slack.com/…", "json=https://…"  as they are
//   "slackbot=@FILE"  https://slack.com/api/chat.postMessage?channel=ID&token=…: one thread an
//   episode (notify/slack_thread.h)
//   "slack=@FILE", and so for each  the address is the first line of the file
//   "NAME:slack=…", and so for each  a name for rules (notify/routes.h); else that of the shape
//
// Slack's address is itself a secret, and others may carry a password: nothing is printed or said
// of a receiver but through MaskedReceivers and MaskedUrl.
//
// Thread-safety: pure but for the transport. Errors: InvalidArgument (no such receiver, or it says
// that the request is wrong: no use in trying again), Unavailable (try again).
#ifndef FATHOM_COLLECTOR_NOTIFY_DELIVERY_H_
#define FATHOM_COLLECTOR_NOTIFY_DELIVERY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/net/http_transport.h"
#include "collector/notify/notice.h"

namespace fathom::collector {

enum class Shape : std::uint8_t { kAlertmanager, kPagerDuty, kSlack, kPlain, kSlackBot };

struct Receiver {
  Shape shape = Shape::kPlain;
  std::string url;
  std::string secret;  // PagerDuty's routing key, Slack's token
  std::string name{};  // by which rules name it

  bool operator==(const Receiver&) const = default;

  // How long an alert at Alertmanager lives without being sent anew.
  static constexpr Nanos kLifetime{300'000'000'000};
};

// A name that stays the same and gives no secret away: shape, host, and a digest of the rest.
std::string NameOf(const Receiver& receiver);

// "SHAPE=URL" or "NAME:SHAPE=URL" with commas between several. `secret` goes to those that need
// one.
absl::StatusOr<std::vector<Receiver>> ParseReceivers(const std::string& text,
                                                     const std::string& secret);

// The same of the settings `notify` and `notify_key_file` (may be empty), which is read: its first
// line is the secret. Errors name the setting.
absl::StatusOr<std::vector<Receiver>> ReadReceivers(const std::string& text,
                                                    const std::string& key_file);

// `text` as ParseReceivers takes it, fit for a log: the addresses as far as the host.
std::string MaskedReceivers(const std::string& text);

// `thread`, where it is not null: of the episode at this receiver. It is read, and written where
// the receiver has threads.
absl::Status Deliver(const Receiver& receiver, const Notice& notice, WallNs now,
                     HttpTransport& transport, std::string* thread = nullptr);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_DELIVERY_H_
