#include "collector/net/curl_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Port 1 of this machine: nobody listens there.
TEST(CurlTransportTest, AnErrorTellsTheHostAndNoSecret) {
  CurlTransport transport(TlsOptions{});
  const auto answer = transport.Send(
      {"POST", "http://user:HUSHPW@127.0.0.1:1/services/T00/TOPSECRET?key=HUSHKEY", {}, "x", 5});
  ASSERT_FALSE(answer.ok());
  const std::string why(answer.status().message());
  EXPECT_THAT(why, HasSubstr("127.0.0.1:1"));
  for (const char* secret : {"HUSHPW", "TOPSECRET", "HUSHKEY", "user"}) {
    EXPECT_THAT(why, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace fathom::collector
