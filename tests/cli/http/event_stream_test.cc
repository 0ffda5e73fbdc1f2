#include "collector/cli/http/event_stream.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "tests/cli/http/scripted_server.h"

namespace fathom::cli {
namespace {

std::vector<ServerEvent> DecodeIn(std::string_view bytes, std::size_t portion) {
  EventDecoder decoder;
  std::vector<ServerEvent> out;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    for (ServerEvent& event : decoder.Feed(bytes.substr(at, portion))) out.push_back(event);
  }
  return out;
}

TEST(EventDecoderTest, ReadsEventsInAnyPortions) {
  const std::string text =
      ": heartbeat\n\nevent: verdict\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nid: 7\ndata: x\n\nevent: "
      "none\n\n"
      "event: cut\ndata: never ended\n";
  for (std::size_t portion = 1; portion < text.size(); ++portion) {
    const auto events = DecodeIn(text, portion);
    ASSERT_EQ(events.size(), 2u) << portion;
    EXPECT_EQ(events[0].name, "verdict");
    EXPECT_EQ(events[0].data, "{\"a\":\n1}");
    EXPECT_EQ(events[1].name, "message");
    EXPECT_EQ(events[1].data, "x");
  }
}

// Waits for what the subscription has to say next: events or an error.
absl::StatusOr<std::vector<ServerEvent>> Next(EventSubscription& subscription) {
  const Deadline deadline = In(std::chrono::milliseconds(5000));
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd wanted{subscription.fd(), POLLIN, 0};
    poll(&wanted, 1, 100);
    auto events = subscription.Receive();
    if (!events.ok() || !events->empty()) return events;
  }
  return absl::DeadlineExceededError("nothing came");
}

absl::StatusOr<EventSubscription> Open(const ScriptedServer& server) {
  return EventSubscription::Open(server.address(), "/api/v1/events",
                                 In(std::chrono::milliseconds(1000)));
}

TEST(EventSubscriptionTest, DeliversEventsThenTellsOfTheEnd) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                         "14\r\nevent: job\ndata: {}\n\r\n", "1\r\n\n\r\n"},
                        ScriptedServer::End::kClose);
  auto subscription = Open(server);
  ASSERT_TRUE(subscription.ok()) << subscription.status();
  const auto events = Next(*subscription);
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(events->at(0).name, "job");
  EXPECT_TRUE(absl::IsUnavailable(Next(*subscription).status()));
}

TEST(EventSubscriptionTest, NeverWaitsOnASilentServer) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\n"}, ScriptedServer::End::kSilence);
  auto subscription = Open(server);
  ASSERT_TRUE(subscription.ok());
  const auto events = subscription->Receive();
  ASSERT_TRUE(events.ok());
  EXPECT_TRUE(events->empty());
}

TEST(EventSubscriptionTest, RefusalsAndGarbageAreErrors) {
  ScriptedServer refusing({"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"},
                          ScriptedServer::End::kClose);
  auto refused = Open(refusing);
  EXPECT_TRUE(absl::IsNotFound(Next(*refused).status()));
  ScriptedServer babbling({"what?\r\n"}, ScriptedServer::End::kSilence);
  auto garbage = Open(babbling);
  EXPECT_TRUE(absl::IsInvalidArgument(Next(*garbage).status()));
}

TEST(EventSubscriptionTest, AnEndlessEventIsCutOff) {
  ScriptedServer server({"HTTP/1.1 200 OK\r\n\r\ndata: ", std::string(9 << 20, 'x')},
                        ScriptedServer::End::kSilence);
  auto subscription = Open(server);
  ASSERT_TRUE(subscription.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Next(*subscription).status()));
}

}  // namespace
}  // namespace fathom::cli
