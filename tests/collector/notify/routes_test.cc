// Which receiver hears of what and when: rules by themselves, and in a notifier whose clock is
// ours.
#include "collector/notify/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "collector/notify/notice_record.h"
#include "collector/notify/notifier.h"
#include "collector/notify/shapes.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kHour = 3600LL * 1'000'000'000;

Notice Of(const std::string& owner, const std::string& cause, const std::string& job) {
  Notice notice;
  notice.key = owner + cause + job;
  notice.title = "FathomVerdict";
  notice.matter = "supported";
  notice.severity = Severity::kWarning;
  notice.summary = "about " + notice.key;
  notice.labels = {{"owner", owner}, {"cause", cause}, {"job", job}};
  notice.began = WallNs(1);
  return notice;
}

Route To(std::vector<std::string> owners, std::vector<std::string> to) {
  Route route;
  route.owners = std::move(owners);
  route.to = std::move(to);
  return route;
}

TEST(RoutesTest, TheFirstRuleThatFitsDecides) {
  Route loaders = To({"infrastructure"}, {"storage"});
  loaders.causes = {"dataloader"};
  const Routes routes({loaders, To({"infrastructure"}, {"infra"}), To({}, {"rest"})}, "");
  const Notice loader = Of("infrastructure", "dataloader", "a");
  EXPECT_TRUE(routes.Reaches("storage", loader));
  EXPECT_FALSE(routes.Reaches("infra", loader)) << "it would fit too, but comes second";
  EXPECT_TRUE(routes.Reaches("infra", Of("infrastructure", "host_slow", "a")));
  EXPECT_TRUE(routes.Reaches("rest", Of("algorithm", "gc", "a")));
}

TEST(RoutesTest, WhatNoRuleTakesGoesToEverybodyAndAnEmptyRuleSilences) {
  const Routes routes({To({"operations"}, {"ops"}), To({"algorithm"}, {})}, "");
  EXPECT_TRUE(routes.Reaches("ops", Of("infrastructure", "gc", "a")));
  EXPECT_TRUE(routes.Reaches("chat", Of("infrastructure", "gc", "a")));
  EXPECT_FALSE(routes.Reaches("ops", Of("algorithm", "gc", "a")));
  EXPECT_TRUE(Routes().Reaches("anybody", Of("algorithm", "gc", "a")));
}

TEST(RoutesTest, JobsAreNamedByPatterns) {
  Route prod = To({}, {"oncall"});
  prod.jobs = {"prod-*", "llm?"};
  const Routes routes({prod, To({}, {"chat"})}, "");
  for (const char* job : {"prod-", "prod-70b", "llm1"}) {
    EXPECT_TRUE(routes.Reaches("oncall", Of("operations", "gc", job))) << job;
  }
  for (const char* job : {"prod", "my-prod-1", "llm", "llm12"}) {
    EXPECT_FALSE(routes.Reaches("oncall", Of("operations", "gc", job))) << job;
  }
}

TEST(RoutesTest, PatternsWithSeveralStars) {
  EXPECT_TRUE(FitsPattern("*", ""));
  EXPECT_TRUE(FitsPattern("a*b*c", "axxbyybc"));
  EXPECT_FALSE(FitsPattern("a*b*c", "axxbyyb"));
  EXPECT_TRUE(FitsPattern("", ""));
  EXPECT_FALSE(FitsPattern("", "a"));
  EXPECT_TRUE(FitsPattern("*a*", "bab"));
  EXPECT_TRUE(FitsPattern("x*", "x*")) << "a star in the text is a character";
}

TEST(RoutesTest, LabelsAndRunbookComeFromTheRule) {
  Route route = To({"operations"}, {"ops"});
  route.labels = {{"team", "dc"}, {"job", "never"}};
  const Routes routes({route}, "https://wiki/causes");
  Notice notice = Of("operations", "link_slow", "train");
  routes.Mark(notice);
  EXPECT_EQ(notice.labels.at("team"), "dc");
  EXPECT_EQ(notice.labels.at("job"), "train") << "a label of ours is not overwritten";
  EXPECT_EQ(notice.runbook, "https://wiki/causes#link_slow");
  Notice in_place = Of("algorithm", "gc", "train");
  Routes({}, "https://wiki/{cause}.html").Mark(in_place);
  EXPECT_EQ(in_place.runbook, "https://wiki/gc.html");
  route.runbook = "https://own";
  Notice own = Of("operations", "gc", "train");
  Routes({route}, "https://wiki").Mark(own);
  EXPECT_EQ(own.runbook, "https://own");
}

