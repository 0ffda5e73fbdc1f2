#include "daemon/service/segment_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "daemon/service/crc32c.h"

namespace fathom::service {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SegmentLogTest : public testing::Test {
 protected:
  SegmentLogTest() { std::filesystem::remove_all(folder_); }
  ~SegmentLogTest() override { std::filesystem::remove_all(folder_); }

  void Open(SegmentLimits limits = {}) {
    log_.reset();
    auto log = SegmentLog::Open(
        folder_, limits, [this] { return standing_; },
        [this](const std::string& problem) { problems_.push_back(problem); });
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }
  void Put(const std::string& text) { ASSERT_TRUE(log_->Append({text}, WallNs(now_++)).ok()); }
  std::vector<std::string> Earlier() {
    std::vector<std::string> all;
    log_->ReadEarlier([&](std::uint64_t sequence, std::string_view bytes) {
      all.push_back(std::to_string(sequence) + " " + std::string(bytes));
    });
    return all;
  }
  std::string OnlySegment() const {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() == ".seg") found = entry.path().string();
    }
    return found;
  }
  std::string FlipByte(std::size_t at) {
    std::fstream file(OnlySegment(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('\x7f');
    return OnlySegment();
  }

  const std::string folder_ = testing::TempDir() + "segment_log_" + std::to_string(getpid());
  std::vector<std::string> standing_;
  std::vector<std::string> problems_;
  std::int64_t now_ = 1;
  std::unique_ptr<SegmentLog> log_;
};

TEST(Crc32cTest, OfKnownBytesIsTheKnownOneAlsoInParts) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c("6789", Crc32c("12345")), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720 B.4
}

TEST_F(SegmentLogTest, GivesBackWhatWasAppendedBefore) {
  Open();
  Put("one");
  ASSERT_TRUE(log_->Append({"two", ""}, WallNs(5)).ok());
  EXPECT_THAT(Earlier(), IsEmpty());
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("1 one", "2 two", "3 "));
  EXPECT_EQ(log_->next(), 4u);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(SegmentLogTest, ASecondLogOfTheFolderIsRefused) {
  Open();
  const auto second = SegmentLog::Open(
      folder_, {}, [] { return std::vector<std::string>(); }, [](const std::string&) {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SegmentLogTest, ATornTailIsToldAndWhatCameBeforeIsThere) {
  Open();
  Put("one");
  Put("two");
  const std::string path = OnlySegment();
  log_.reset();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("1 one"));
  EXPECT_EQ(log_->counters().torn, 1u);
  EXPECT_THAT(problems_, ElementsAre(testing::HasSubstr(path)));
  Put("again");
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("1 one", "2 again"));
}

TEST_F(SegmentLogTest, ARecordWithAWrongChecksumIsSkippedAlone) {
  Open();
  Put("one");
  Put("two");
  Put("three");
  log_.reset();
  FlipByte(24 + 16 + 3 + 16);  // the "t" of "two"
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("1 one", "3 three"));
  EXPECT_EQ(log_->counters().corrupt, 1u);
}

TEST_F(SegmentLogTest, ALengthThatCannotBeEndsItsSegmentOnly) {
  Open({.segment_bytes = 1});
  Put("one");
  Put("two");
  log_.reset();
  const std::string first = folder_ + "/00000000000000000001.seg";
  std::fstream file(first, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(24 + 3);
  file.put('\x7f');
  file.close();
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("2 two"));
  EXPECT_EQ(log_->counters().corrupt, 1u);
}

TEST_F(SegmentLogTest, WhatStandsIsAtTheHeadOfEverySegment) {
  standing_ = {"who"};
  Open({.segment_bytes = 1});
  Put("one");
  Put("two");
  log_->RemoveBefore(2);
  Open();
  EXPECT_THAT(Earlier(), ElementsAre("0 who", "2 two"));
}

TEST_F(SegmentLogTest, TheOldestSegmentsGoWhenItIsFull) {
  Open({.segment_bytes = 100, .max_bytes = 1000});
  for (int i = 0; i < 100; ++i) Put(std::string(50, 'x'));
  EXPECT_GT(log_->counters().segments_pushed, 10u);
  EXPECT_LT(log_->counters().bytes, 1300u);
  EXPECT_GT(log_->oldest(), 50u);
}

TEST_F(SegmentLogTest, ReadsOnFromAPlaceInBoundedParts) {
  Open({.segment_bytes = 200});
  for (int i = 1; i <= 20; ++i) Put(std::to_string(i));
  std::vector<std::uint64_t> all;
  std::uint64_t at = 3;
  for (std::uint64_t before = 0; before != at;) {
    before = at;
    at = log_->Read(at, 40, [&](std::uint64_t sequence, std::string_view bytes) {
      EXPECT_EQ(std::to_string(sequence), bytes);
      all.push_back(sequence);
    });
    EXPECT_LE(at - before, 4u);
  }
  ASSERT_EQ(all.size(), 18u);
  EXPECT_EQ(all.front(), 3u);
  EXPECT_EQ(all.back(), 20u);
}

TEST_F(SegmentLogTest, OldSegmentsGo) {
  Open({.segment_bytes = 1});
  for (int i = 0; i < 4; ++i) Put("x");  // at 1, 2, 3, 4
  log_->RemoveOlderThan(WallNs(4));
  EXPECT_EQ(log_->oldest(), 3u);
}

}  // namespace
}  // namespace fathom::service
