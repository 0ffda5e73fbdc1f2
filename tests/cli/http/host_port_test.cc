#include "collector/cli/http/host_port.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(HostPortTest, ReadsHostsAndAddresses) {
  for (const char* text : {"127.0.0.1:7070", "[::1]:7070", "node7.cluster:0", "h:65535"}) {
    const auto parsed = ParseHostPort(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->ToString(), text);
  }
  EXPECT_EQ(ParseHostPort("[::1]:7070")->host, "::1");
}

TEST(HostPortTest, RefusesEverythingElseAndSaysWhatIsExpected) {
  for (const char* text : {"", "7070", "host", "host:", ":7070", "host:70x", "host:65536",
                           "host:-1", "::1:7070", "http://h:7070", "h :7070", "h\r\nX:1"}) {
    const auto parsed = ParseHostPort(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(std::string(parsed.status().message()).find("HOST:PORT"), std::string::npos);
  }
}

}  // namespace
}  // namespace fathom::cli
