#include "collector/notify/notifier.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>

namespace fathom::collector {
namespace {

// Answers with the statuses it is given, then 200; 0 is no answer. Keeps the bodies.
class FakeTransport final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    const std::lock_guard lock(mutex_);
    bodies_.push_back(call.body);
    int status = 200;
    if (!statuses_.empty()) status = statuses_.front(), statuses_.pop_front();
    changed_.notify_all();
    if (status == 0) return absl::UnavailableError("nobody there");
    return HttpAnswer{status, "", 0};
  }
  void Answer(std::deque<int> statuses) { statuses_ = std::move(statuses); }
  std::vector<std::string> WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return bodies_.size() >= count; });
    return bodies_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> statuses_;
  std::vector<std::string> bodies_;
};

Notice Of(const std::string& key, const std::string& summary) {
  Notice notice;
  notice.key = key;
  notice.title = std::string("T");
  notice.summary = summary;
  notice.began = WallNs(1);
  return notice;
}

std::vector<Receiver> Receivers() { return *ParseReceivers("json=http://x", ""); }

bool Reaches(const std::atomic<std::uint64_t>& counter, std::uint64_t value) {
  for (int i = 0; i < 2000 && counter != value; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return counter == value;
}

TEST(NotifierTest, TriesAgainAndSendsTheNewestState) {
  SystemClock clock;
  FakeTransport transport;
  transport.Answer({0, 503});
  Notifier notifier(Receivers(), transport, clock);
  notifier.Tell(Of("v1", "first"));
  transport.WaitFor(1);
  notifier.Tell(Of("v1", "newest"));
  const auto bodies = transport.WaitFor(3);
  ASSERT_GE(bodies.size(), 3u);
  EXPECT_NE(bodies.back().find("newest"), std::string::npos);
  EXPECT_TRUE(Reaches(notifier.counters().sent, 1));
  EXPECT_EQ(bodies.size(), 3u);
}

// A verdict whose cost grows is updated every two seconds; people hear of what matters.
TEST(NotifierTest, OnlyWhatMattersIsToldAnew) {
  SystemClock clock;
  FakeTransport transport;
  Notifier notifier(Receivers(), transport, clock);
  Notice notice = Of("v1", "costs 1 GPU-hour");
  notice.matter = "supported rank 2";
  notifier.Tell(notice);
  EXPECT_TRUE(Reaches(notifier.counters().sent, 1));
  for (int i = 2; i < 20; ++i) {
    notice.summary = "costs " + std::to_string(i) + " GPU-hours";
    notifier.Tell(notice);
  }
  notice.matter = "established rank 2";
  notifier.Tell(notice);
  EXPECT_TRUE(Reaches(notifier.counters().sent, 2));
  notice.over = WallNs(2);
  notifier.Tell(notice);
  EXPECT_TRUE(Reaches(notifier.counters().sent, 3));
  EXPECT_EQ(transport.WaitFor(3).size(), 3u);
}

TEST(NotifierTest, WhatTheReceiverCallsWrongIsNotTriedAgain) {
  SystemClock clock;
  FakeTransport transport;
  transport.Answer({400});
  Notifier notifier(Receivers(), transport, clock);
  notifier.Tell(Of("v1", "bad"));
  EXPECT_TRUE(Reaches(notifier.counters().dropped, 1));
  EXPECT_EQ(notifier.counters().failed, 0u);
}

TEST(NotifierTest, OtherReceiversWhileItRuns) {
  SystemClock clock;
  FakeTransport transport;
  transport.Answer({0, 0});
  Notifier notifier(*ParseReceivers("json=http://goes,slack=http://stays", ""), transport, clock);
  notifier.Tell(Of("v1", "kept"));
  transport.WaitFor(2);
  notifier.Use(*ParseReceivers("slack=http://stays,pagerduty=http://comes", "key"));
  EXPECT_TRUE(Reaches(notifier.counters().sent, 1));  // the retry of the one that stays
  notifier.Tell(Of("v2", "both"));
  EXPECT_TRUE(Reaches(notifier.counters().sent, 3));
  EXPECT_NE(transport.WaitFor(5).back().find("both"), std::string::npos);
  notifier.Use({});
  notifier.Tell(Of("v3", "nobody"));
  EXPECT_EQ(transport.WaitFor(5).size(), 5u);
}

TEST(NotifierTest, AFloodIsBoundedAndEndsQuickly) {
  SystemClock clock;
  FakeTransport transport;
  transport.Answer(std::deque<int>(20'000, 0));
  const auto began = std::chrono::steady_clock::now();
  {
    Notifier notifier(Receivers(), transport, clock);
    for (int i = 0; i < 10'000; ++i) notifier.Tell(Of(std::to_string(i), "s"));
    EXPECT_GE(notifier.counters().dropped, 10'000 - Notifier::kMaxEpisodes);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

}  // namespace
}  // namespace fathom::collector
