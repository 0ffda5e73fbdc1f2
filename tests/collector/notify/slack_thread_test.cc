// One thread a verdict at Slack: what is sent, what is made of the answers, over a restart too.
#include "collector/notify/slack_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "collector/notify/notifier.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr char kAddress[] =
    "https://slack.example/api/chat.postMessage?channel=C1&token=xoxb-SECRET";

Notice Verdict(const std::string& summary) {
  Notice notice;
  notice.key = "v1";
  notice.title = "FathomVerdict";
  notice.matter = summary;
  notice.summary = summary;
  notice.began = WallNs(1);
  return notice;
}

TEST(SlackThreadTest, TheTokenIsInTheHeaderAndNowhereElse) {
  const auto address = ReadSlackAddress(kAddress);
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->url, "https://slack.example/api/chat.postMessage?channel=C1");
  const HttpCall call = SlackThreadCall(*address, Verdict("slow"), "17.5");
  EXPECT_EQ(call.url, "https://slack.example/api/chat.postMessage");
  EXPECT_THAT(call.headers, testing::Contains("Authorization: Bearer xoxb-SECRET"));
  EXPECT_THAT(call.body, Not(HasSubstr("SECRET")));
  const Json body = Json::parse(call.body);
  EXPECT_EQ(body["channel"], "C1");
  EXPECT_EQ(body["thread_ts"], "17.5");
  EXPECT_THAT(body["text"].get<std::string>(), HasSubstr("slow"));
  EXPECT_FALSE(
      Json::parse(SlackThreadCall(*address, Verdict("slow"), "").body).contains("thread_ts"));
}

TEST(SlackThreadTest, AnAddressWithoutChannelOrTokenIsTold) {
  for (const char* wrong : {"https://x", "https://x?channel=C1", "https://x?token=HUSH",
                            "https://x?channel=&token=HUSH"}) {
    const auto receivers = ParseReceivers(std::string("slackbot=") + wrong, "");
    ASSERT_FALSE(receivers.ok()) << wrong;
    const std::string said(receivers.status().message());
    EXPECT_THAT(said, HasSubstr("chat.postMessage?channel=ID&token=TOKEN"));
    EXPECT_THAT(said, Not(HasSubstr("HUSH")));
  }
}

TEST(SlackThreadTest, WhatSlackAnswers) {
  EXPECT_EQ(*SlackThreadOf(R"({"ok":true,"ts":"17.5"})", ""), "17.5");
  EXPECT_EQ(*SlackThreadOf(R"({"ok":true,"ts":"18.0"})", "17.5"), "17.5")
      << "an answer's own stamp";
  EXPECT_TRUE(absl::IsInvalidArgument(
      SlackThreadOf(R"({"ok":false,"error":"channel_not_found"})", "").status()));
  EXPECT_TRUE(
      absl::IsUnavailable(SlackThreadOf(R"({"ok":false,"error":"ratelimited"})", "").status()));
  EXPECT_TRUE(absl::IsUnavailable(SlackThreadOf("<html>", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SlackThreadOf("{}", "").status()));
}

// Answers as Slack does: each message has a stamp of its own.
class Slack final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(Json::parse(call.body));
    return HttpAnswer{200, R"({"ok":true,"ts":")" + std::to_string(bodies_.size()) + ".0\"}", 0};
  }
  std::vector<Json> Reached(std::size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (bodies_.size() >= count) return bodies_;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }

 private:
  std::mutex mutex_;
  std::vector<Json> bodies_;
};

// Keeps what it is given, as the store does.
class Kept final : public Outbox {
 public:
  void Keep(const Entry& entry) override { entries[entry.notice.key] = entry; }
  void Forget(const std::string&, const std::string& key) override { entries.erase(key); }
  std::vector<Entry> All() override {
    std::vector<Entry> all;
    for (const auto& [key, entry] : entries) all.push_back(entry);
    return all;
  }
  std::map<std::string, Entry> entries;
};

bool Sent(const Notifier& notifier, std::uint64_t count) {
  for (int i = 0; i < 1000 && notifier.counters().sent.load() < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return notifier.counters().sent.load() == count;
}

TEST(SlackThreadTest, WhatComesOfAVerdictIsInTheThreadOfItsFirstMessageAlsoAfterARestart) {
  SystemClock clock;
  Slack slack;
  Kept kept;
  const auto receivers = *ParseReceivers(std::string("slackbot=") + kAddress, "");
  {
    Notifier notifier(receivers, slack, clock, &kept);
    notifier.Tell(Verdict("supported"));
    ASSERT_TRUE(Sent(notifier, 1));
    notifier.Tell(Verdict("established"));
    ASSERT_TRUE(Sent(notifier, 2));
  }
  Notifier anew(receivers, slack, clock, &kept);
  Notice over = Verdict("established");
  over.over = WallNs(9);
  anew.Tell(over);
  const auto bodies = slack.Reached(3);
  ASSERT_EQ(bodies.size(), 3u);
  EXPECT_FALSE(bodies[0].contains("thread_ts"));
  EXPECT_EQ(bodies[1]["thread_ts"], "1.0");
  EXPECT_EQ(bodies[2]["thread_ts"], "1.0");
  ASSERT_TRUE(Sent(anew, 1));
  anew.Tell(Verdict("another onset of the same name"));
  const auto later = slack.Reached(4);
  ASSERT_EQ(later.size(), 4u);
  EXPECT_FALSE(later[3].contains("thread_ts")) << "the thread ended with the verdict";
}

}  // namespace
}  // namespace fathom::collector
