// Slack's chat.postMessage: all that is told of an episode stands in one thread.
//
// Used by delivery for receivers of shape "slackbot". Model: the address is
// https://slack.com/api/chat.postMessage?channel=C0123&token=xoxb-…; the token is taken out of it
// into the receiver's secret and goes into a header. The first message of an episode is answered
// with its time stamp, which names the thread; later ones carry it. Unlike an incoming webhook
// Slack answers 200 to what it refuses, and says so in the body.
//
// Thread-safety: pure functions. Errors: InvalidArgument (no such address; Slack refuses the
// message: no use in trying again), Unavailable (try again).
// Source: Slack's documentation of chat.postMessage. Not yet tried against Slack itself.
#ifndef FATHOM_COLLECTOR_NOTIFY_SLACK_THREAD_H_
#define FATHOM_COLLECTOR_NOTIFY_SLACK_THREAD_H_

#include <absl/status/statusor.h>

#include <string>

#include "collector/net/http_transport.h"
#include "collector/notify/notice.h"

namespace fathom::collector {

struct SlackAddress {
  std::string url;  // with the channel
  std::string token;
};
absl::StatusOr<SlackAddress> ReadSlackAddress(const std::string& address);

// `thread`: of the episode; empty: this is its first message.
HttpCall SlackThreadCall(const SlackAddress& address, const Notice& notice,
                         const std::string& thread);

// The thread that the message went to.
absl::StatusOr<std::string> SlackThreadOf(const std::string& body, const std::string& thread);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_SLACK_THREAD_H_
