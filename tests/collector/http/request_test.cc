#include "collector/http/request.h"

#include <gtest/gtest.h>

#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

TEST(ParseTarget, SplitsAndDecodes) {
  const auto request = ParseTarget("/api/v1/jobs/my%20job%2F1/report", "after=5&job=a+b&x");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->segments,
            (std::vector<std::string>{"api", "v1", "jobs", "my job/1", "report"}));
  EXPECT_EQ(request->Number("after", 0), 5);
  EXPECT_EQ(request->Number("limit", 300), 300);
  EXPECT_EQ(request->Text("job"), "a b");
}

TEST(ParseTarget, RefusesWhatIsNotSane) {
  EXPECT_FALSE(ParseTarget("/a%", ""));
  EXPECT_FALSE(ParseTarget("/a%4", ""));
  EXPECT_FALSE(ParseTarget("/a%zz", ""));
  EXPECT_FALSE(ParseTarget("/a%00b", ""));
  EXPECT_FALSE(ParseTarget(std::string("/a\0b", 4), ""));
  EXPECT_FALSE(ParseTarget("/", "job=%f"));
  EXPECT_FALSE(ParseTarget("/" + std::string(5000, 'a'), ""));
  EXPECT_TRUE(ParseTarget("/a%41", ""));
}

TEST(ParseTarget, NumbersAreNumbers) {
  const auto request = ParseTarget("/", "a=12x&b=-3&c=99999999999999999999&d=");
  EXPECT_FALSE(request->Number("a", 0));
  EXPECT_EQ(request->Number("b", 0), -3);
  EXPECT_FALSE(request->Number("c", 0));
  EXPECT_EQ(request->Number("d", 7), 7);
}

TEST(HostAllowed, LoopbackAndConfiguredNamesOnly) {
  for (const char* host :
       {"localhost", "localhost:7070", "127.0.0.1:1", "[::1]:7070", "fathom:80"}) {
    EXPECT_TRUE(HostAllowed(host, {"fathom"})) << host;
  }
  for (const char* host :
       {"", "evil.com", "evil.com:7070", "localhost.evil.com", "127.0.0.1.x", "[::2]", "[::1].x"}) {
    EXPECT_FALSE(HostAllowed(host, {"fathom"})) << host;
  }
}

TEST(JsonWriter, WritesWhatParsersExpect) {
  JsonWriter json;
  json.BeginObject().Field("a", 1).Field("b", "q\"\\\n\x01").Key("c").BeginArray();
  json.Value(0.1).Value(true).Null().BeginObject().EndObject().BeginArray().EndArray();
  json.Value(1.0 / 0.0).EndArray().Field("d", std::int64_t{-5}).EndObject();
  EXPECT_EQ(
      json.Take(),
      "{\"a\":1,\"b\":\"q\\\"\\\\\\u000a\\u0001\",\"c\":[0.1,true,null,{},[],null],\"d\":-5}");
  EXPECT_EQ(ErrorJson("no \"x\""), "{\"error\":\"no \\\"x\\\"\"}");
}

}  // namespace
}  // namespace fathom::collector
