#include "daemon/tracer/core/host/text.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fathom::tracer {
namespace {

TEST(TextTest, CopyFillsAndCuts) {
  char to[8];
  std::memset(to, 'x', sizeof(to));
  EXPECT_TRUE(CopyText(to, sizeof(to), "abc"));
  EXPECT_EQ(std::memcmp(to, "abc\0\0\0\0\0", 8), 0);
  EXPECT_TRUE(CopyText(to, sizeof(to), "1234567"));
  EXPECT_FALSE(CopyText(to, sizeof(to), "12345678"));
  EXPECT_STREQ(to, "1234567");
  EXPECT_TRUE(CopyText(to, sizeof(to), nullptr));
  EXPECT_STREQ(to, "");
}

TEST(TextTest, CutsBetweenCharacters) {
  char to[8];
  EXPECT_FALSE(CopyText(to, sizeof(to), "abcdef\u00e9"));  // 8 bytes: the last does not fit
  EXPECT_STREQ(to, "abcdef");
  EXPECT_FALSE(CopyText(to, sizeof(to), "abcd\u20acef"));  // 4 + 3 + 2
  EXPECT_STREQ(to, "abcd\u20ac");
  EXPECT_FALSE(CopyText(to, sizeof(to), "\x80\x80\x80\x80\x80\x80\x80\x80\x80"));
  EXPECT_STREQ(to, "");
}

TEST(TextTest, AppendStopsAtTheEnd) {
  char to[8] = "ab";
  EXPECT_TRUE(AppendText(to, sizeof(to), "cd"));
  EXPECT_TRUE(AppendNumber(to, sizeof(to), 0));
  EXPECT_STREQ(to, "abcd0");
  EXPECT_FALSE(AppendNumber(to, sizeof(to), 12345));
  EXPECT_STREQ(to, "abcd012");
  EXPECT_FALSE(AppendText(to, sizeof(to), "x"));
}

TEST(TextTest, AppendsTheLargestNumber) {
  char to[32] = "";
  EXPECT_TRUE(AppendNumber(to, sizeof(to), ~std::uint64_t{0}));
  EXPECT_STREQ(to, "18446744073709551615");
}

TEST(TextTest, ParsesPlainDigitsOnly) {
  std::uint32_t out = 5;
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "11", "4294967296"}) {
    EXPECT_FALSE(ParseUint(bad, 10, &out)) << bad;
  }
  EXPECT_FALSE(ParseUint(nullptr, 10, &out));
  EXPECT_EQ(out, 5u);
  EXPECT_TRUE(ParseUint("10", 10, &out));
  EXPECT_EQ(out, 10u);
  EXPECT_TRUE(ParseUint("007", 10, &out));
  EXPECT_EQ(out, 7u);
}

}  // namespace
}  // namespace fathom::tracer
