#include "collector/cli/render/yaml.h"

#include <gtest/gtest.h>

#include "tests/cli/render/golden.h"

namespace fathom::cli {
namespace {

TEST(YamlTest, WritesAReply) {
  ExpectGolden(ToYaml(ReadGoldenJson("verdicts.json")), "verdicts.yaml");
}

TEST(YamlTest, QuotesWhatCouldBeTakenForSomethingElse) {
  const Json value = Json::parse(
      R"({"a":"true","b":"12","c":"no","d":"plain-word_1.x","e":"two words","f":": x","g":"","h":null,
          "y":"- x","i":1.5,"j":[],"k":{},"l":"line\nbreak","null":"~","m":"-1","n":"#c"})");
  EXPECT_EQ(
      ToYaml(value),
      "a: \"true\"\nb: \"12\"\nc: \"no\"\nd: plain-word_1.x\ne: \"two words\"\nf: \": x\"\ng: "
      "\"\"\nh: null\n\"y\": \"- x\"\ni: 1.5\nj: []\nk: {}\nl: \"line\\nbreak\"\n\"null\": "
      "\"~\"\nm: \"-1\"\n\"n\": \"#c\"\n");
}

TEST(YamlTest, NestsListsAndMappings) {
  EXPECT_EQ(ToYaml(Json::parse(R"({"a":[{"b":1,"c":[2,[3,4]]},"x"]})")),
            "a:\n  - b: 1\n    c:\n      - 2\n      - - 3\n        - 4\n  - x\n");
}

TEST(YamlTest, DeepNestingDoesNotRecurseForEver) {
  std::string text(5000, '[');
  text += std::string(5000, ']');
  EXPECT_NE(ToYaml(Json::parse(text)).find("[[[["), std::string::npos);
}

}  // namespace
}  // namespace fathom::cli
