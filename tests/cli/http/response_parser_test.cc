#include "collector/cli/http/response_parser.h"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

constexpr const char* kSized = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Kind:  a b \r\n\r\nhello";
constexpr const char* kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: t\r\n\r\n";

// In portions of `size` bytes: every cut must give the same.
ResponseParser Parse(std::string_view bytes, std::size_t size, absl::Status* status) {
  ResponseParser parser((ResponseParser::Limits()));
  for (std::size_t at = 0; at < bytes.size() && status->ok(); at += size) {
    *status = parser.Feed(bytes.substr(at, size));
  }
  return parser;
}

TEST(ResponseParserTest, ReadsSizedAndChunkedBodiesInAnyPortions) {
  for (const char* text : {kSized, kChunked}) {
    for (std::size_t size = 1; size < 40; ++size) {
      absl::Status status;
      ResponseParser parser = Parse(text, size, &status);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_TRUE(parser.done());
      EXPECT_EQ(parser.status(), 200);
      EXPECT_EQ(parser.TakeBody(), "hello");
    }
  }
}

TEST(ResponseParserTest, HeaderNamesAreFoundInLowerCaseAndValuesTrimmed) {
  absl::Status status;
  const ResponseParser parser = Parse(kSized, 100, &status);
  EXPECT_EQ(parser.header("x-kind"), "a b");
  EXPECT_EQ(parser.header("absent"), "");
}

TEST(ResponseParserTest, WithoutALengthTheBodyEndsWithTheConnection) {
  absl::Status status;
  ResponseParser parser = Parse("HTTP/1.0 200 OK\r\n\r\nall of it", 7, &status);
  EXPECT_FALSE(parser.done());
  EXPECT_TRUE(parser.Finish().ok());
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.TakeBody(), "all of it");
}

TEST(ResponseParserTest, AnInterimAnswerIsSkipped) {
  absl::Status status;
  ResponseParser parser =
      Parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 9, &status);
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.status(), 204);
}

TEST(ResponseParserTest, AnEarlyCloseIsDataLoss) {
  for (const char* text :
       {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n"}) {
    absl::Status status;
    ResponseParser parser = Parse(text, 64, &status);
    EXPECT_TRUE(absl::IsDataLoss(parser.Finish())) << text;
  }
}

TEST(ResponseParserTest, GarbageIsNotHttp) {
  for (const char* text :
       {"SSH-2.0-OpenSSH_9.2\r\n", "hello", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n"}) {
    absl::Status status;
    Parse(text, 64, &status);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text << status;
  }
}

TEST(ResponseParserTest, LimitsHoldForHeadBodyAndChunks) {
  const std::string long_header = "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'a');
  absl::Status status;
  Parse(long_header, 1000, &status);
  EXPECT_TRUE(absl::IsResourceExhausted(status));

  ResponseParser announced({.header_bytes = 1000, .body_bytes = 10});
  EXPECT_TRUE(absl::IsResourceExhausted(
      announced.Feed("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")));

  ResponseParser chunked({.header_bytes = 1000, .body_bytes = 10});
  EXPECT_TRUE(absl::IsResourceExhausted(chunked.Feed(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nmore than ten bytes")));
}

TEST(ResponseParserTest, TakingTheBodyMakesRoomForMore) {
  ResponseParser parser({.header_bytes = 1000, .body_bytes = 10});
  ASSERT_TRUE(parser.Feed("HTTP/1.1 200 OK\r\n\r\n").ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(parser.Feed("12345678").ok());
    EXPECT_EQ(parser.TakeBody(), "12345678");
  }
}

}  // namespace
}  // namespace fathom::cli
