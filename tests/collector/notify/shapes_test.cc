#include "collector/notify/shapes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "collector/notify/delivery.h"

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

Notice Sample() {
  Notice notice;
  notice.key = "v0123456789ab";
  notice.title = "FathomVerdict";
  notice.severity = Severity::kWarning;
  notice.summary = "rank 3 <slow> & \"late\"";
  notice.description = "more";
  notice.labels = {{"job", "train"}, {"node", "n3"}};
  notice.link = "http://head:7070/#/verdict/v0123456789ab";
  notice.began = WallNs(1'700'000'000'123'000'000);
  return notice;
}

TEST(ShapesTest, AlertmanagerEndsLaterWhileActiveAndThenWhenItEnded) {
  Notice notice = Sample();
  const WallNs now(1'700'000'100'000'000'000);
  Json alert = Json::parse(AlertmanagerJson(notice, now, Nanos(300'000'000'000)))[0];
  EXPECT_EQ(alert["labels"]["alertname"], "FathomVerdict");
  EXPECT_EQ(alert["labels"]["episode"], "v0123456789ab");
  EXPECT_EQ(alert["labels"]["node"], "n3");
  EXPECT_EQ(alert["startsAt"], "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(alert["endsAt"], "2023-11-14T22:20:00.000Z");
  notice.over = now;
  alert = Json::parse(AlertmanagerJson(notice, now, Nanos(300'000'000'000)))[0];
  EXPECT_EQ(alert["endsAt"], "2023-11-14T22:15:00.000Z");
}

TEST(ShapesTest, PagerDutyKeepsItsLimits) {
  Notice notice = Sample();
  notice.key = std::string(400, 'k');
  notice.summary = std::string(1023, 'a') + "é";
  Json event = Json::parse(PagerDutyJson(notice, "key"));
  EXPECT_EQ(event["event_action"], "trigger");
  EXPECT_EQ(event["dedup_key"].get<std::string>().size(), 255u);
  EXPECT_EQ(event["payload"]["summary"].get<std::string>(), std::string(1023, 'a'));
  EXPECT_EQ(event["payload"]["severity"], "warning");
  notice.over = WallNs(1'700'000'000'000'000'000);
  EXPECT_EQ(Json::parse(PagerDutyJson(notice, "key"))["event_action"], "resolve");
}

TEST(ShapesTest, SlackGetsNoMarkupFromOutside) {
  const std::string text = Json::parse(SlackJson(Sample()))["text"];
  EXPECT_NE(text.find("rank 3 &lt;slow&gt; &amp;"), std::string::npos) << text;
}

TEST(DeliveryTest, SaysWhatIsNoReceiver) {
  EXPECT_EQ(ParseReceivers("alertmanager=http://a:9093/,slack=https://b", "")->size(), 2u);
  EXPECT_EQ(ParseReceivers("alertmanager=http://a:9093/", "")->front().url, "http://a:9093");
  EXPECT_TRUE(ParseReceivers("", "")->empty());
  for (const char* text : {"mail=x", "slack", "json=ftp://x", "pagerduty=https://x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseReceivers(text, "").status())) << text;
  }
}

}  // namespace
}  // namespace fathom::collector
