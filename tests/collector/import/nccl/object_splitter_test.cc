#include "collector/import/nccl/object_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace fathom::collector::nccl {
namespace {

using ::testing::ElementsAre;

struct Cut {
  std::vector<std::string> objects;
  std::uint64_t given_up = 0;
  bool cut = false;
};

Cut Split(const std::string& text, std::size_t chunk) {
  std::size_t at = 0;
  ObjectSplitter splitter(
      [&](char* to, std::size_t size) -> absl::StatusOr<std::size_t> {
        const std::size_t count = std::min(size, text.size() - at);
        std::memcpy(to, text.data() + at, count);
        at += count;
        return count;
      },
      chunk);
  Cut out;
  while (true) {
    const auto object = splitter.Next();
    EXPECT_TRUE(object.ok());
    if (!object.ok() || object->empty()) break;
    EXPECT_EQ(text.substr(splitter.offset(), object->size()), *object);
    out.objects.emplace_back(*object);
  }
  out.given_up = splitter.given_up();
  out.cut = splitter.cut();
  return out;
}

class ObjectSplitterTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ObjectSplitterTest, LinesAndListsAreAlike) {
  EXPECT_THAT(Split("{\"a\":1}\n{\"b\":{}}\n", GetParam()).objects,
              ElementsAre("{\"a\":1}", "{\"b\":{}}"));
  EXPECT_THAT(Split("[\n{\"a\": [1, {}]},\n{}]\n", GetParam()).objects,
              ElementsAre("{\"a\": [1, {}]}", "{}"));
  EXPECT_THAT(Split("{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", GetParam()).objects,
              ElementsAre("{\n  \"a\": {\n    \"b\": 1\n  }\n}"));
}

TEST_P(ObjectSplitterTest, TextMayHoldAnything) {
  EXPECT_THAT(Split(R"({"a":"}{\"\\"}{"b":2})", GetParam()).objects,
              ElementsAre(R"({"a":"}{\"\\"})", R"({"b":2})"));
}

TEST_P(ObjectSplitterTest, ATornLineCostsItself) {
  const Cut torn = Split("{\"a\":1}\n{\"b\":{\"c\":\n{\"d\":4}\n", GetParam());
  EXPECT_THAT(torn.objects, ElementsAre("{\"a\":1}", "{\"d\":4}"));
  EXPECT_EQ(torn.given_up, 1u);
  const Cut in_text = Split("{\"b\":\"abc\n{\"d\":4}\n", GetParam());
  EXPECT_THAT(in_text.objects, ElementsAre("{\"d\":4}"));
  EXPECT_EQ(in_text.given_up, 1u);
}

TEST_P(ObjectSplitterTest, AnEarlyEndIsTold) {
  const Cut cut = Split("{\"a\":1}\n{\"b\":", GetParam());
  EXPECT_THAT(cut.objects, ElementsAre("{\"a\":1}"));
  EXPECT_TRUE(cut.cut);
  EXPECT_FALSE(Split("{\"a\":1}\n", GetParam()).cut);
}

INSTANTIATE_TEST_SUITE_P(Chunks, ObjectSplitterTest, ::testing::Values(1, 3, 7, 4096));

TEST(ObjectSplitter, AnObjectWithoutEndIsGivenUp) {
  const Cut cut = Split(
      "{\"a\":\"" + std::string(ObjectSplitter::kLargestObject + 10, 'x') + "\"}\n{\"b\":1}\n",
      4096);
  EXPECT_THAT(cut.objects, ElementsAre("{\"b\":1}"));
  EXPECT_EQ(cut.given_up, 1u);
}

}  // namespace
}  // namespace fathom::collector::nccl
