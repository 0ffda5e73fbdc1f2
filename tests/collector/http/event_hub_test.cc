#include "collector/http/event_hub.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fathom::collector {
namespace {

using Wake = Subscription::Wake;
constexpr std::chrono::milliseconds kNow{0};
constexpr std::chrono::milliseconds kLong{10'000};

TEST(EventHub, SendsToWhoeverAskedForTheJob) {
  EventHub hub(4);
  const auto all = hub.Subscribe("");
  const auto one = hub.Subscribe("a");
  hub.Publish("job", "a", "{}");
  hub.Publish("job", "b", "[]");
  std::string text;
  EXPECT_EQ(all->Next(kNow, text), Wake::kEvent);
  EXPECT_EQ(text, "event: job\ndata: {}\n\n");
  EXPECT_EQ(all->Next(kNow, text), Wake::kEvent);
  EXPECT_EQ(one->Next(kNow, text), Wake::kEvent);
  EXPECT_EQ(one->Next(kNow, text), Wake::kIdle);
}

TEST(EventHub, BoundsItsListeners) {
  EventHub hub(2);
  const auto a = hub.Subscribe("");
  auto b = hub.Subscribe("");
  EXPECT_EQ(hub.Subscribe(""), nullptr);
  b.reset();
  EXPECT_NE(hub.Subscribe(""), nullptr);
}

TEST(EventHub, DropsAListenerThatDoesNotKeepUpAndNobodyElse) {
  EventHub hub(2);
  const auto slow = hub.Subscribe("");
  const auto quick = hub.Subscribe("");
  std::string text;
  for (std::size_t i = 0; i <= EventHub::kMaxQueued; ++i) {
    hub.Publish("job", "a", "{}");
    ASSERT_EQ(quick->Next(kNow, text), Wake::kEvent);
  }
  EXPECT_EQ(slow->Next(kNow, text), Wake::kOver);
  EXPECT_EQ(quick->Next(kNow, text), Wake::kIdle);
  EXPECT_EQ(hub.dropped(), 1u);
}

TEST(EventHub, StopWakesEverybody) {
  EventHub hub(1);
  const auto waiting = hub.Subscribe("");
  std::thread stopper([&] { hub.Stop(); });
  std::string text;
  EXPECT_EQ(waiting->Next(kLong, text), Wake::kOver);
  stopper.join();
  EXPECT_EQ(hub.Subscribe(""), nullptr);
}

TEST(EventHub, WhoListensElsewhereIsToldWhileThereIsSomebody) {
  EventHub hub(1);
  EXPECT_FALSE(hub.wanted()) << "nobody listens, here or elsewhere";
  bool wanted = false;
  std::vector<std::string> told;
  hub.Relay(
      [&](std::string_view type, std::string_view job, std::string_view json) {
        told.push_back(std::string(type) + " " + std::string(job) + " " + std::string(json));
      },
      [&] { return wanted; });
  hub.Publish("job", "a", "{}");
  EXPECT_FALSE(hub.wanted());
  wanted = true;
  EXPECT_TRUE(hub.wanted());
  hub.Publish("verdict", "b", "[]");
  hub.PublishHere("verdict", "c", "[]");
  EXPECT_EQ(told, std::vector<std::string>{"verdict b []"}) << "what came from there stays here";
}

TEST(EventHub, WhatIsPublishedForElsewhereIsToldHereAsWell) {
  EventHub hub(1);
  int relayed = 0;
  hub.Relay([&](auto, auto, auto) { ++relayed; }, [] { return true; });
  const auto here = hub.Subscribe("");
  hub.Publish("job", "a", "{}");
  std::string text;
  EXPECT_EQ(here->Next(kNow, text), Wake::kEvent);
  EXPECT_EQ(here->Next(kNow, text), Wake::kIdle) << "once";
  EXPECT_EQ(relayed, 1);
}

}  // namespace
}  // namespace fathom::collector
