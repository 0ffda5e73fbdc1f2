#include "collector/http/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace fathom::collector {
namespace {

std::string Quoted(std::string_view text) {
  JsonWriter json;
  json.Value(text);
  return json.Take();
}

TEST(JsonWriterTest, CharactersStayAsTheyAre) {
  EXPECT_EQ(Quoted("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  for (const char* text :
       {"\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(Quoted(text), '"' + std::string(text) + '"');
  }
}

TEST(JsonWriterTest, BytesThatAreNoCharacterAreReplaced) {
  const std::string sign = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("a\x80z"), '"' + ("a" + sign + "z") + '"');          // no lead
  EXPECT_EQ(Quoted("\xE2\x82"), '"' + (sign + sign) + '"');             // cut off
  EXPECT_EQ(Quoted("\xC0\xAF"), '"' + (sign + sign) + '"');             // overlong
  EXPECT_EQ(Quoted("\xED\xA0\x80"), '"' + (sign + sign + sign) + '"');  // surrogate
  EXPECT_EQ(Quoted("\xC3\""), '"' + (sign + "\\\"") + '"');             // the quote is not eaten
}

TEST(JsonWriterTest, NumbersComeBackAsTheyWere) {
  const double numbers[] = {0,
                            -0.0,
                            0.1,
                            1.0 / 3,
                            -2.5e-9,
                            1e22,
                            123'456'789.123'456'789,
                            std::numeric_limits<double>::denorm_min(),
                            std::numeric_limits<double>::max(),
                            std::numeric_limits<double>::lowest()};
  for (const double number : numbers) {
    JsonWriter json;
    json.Value(number);
    EXPECT_EQ(nlohmann::json::parse(json.Take()).get<double>(), number);
  }
  JsonWriter whole;
  whole.BeginArray().Value(std::numeric_limits<std::int64_t>::min());
  whole.Value(std::numeric_limits<std::uint64_t>::max()).EndArray();
  EXPECT_EQ(whole.Take(), "[-9223372036854775808,18446744073709551615]");
}

TEST(JsonWriterTest, WhatIsNoNumberIsNull) {
  for (const double none :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    JsonWriter json;
    json.BeginObject().Field("value", none).EndObject();
    EXPECT_EQ(json.Take(), R"({"value":null})");
  }
}

TEST(JsonWriterTest, KeysAreQuotedAsTextsAreAndValuesFollowEachOther) {
  JsonWriter json;
  json.BeginObject().Field("a\"\n", 1).Key("nested").BeginObject().Key("list").BeginArray();
  json.EndArray().EndObject().Field("", "").Key("raw").Raw("[1,{}]").Field("last", false);
  const auto read = nlohmann::json::parse(json.EndObject().Take());
  EXPECT_EQ(read, nlohmann::json::parse(R"({"a\"\n":1,"nested":{"list":[]},"":"","raw":[1,{}],)"
                                        R"("last":false})"));
}

TEST(CutTextTest, CutsAtTheBorderOfACharacter) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc");
  EXPECT_EQ(CutText("ab\xE2\x82\xAC", 4), "ab");
  EXPECT_EQ(CutText("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
}

}  // namespace
}  // namespace fathom::collector