TEST(RoutesTest, TheRunbookIsInEveryShapeAndSurvivesARestart) {
  Notice notice = Of("operations", "gc", "train");
  notice.runbook = "https://wiki/causes#gc";
  for (const std::string& text : {AlertmanagerJson(notice, WallNs(1), Nanos(1)), SlackJson(notice),
                                  PagerDutyJson(notice, "key"), PlainJson(notice)}) {
    EXPECT_THAT(text, HasSubstr("https://wiki/causes#gc"));
  }
  EXPECT_EQ(ReadNotice(WriteNotice(notice))->runbook, notice.runbook);
}

WallNs AtUtc(int hour, int minute = 0) {
  return WallNs(20'000 * 24 * kHour + hour * kHour + minute * (kHour / 60));
}

TEST(QuietHoursTest, TheyEndAlsoAfterMidnight) {
  const QuietHours night{22 * 60, 7 * 60, 0};
  EXPECT_EQ(night.Left(AtUtc(23)).count, 8 * kHour);
  EXPECT_EQ(night.Left(AtUtc(6, 30)).count, kHour / 2);
  EXPECT_EQ(night.Left(AtUtc(7)).count, 0);
  EXPECT_EQ(night.Left(AtUtc(21, 59)).count, 0);
  EXPECT_EQ(night.Left(AtUtc(22)).count, 9 * kHour);
  const QuietHours lunch{12 * 60, 13 * 60, 0};
  EXPECT_EQ(lunch.Left(AtUtc(12, 15)).count, 3 * kHour / 4);
  EXPECT_EQ(lunch.Left(AtUtc(11)).count, 0);
}

TEST(QuietHoursTest, TheyAreOfLocalTime) {
  const QuietHours night{22 * 60, 7 * 60, 9 * 60};  // Tokyo
  EXPECT_EQ(night.Left(AtUtc(13)).count, 9 * kHour);
  EXPECT_EQ(night.Left(AtUtc(23)).count, 0);
  const QuietHours west{22 * 60, 7 * 60, -8 * 60};
  EXPECT_EQ(west.Left(AtUtc(6)).count, 9 * kHour);
}

// Keeps what each address was sent.
class Addresses final : public HttpTransport {
 public:
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call) override {
    const std::lock_guard lock(mutex_);
    sent_[call.url].push_back(call.body);
    return HttpAnswer{200, "", 0};
  }
  std::vector<std::string> Of(const std::string& url) {
    const std::lock_guard lock(mutex_);
    return sent_[url];
  }
  bool Reaches(const std::string& url, std::size_t count) {
    for (int i = 0; i < 1000 && Of(url).size() < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Of(url).size() == count;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> sent_;
};

std::vector<Receiver> Three() {
  return *ParseReceivers("ops:json=http://ops,infra:json=http://infra,json=http://all", "");
}

TEST(RoutedNotifierTest, EachOwnersVerdictsGoToItsTeam) {
  SystemClock clock;
  Addresses addresses;
  Notifier notifier(Three(), addresses, clock, nullptr,
                    Routes({To({"operations"}, {"ops"}), To({"infrastructure"}, {"infra", "json"}),
                            To({"algorithm"}, {})},
                           ""));
  notifier.Tell(Of("operations", "compute_slow", "train"));
  notifier.Tell(Of("infrastructure", "dataloader", "train"));
  notifier.Tell(Of("algorithm", "gc", "train"));
  EXPECT_TRUE(addresses.Reaches("http://ops", 1));
  EXPECT_TRUE(addresses.Reaches("http://infra", 1));
  EXPECT_TRUE(addresses.Reaches("http://all", 1));
  EXPECT_THAT(addresses.Of("http://ops")[0], HasSubstr("operationscompute_slow"));
  EXPECT_THAT(addresses.Of("http://all")[0], HasSubstr("infrastructuredataloader"));
}

TEST(RoutedNotifierTest, WhoHasHeardHearsOfTheEndWhateverTheRulesSayThen) {
  SystemClock clock;
  Addresses addresses;
  Notifier notifier(Three(), addresses, clock);
  Notice notice = Of("operations", "compute_slow", "train");
  notifier.Tell(notice);
  ASSERT_TRUE(addresses.Reaches("http://infra", 1));
  ASSERT_TRUE(addresses.Reaches("http://ops", 1));
  notifier.Use(Three(), Routes({To({}, {"ops"})}, ""));
  notice.over = WallNs(5);
  notifier.Tell(notice);
  EXPECT_TRUE(addresses.Reaches("http://infra", 2));
  notifier.Tell(Of("operations", "gc", "other"));
  EXPECT_TRUE(addresses.Reaches("http://ops", 3));
  EXPECT_EQ(addresses.Of("http://infra").size(), 2u);
}

// FakeClock stands at 14:13:20 UTC.
Route QuietAfternoon() {
  Route route = To({}, {"ops"});
  route.quiet = QuietHours{14 * 60, 15 * 60, 0};
  return route;
}

TEST(RoutedNotifierTest, QuietHoursHoldBackTheNewestStateUntilTheyEnd) {
  FakeClock clock;
  ASSERT_EQ(QuietAfternoon().quiet->Left(clock.Wall()).Seconds(), 2800)
      << "the clock's start moved";
  Addresses addresses;
  Notifier notifier(Three(), addresses, clock, nullptr, Routes({QuietAfternoon()}, ""));
  Notice notice = Of("operations", "compute_slow", "train");
  notifier.Tell(notice);
  Notice hang = Of("operations", "process_dead", "train");
  hang.severity = Severity::kCritical;
  notifier.Tell(hang);
  EXPECT_TRUE(addresses.Reaches("http://ops", 1)) << "what is critical goes out at once";
  EXPECT_THAT(addresses.Of("http://ops")[0], HasSubstr("process_dead"));
  notice.matter = "established";
  notice.summary = "newest";
  notifier.Tell(notice);
  clock.AdvanceSeconds(2801);
  notifier.Tell(hang);  // nothing new; it wakes the notifier, whose sleep the fake clock cannot end
  EXPECT_TRUE(addresses.Reaches("http://ops", 2));
  EXPECT_THAT(addresses.Of("http://ops")[1], HasSubstr("newest"));
}

TEST(RoutedNotifierTest, WhatBeginsAndEndsInQuietHoursIsNotTold) {
  FakeClock clock;
  Addresses addresses;
  Notifier notifier(Three(), addresses, clock, nullptr, Routes({QuietAfternoon()}, ""));
  Notice notice = Of("operations", "compute_slow", "train");
  notifier.Tell(notice);
  notice.over = WallNs(9);
  notifier.Tell(notice);
  EXPECT_EQ(notifier.counters().quiet.load(), 1u);
  clock.AdvanceSeconds(2801);
  notifier.Tell(Of("operations", "gc", "later"));
  EXPECT_TRUE(addresses.Reaches("http://ops", 1));
  EXPECT_THAT(addresses.Of("http://ops")[0], HasSubstr("later"));
}

TEST(RoutedNotifierTest, AnAlertThatStandsIsKeptAliveInQuietHours) {
  FakeClock clock;
  Addresses addresses;
  const auto receivers = *ParseReceivers("ops:alertmanager=http://am", "");
  Notifier notifier(receivers, addresses, clock);
  Notice notice = Of("operations", "compute_slow", "train");
  notifier.Tell(notice);
  ASSERT_TRUE(addresses.Reaches("http://am/api/v2/alerts", 1));
  notifier.Use(receivers, Routes({QuietAfternoon()}, ""));
  notice.summary = "it costs more by now";
  notifier.Tell(notice);
  EXPECT_TRUE(addresses.Reaches("http://am/api/v2/alerts", 2));
}

TEST(ReceiverNameTest, ANameIsShownWhereTheAddressIsNot) {
  EXPECT_EQ(MaskedReceivers("ops:slack=https://h/T0/SECRET,json=http://x/y"),
            "ops:slack=https://h/***,json=http://x/***");
  for (const char* wrong : {"https://ann:SECRET@h/x", "SECRET:slack=https://h/x", "ops:SECRET=x"}) {
    EXPECT_THAT(MaskedReceivers(wrong), Not(HasSubstr("SECRET"))) << wrong;
  }
}

TEST(ReceiverNameTest, TheShapeIsTheNameWhereNoneIsGiven) {
  const auto receivers = Three();
  EXPECT_EQ(receivers[0].name, "ops");
  EXPECT_EQ(receivers[2].name, "json");
  EXPECT_EQ(NameOf(receivers[2]), NameOf(Receiver{Shape::kPlain, "http://all", "", "renamed"}))
      << "a new name is no new receiver: what waits for it stays";
  const auto wrong = ParseReceivers("O ps:json=http://x/secret", "");
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("small letters"));
  EXPECT_THAT(std::string(wrong.status().message()), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace fathom::collector
