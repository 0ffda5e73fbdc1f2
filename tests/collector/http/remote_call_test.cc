// What somebody else's answer means for a change, and the token that goes with a call.
#include "collector/http/remote_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace fathom::collector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StatusOfHttpTest, TellsWhetherAnythingCanHaveBeenChanged) {
  using absl::StatusCode;
  const std::pair<int, StatusCode> codes[] = {
      {200, StatusCode::kOk},
      {201, StatusCode::kOk},
      {299, StatusCode::kOk},
      {400, StatusCode::kFailedPrecondition},
      {422, StatusCode::kFailedPrecondition},
      {401, StatusCode::kUnauthenticated},
      {403, StatusCode::kPermissionDenied},
      {404, StatusCode::kNotFound},
      {409, StatusCode::kAborted},
      {410, StatusCode::kOutOfRange},
      {429, StatusCode::kResourceExhausted},
  };
  for (const auto& [http, code] : codes) EXPECT_EQ(StatusOfHttp(http, "").code(), code) << http;
}

TEST(StatusOfHttpTest, WhatIsNeitherDoneNorRefusedIsNotKnown) {
  for (const int http : {-1, 0, 100, 199, 300, 302, 402, 405, 418, 500, 503, 600, 2000}) {
    EXPECT_TRUE(absl::IsUnavailable(StatusOfHttp(http, ""))) << http;
  }
}

TEST(StatusOfHttpTest, SaysWhatTheServerSaidInFewWordsAndWholeCharacters) {
  EXPECT_EQ(StatusOfHttp(409, "the object has been modified").message(),
            "HTTP status 409: the object has been modified");
  std::string text(199, 'x');
  text += "\xE2\x82\xAC and on";
  const std::string said(StatusOfHttp(500, text).message());
  EXPECT_EQ(said, "HTTP status 500: " + std::string(199, 'x'));
  EXPECT_EQ(StatusOfHttp(200, "anything").message(), "") << "what went well needs no words";
}

class BearerFileTest : public ::testing::Test {
 protected:
  ~BearerFileTest() override { std::filesystem::remove(file_); }

  // The status, and the headers after it, where the file holds `text`.
  absl::Status Add(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return AddBearer(file_, headers_);
  }

  const std::string file_ = ::testing::TempDir() + "fathom-bearer-" + std::to_string(::getpid());
  std::vector<std::string> headers_ = {"Accept: application/json"};
};

TEST_F(BearerFileTest, WhereNoFileIsNamedNoTokenIsSent) {
  EXPECT_TRUE(AddBearer("", headers_).ok());
  EXPECT_THAT(headers_, ElementsAre("Accept: application/json"));
}

TEST_F(BearerFileTest, TheFirstLineIsTheTokenAndIsReadAtEachCall) {
  ASSERT_TRUE(Add("abc.def-ghi").ok());
  ASSERT_TRUE(Add("turned.over\nanother line\n").ok());
  EXPECT_THAT(headers_, ElementsAre("Accept: application/json", "Authorization: Bearer abc.def-ghi",
                                    "Authorization: Bearer turned.over"));
}

TEST_F(BearerFileTest, AFileWithoutATokenIsRefusedByName) {
  headers_.clear();
  for (const char* text : {"", "\n", "\nthe second line\n"}) {
    const absl::Status status = Add(text);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file_));
  }
  for (const std::string& gone : {::testing::TempDir() + "no-such-token", ::testing::TempDir()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(AddBearer(gone, headers_))) << gone;
  }
  EXPECT_THAT(headers_, IsEmpty()) << "nothing is sent in its place";
}

}  // namespace
}  // namespace fathom::collector
