#include "collector/cli/text/json_fields.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(JsonFieldsTest, ReadsBothFormsOfSixtyFourBitIntegers) {
  const Json object = Json::parse(R"({"a":"9007199254740993","b":7,"c":"x","d":1e300,"e":2.9})");
  EXPECT_EQ(IntField(object, "a"), 9007199254740993);
  EXPECT_EQ(IntField(object, "b"), 7);
  EXPECT_EQ(IntField(object, "c", -1), -1);
  EXPECT_EQ(IntField(object, "d", -1), -1);
  EXPECT_EQ(IntField(object, "e"), 2);
}

TEST(JsonFieldsTest, WrongTypesReadAsDefaults) {
  for (const char* text : {"[]", "3", "null", R"({"x":[1]})", R"({"x":{}})"}) {
    const Json value = Json::parse(text);
    EXPECT_EQ(TextField(value, "x"), "");
    EXPECT_EQ(IntField(value, "x", 5), 5);
    EXPECT_EQ(NumberField(value, "x", 0.5), 0.5);
    EXPECT_FALSE(BoolField(value, "x"));
  }
  EXPECT_TRUE(ListField(Json::parse(R"({"x":{}})"), "x").empty());
  EXPECT_TRUE(ObjectField(Json::parse(R"({"x":[]})"), "x").empty());
}

TEST(JsonFieldsTest, OfAListOnlyTheTextsAreReadAndNoControl) {
  const Json object = Json::parse(R"({"x":["a",1,null,["b"],"c\u0007d",""],"y":"e"})");
  EXPECT_EQ(TextsField(object, "x"), (std::vector<std::string>{"a", "c?d", ""}));
  EXPECT_EQ(TextsField(object, "y"), std::vector<std::string>{});
}

TEST(JsonFieldsTest, PrintableTakesTheControlAway) {
  EXPECT_EQ(Printable("a\x1b]0;t\x07\nb\x7f\xc2\x9b\xc3\xa4"), "a?]0;t??b??\xc3\xa4");
}

}  // namespace
}  // namespace fathom::cli
