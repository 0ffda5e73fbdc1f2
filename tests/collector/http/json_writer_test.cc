#include "collector/http/json_writer.h"

#include <gtest/gtest.h>

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

TEST(CutTextTest, CutsAtTheBorderOfACharacter) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc");
  EXPECT_EQ(CutText("ab\xE2\x82\xAC", 4), "ab");
  EXPECT_EQ(CutText("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
}

}  // namespace
}  // namespace fathom::collector
