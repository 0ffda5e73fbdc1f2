#include "collector/bus/bus.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "collector/bus/bus_names.h"
#include "collector/bus/nats_hearing.h"
#include "tests/collector/bus/wires.h"

namespace fathom::collector {
namespace {

// What a follower heard, in its order.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> records;
  std::vector<std::uint64_t> sequences;
  bool caught_up = false;
  std::size_t before = 0;  // records that came before it had caught up

  Bus::OnKept OnKept() {
    return [this](const Bus::Kept& kept) {
      const std::lock_guard lock(mutex);
      records.emplace_back(kept.bytes);
      sequences.push_back(kept.sequence);
    };
  }
  std::function<void()> CaughtUp() {
    return [this] {
      const std::lock_guard lock(mutex);
      caught_up = true;
      before = records.size();
    };
  }
  std::vector<std::string> Records() {
    const std::lock_guard lock(mutex);
    return records;
  }
  bool Ready() {
    const std::lock_guard lock(mutex);
    return caught_up;
  }
};

struct BusTest : testing::TestWithParam<std::string> {
  SystemClock clock;
  Wires wires{GetParam(), clock, Nanos::FromSeconds(2)};
  ClusterWires one, two;

  void SetUp() override {
    if (!wires.skips().empty()) GTEST_SKIP() << wires.skips();
    one = wires.Join("one");
    two = wires.Join("two");
    ASSERT_NE(two.bus, nullptr);
  }
  static void AwaitDurable(Bus& bus, std::uint64_t record) {
    std::atomic<bool> durable{false};
    if (!bus.WhenDurable(record, [&] { durable = true; })) return;
    ASSERT_TRUE(Eventually([&] { return durable.load(); }));
  }
};

TEST_P(BusTest, ALogIsReadFromItsBeginningAndGoesOn) {
  one.bus->Append({"j", "r0.s"}, "a");
  AwaitDurable(*one.bus, one.bus->Append({"j", "r1.s"}, "b"));
  one.bus->Append({"another", "r0.s"}, "not this");
  Heard heard;
  const auto follow = two.bus->Follow("j", heard.OnKept(), heard.CaughtUp());
  ASSERT_TRUE(follow.ok()) << follow.status();
  ASSERT_TRUE(Eventually([&] { return heard.Ready(); }));
  EXPECT_EQ(heard.before, 2u);
  two.bus->Append({"j", "r0.s"}, "c");
  ASSERT_TRUE(Eventually([&] { return heard.Records().size() == 3; }));
  EXPECT_EQ(heard.Records(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(std::is_sorted(heard.sequences.begin(), heard.sequences.end()));
}

TEST_P(BusTest, WhoFollowsAnEmptyLogHasCaughtUp) {
  Heard heard;
  const auto follow = two.bus->Follow("none", heard.OnKept(), heard.CaughtUp());
  ASSERT_TRUE(follow.ok());
  EXPECT_TRUE(Eventually([&] { return heard.Ready(); }));
  EXPECT_EQ(heard.Records().size(), 0u);
}

TEST_P(BusTest, OfAPlaceTheNewestAreKept) {
  std::uint64_t last = one.bus->Append({"j", "r7.i"}, "who");
  for (int i = 0; i < Bus::kRecordsOfPlace + 40; ++i) {
    last = one.bus->Append({"j", "r7.s"}, std::to_string(i));
  }
  AwaitDurable(*one.bus, last);
  Heard heard;
  const auto follow = two.bus->Follow("j", heard.OnKept(), heard.CaughtUp());
  ASSERT_TRUE(Eventually([&] { return heard.Ready(); }));
  const auto records = heard.Records();
  ASSERT_EQ(records.size(), static_cast<std::size_t>(Bus::kRecordsOfPlace) + 1);
  EXPECT_EQ(records[0], "who");
  EXPECT_EQ(records[1], "40");
}

TEST_P(BusTest, WhatIsForgottenIsGone) {
  for (const char* text : {"a", "b", "c"}) one.bus->Append({"j", "r0.s"}, text);
  AwaitDurable(*one.bus, one.bus->Append({"other", "r0.s"}, "d"));
  Heard all;
  {
    const auto follow = one.bus->Follow("j", all.OnKept(), all.CaughtUp());
    ASSERT_TRUE(Eventually([&] { return all.Ready(); }));
  }
  one.bus->Forget("j", all.sequences[1]);
  Heard rest, other;
  const auto follow = two.bus->Follow("j", rest.OnKept(), rest.CaughtUp());
  const auto follow_other = two.bus->Follow("other", other.OnKept(), other.CaughtUp());
  ASSERT_TRUE(Eventually([&] { return rest.Ready() && other.Ready(); }));
  EXPECT_EQ(rest.Records(), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(other.Records(), (std::vector<std::string>{"d"}));
}

TEST_P(BusTest, WordsReachWhoListens) {
  std::mutex mutex;
  std::vector<std::string> words;
  auto hearing = two.bus->Hear("a topic.with anything", [&](std::string_view bytes) {
    const std::lock_guard lock(mutex);
    words.emplace_back(bytes);
  });
  ASSERT_TRUE(hearing.ok());
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return words.size();
  };
  // That somebody listens reaches a server in its time.
  ASSERT_TRUE(Eventually([&] {
    one.bus->Tell("a topic.with anything", "hello");
    one.bus->Tell("another", "no");
    return count() > 0;
  }));
  hearing->reset();
  const std::size_t before = count();
  one.bus->Tell("a topic.with anything", "late");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(count(), before);
  for (const std::string& word : words) EXPECT_EQ(word, "hello");
}

TEST_P(BusTest, AQuestionIsAnsweredHoweverLongTheAnswer) {
  const auto answer = two.bus->Answer("two", [](std::string_view bytes) {
    return bytes == "big" ? std::string(3'000'000, 'x') : "you said " + std::string(bytes);
  });
  ASSERT_TRUE(answer.ok());
  const Nanos patience = Nanos::FromSeconds(20);
  ASSERT_TRUE(Eventually([&] { return one.bus->Ask("two", "hi", patience).ok(); }));
  EXPECT_EQ(*one.bus->Ask("two", "hi", patience), "you said hi");
  EXPECT_EQ(one.bus->Ask("two", "big", patience)->size(), 3'000'000u);
  EXPECT_TRUE(absl::IsNotFound(one.bus->Ask("nobody", "hi", patience).status()));
}

// Answers nothing but whether it is there before it is opened.
struct Gate {
  std::mutex mutex;
  std::condition_variable moved;
  int asked = 0;
  bool open = false;

  static constexpr char kThere[] = "are you there?";

  // That somebody answers reaches a server in its time.
  static bool IsThere(Bus& bus) {
    return Eventually([&] { return bus.Ask("two", kThere, Nanos::FromSeconds(20)).ok(); });
  }
  Bus::OnAsked OnAsked() {
    return [this](std::string_view question) {
      if (question == kThere) return std::string("yes");
      std::unique_lock lock(mutex);
      ++asked;
      moved.wait(lock, [this] { return open; });
      return std::string("late");
    };
  }
  int Asked() {
    const std::lock_guard lock(mutex);
    return asked;
  }
  void Open() {
    const std::lock_guard lock(mutex);
    open = true;
    moved.notify_all();
  }
};

TEST_P(BusTest, WhoEndsTellsThoseWhoWaitForItsAnswer) {
  if (!wires.real()) GTEST_SKIP() << "of a server only";
  constexpr int kAsked = 5;
  Gate gate;
  auto answer = two.bus->Answer("two", gate.OnAsked());
  ASSERT_TRUE(answer.ok() && Gate::IsThere(*one.bus));
  std::vector<std::future<absl::StatusOr<std::string>>> asked;
  for (int i = 0; i < kAsked; ++i) {
    asked.push_back(std::async(std::launch::async,
                               [&] { return one.bus->Ask("two", "hi", Nanos::FromSeconds(120)); }));
  }
  ASSERT_TRUE(Eventually([&] { return gate.Asked() == NatsAnswering::kWorkers; }));
  // By now the others wait behind those.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  std::thread ends([&] { answer->reset(); });
  const auto ready = [](auto& each) {
    return each.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  Eventually([&] {
    return std::count_if(asked.begin(), asked.end(), ready) == kAsked - NatsAnswering::kWorkers;
  });
  gate.Open();
  ends.join();
  for (auto& each : asked) {
    const auto told = each.get();
    EXPECT_TRUE(told.ok() || absl::IsInternal(told.status()) || absl::IsNotFound(told.status()))
        << told.status();
  }
}

TEST_P(BusTest, WhoAsksDoesNotWaitOverTheEndOfTheConnection) {
  if (!wires.real()) GTEST_SKIP() << "of a server only";
  Gate gate;
  const auto answer = two.bus->Answer("two", gate.OnAsked());
  ASSERT_TRUE(answer.ok() && Gate::IsThere(*one.bus));
  auto asked = std::async(std::launch::async,
                          [&] { return one.bus->Ask("two", "hi", Nanos::FromSeconds(120)); });
  ASSERT_TRUE(Eventually([&] { return gate.Asked() == 1; }));
  wires.server().Stop();
  const auto told = asked.get();
  EXPECT_TRUE(absl::StrContains(told.status().message(), "the connection broke")) << told.status();
  gate.Open();
  wires.server().Start();
}

TEST_P(BusTest, AServerThatDiesLosesNothingThatWasAppended) {
  if (!wires.real()) GTEST_SKIP() << "of a server only";
  Heard heard;
  const auto follow = two.bus->Follow("j", heard.OnKept(), heard.CaughtUp());
  ASSERT_TRUE(Eventually([&] { return heard.Ready(); }));
  AwaitDurable(*one.bus, one.bus->Append({"j", "r0.s"}, "before"));
  wires.server().Stop();
  ASSERT_TRUE(Eventually([&] { return !one.bus->failing().empty(); }));
  const std::uint64_t meanwhile = one.bus->Append({"j", "r0.s"}, "meanwhile");
  std::atomic<bool> durable{false};
  ASSERT_TRUE(one.bus->WhenDurable(meanwhile, [&] { durable = true; }));
  wires.server().Start();
  ASSERT_TRUE(Eventually([&] { return durable.load(); }));
  // It may come twice: whoever takes records in treats repeats as no-ops.
  ASSERT_TRUE(Eventually([&] {
    const auto records = heard.Records();
    return !records.empty() && records.front() == "before" && records.back() == "meanwhile";
  }));
  EXPECT_TRUE(Eventually([&] { return one.bus->failing().empty(); }));
  EXPECT_EQ(one.bus->counters().given_up, 0u);
}

TEST(BusNames, TwoNamesNeverMeetInOneToken) {
  for (const char* name : {"plain-Name_1", "with.dot", "a/b", "spa ce", "*", ">", "=2E", "", "ü"}) {
    const std::string token = BusToken(name);
    EXPECT_EQ(NameOfToken(token), name);
    EXPECT_EQ(token.find_first_of(".*> "), std::string::npos) << token;
    EXPECT_FALSE(token.empty());
  }
  EXPECT_NE(BusToken("a.b"), BusToken("a=2Eb"));
}

INSTANTIATE_TEST_SUITE_P(Both, BusTest, testing::Values("memory", "nats"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace fathom::collector
