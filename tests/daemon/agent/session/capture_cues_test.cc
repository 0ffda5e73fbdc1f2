#include "daemon/agent/session/capture_cues.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace fathom::agent {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDeadline = 20 * kSecond;

struct CaptureCuesTest : testing::Test {
  CaptureCuesTest()
      : cue(cues.Add({.job = "train",
                      .rank = 1,
                      .open_sequence = 20,
                      .close_sequence = 30,
                      .deadline_ns = kDeadline})) {}

  RecordingCue::State At(std::int64_t now_ns, std::optional<std::uint64_t> newest) {
    cues.Look(now_ns, [&](const CueOrder&) { return newest; });
    return cue->state;
  }

  CaptureCues cues;
  std::shared_ptr<const RecordingCue> cue;
};

TEST_F(CaptureCuesTest, BeginsWithTheOpThatWasNamedAndEndsBehindTheLast) {
  EXPECT_EQ(At(1, 19), RecordingCue::kWait);
  EXPECT_EQ(At(2, 20), RecordingCue::kRecord);
  EXPECT_EQ(At(3, 30), RecordingCue::kRecord);
  EXPECT_EQ(At(4, 31), RecordingCue::kEnough);
}

TEST_F(CaptureCuesTest, TheDeadlineDoesNotCutWhatHasBegun) {
  EXPECT_EQ(At(kDeadline - 1, 22), RecordingCue::kRecord);
  EXPECT_EQ(At(kDeadline + 1, 25), RecordingCue::kRecord);
  EXPECT_EQ(At(kDeadline + 10 * kSecond, 31), RecordingCue::kEnough);
}

TEST_F(CaptureCuesTest, WhatHasBegunAndComesToNoEndLastsAsLongAsARecordingMay) {
  EXPECT_EQ(At(kDeadline, 22), RecordingCue::kRecord);
  const auto most = static_cast<std::int64_t>(kMaxRecordingSeconds) * kSecond;
  EXPECT_EQ(At(kDeadline + most, 22), RecordingCue::kRecord);
  EXPECT_EQ(At(kDeadline + most + 1, std::nullopt), RecordingCue::kEnough) << "it is gone besides";
}

TEST_F(CaptureCuesTest, ARankThatDoesNotComeToItsBeginningIsGivenUpOnce) {
  EXPECT_EQ(At(kDeadline, 19), RecordingCue::kWait);
  EXPECT_EQ(At(kDeadline + 1, 19), RecordingCue::kGivenUp);
  EXPECT_EQ(At(kDeadline + 2, 25), RecordingCue::kGivenUp) << "it comes too late";
}

TEST_F(CaptureCuesTest, ARankThatIsGoneIsGivenUpAtItsDeadline) {
  EXPECT_EQ(At(1, std::nullopt), RecordingCue::kWait);
  EXPECT_EQ(At(kDeadline + 1, std::nullopt), RecordingCue::kGivenUp);
}

}  // namespace
}  // namespace fathom::agent
