#include "collector/import/flight_recorder/unpickler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace fathom::collector::flight_recorder {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

struct Read {
  std::unique_ptr<Document> document;
  absl::StatusOr<Unpickled> result;
};

Read Unpickled_(std::string bytes, const UnpickleLimits& limits = {}) {
  auto document = std::make_unique<Document>(std::move(bytes));
  auto result = Unpickle(*document, limits);
  return {std::move(document), std::move(result)};
}

const Value& Root(const Read& read) { return *read.document->root(); }

TEST(Unpickler, ReadsADictOfProtocolTwo) {
  const Read read = Unpickled_(
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aK\x07X\x01\x00\x00\x00"
      "b]q\x01(\x88\x89Neu."s);
  ASSERT_TRUE(read.result.ok()) << read.result.status();
  EXPECT_FALSE(read.result->cut_at.has_value());
  EXPECT_EQ(Root(read).Find("a")->Integer(), 7);
  const auto& list = Root(read).Find("b")->Items();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0]->Bool(), true);
  EXPECT_EQ(list[1]->Bool(), false);
  EXPECT_EQ(list[2]->kind, ValueKind::kNone);
}

TEST(Unpickler, ReadsNumbersOfEveryForm) {
  const Read read = Unpickled_(
      "(I-5\nL123L\nF2.5\nJ\xff\xff\xff\xff"
      "M\x01\x02K\xff\x8a\x02\x00\x80\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fG\x3f\xf0\x00\x00\x00\x00\x00\x00I01\nl."s);
  ASSERT_TRUE(read.result.ok()) << read.result.status();
  const auto& v = Root(read).Items();
  ASSERT_EQ(v.size(), 10U);
  EXPECT_EQ(v[0]->Integer(), -5);
  EXPECT_EQ(v[1]->Integer(), 123);
  EXPECT_DOUBLE_EQ(v[2]->real, 2.5);
  EXPECT_EQ(v[3]->Integer(), -1);
  EXPECT_EQ(v[4]->Integer(), 0x201);
  EXPECT_EQ(v[5]->Integer(), 255);
  EXPECT_EQ(v[6]->Integer(), -32768);
  EXPECT_EQ(v[7]->Integer(), INT64_MAX);
  EXPECT_DOUBLE_EQ(v[8]->real, 1.0);
  EXPECT_EQ(v[9]->Bool(), true);
}

