#include "collector/cli/run/ready_line.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(ReadyLineTest, ReadsTheAddresses) {
  const auto both = ParseReadyLine(
      "fathom-collector ready grpc=127.0.0.1:41233 http=[::1]:41234 socket=/run/a "
      "later=1.2.3.4:5 word\r",
      "fathom-collector");
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->at("grpc").ToString(), "127.0.0.1:41233");
  EXPECT_EQ(both->at("http").ToString(), "[::1]:41234");
  EXPECT_EQ(both->size(), 3u);
}

TEST(ReadyLineTest, RefusesOtherLines) {
  for (const char* line : {"", "ready", "hello there", "fathomd starting http=1.2.3.4:5",
                           "other ready http=1.2.3.4:5", "fathomd ready http=nonsense"}) {
    EXPECT_FALSE(ParseReadyLine(line, "fathomd").ok()) << line;
  }
}

}  // namespace
}  // namespace fathom::cli