TEST(Unpickler, KeepsANumberThatDoesNotFitAsReal) {
  const Read read = Unpickled_("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s);
  ASSERT_TRUE(read.result.ok());
  EXPECT_EQ(Root(read).Integer(), std::nullopt);
  EXPECT_DOUBLE_EQ(Root(read).real, 18446744073709551616.0);
}

TEST(Unpickler, DecodesTextOfTheOldProtocols) {
  const Read read = Unpickled_("(S'a\\'\\n\\x41'\nVb\\u00e9\nt."s);
  ASSERT_TRUE(read.result.ok()) << read.result.status();
  EXPECT_EQ(Root(read).Items()[0]->Text(), "a'\nA");
  EXPECT_EQ(Root(read).Items()[1]->Text(), "b\xc3\xa9");
}

TEST(Unpickler, SharesWhatTheMemoNames) {
  const Read read = Unpickled_("\x80\x02(]q\x05h\x05h\x05t."s);
  ASSERT_TRUE(read.result.ok());
  EXPECT_EQ(Root(read).Items()[0], Root(read).Items()[2]);
}

// Everything that could import, call or construct.
TEST(Unpickler, RefusesEveryOpcodeThatCanRunCode) {
  const std::pair<std::string, std::string> attacks[] = {
      {"cposix\nsystem\n(S'id'\ntR."s, "GLOBAL"},
      {"\x80\x02]]R."s, "REDUCE"},
      {"\x80\x02]}b."s, "BUILD"},
      {"(S'id'\nios\nsystem\n."s, "INST"},
      {"(]]o."s, "OBJ"},
      {"\x80\x02]]\x81."s, "NEWOBJ"},
      {"\x80\x04]]]\x92."s, "NEWOBJ_EX"},
      {"\x80\x04\x8c\x05posix\x8c\x06system\x93."s, "STACK_GLOBAL"},
      {"Pid\n."s, "PERSID"},
      {"]Q."s, "BINPERSID"},
      {"\x80\x02\x82\x01."s, "EXT1"},
      {"\x80\x02\x83\x01\x01."s, "EXT2"},
      {"\x80\x02\x84\x01\x01\x01\x01."s, "EXT4"},
      {"\x80\x05\x97."s, "NEXT_BUFFER"},
      {"\x80\x05]\x98."s, "READONLY_BUFFER"},
  };
  for (const auto& [bytes, name] : attacks) {
    const Read read = Unpickled_(bytes);
    EXPECT_EQ(read.result.status().code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(read.result.status().message()), HasSubstr(name));
    EXPECT_THAT(std::string(read.result.status().message()), HasSubstr("offset"));
  }
}

TEST(Unpickler, NamesTheOffsetOfWhatItRefuses) {
  const Read read = Unpickled_(
      "\x80\x02}q\x00"
      "c"s);
  EXPECT_THAT(std::string(read.result.status().message()), HasSubstr("offset 5: opcode 0x63"));
}

TEST(Unpickler, RefusesMalformedStacks) {
  for (const std::string& bytes :
       {"."s,      "a."s,       "]a."s,   "s."s,   "}Ns."s,    "t."s,
        "e."s,     "]u."s,      "}(Nu."s, "(Ne."s, "1."s,      "0."s,
        "h\x01."s, "g7\n."s,    "Ix\n."s, "(."s,   "]p-1\n."s, "\x80\x02\x85."s,
        "Sx\n."s,  "V\\ud\n."s, "\xff."s}) {
    EXPECT_EQ(Unpickled_(bytes).result.status().code(), absl::StatusCode::kInvalidArgument)
        << testing::PrintToString(bytes);
  }
}

TEST(Unpickler, BelievesNoLengthBeforeTheBytesAreThere) {
  const Read read = Unpickled_("\x80\x02}X\xff\xff\xff\xffxx"s);
  ASSERT_TRUE(read.result.ok());
  EXPECT_EQ(read.result->cut_at, 10U);
  EXPECT_EQ(Root(read).kind, ValueKind::kDict);
}

TEST(Unpickler, KeepsWhatIsCompleteOfAFileThatEndsEarly) {
  const Read read = Unpickled_(
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "a]q\x01(K\x01K\x02}q\x02(X\x01\x00\x00\x00"
      "kK\x03X\x01"s);
  ASSERT_TRUE(read.result.ok());
  EXPECT_TRUE(read.result->cut_at.has_value());
  const auto& list = Root(read).Find("a")->Items();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[2]->Find("k")->Integer(), 3);
}

TEST(Unpickler, BoundsValuesMarksMemoAndLinks) {
  const UnpickleLimits limits{.values = 100, .links = 100, .stack = 50, .marks = 20, .memo = 10};
  const auto code = [&](const std::string& bytes) {
    return Unpickled_(bytes, limits).result.status().code();
  };
  EXPECT_EQ(code(std::string(101, 'N')), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(std::string(21, '(')), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("Nr\x0b\x00\x00\x00."s), absl::StatusCode::kResourceExhausted);
  std::string copies = "N";
  for (int i = 0; i < 60; ++i) copies += '2';
  EXPECT_EQ(code(copies), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("]q\x01(" + std::string(30, 'N') + "eh\x01(" + std::string(40, 'N') + "eh\x01(" +
                 std::string(29, 'N') + "e" + "(h\x01h\x01t."),
            absl::StatusCode::kResourceExhausted);
}

TEST(Unpickler, ReadsAListThatContainsItself) {
  const Read read = Unpickled_(
      "]q\x01h\x01"
      "a."s);
  ASSERT_TRUE(read.result.ok());
  EXPECT_EQ(Root(read).Items()[0], &Root(read));
}

TEST(Unpickler, DoesNotRecurseOnDepth) {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += ']';
  for (int i = 0; i < 199'999; ++i) deep += 'a';
  EXPECT_TRUE(Unpickled_(deep + '.').result.ok());
}

}  // namespace
}  // namespace fathom::collector::flight_recorder
