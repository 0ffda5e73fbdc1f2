// Slices that overlap, put into tracks on which they nest.
#include "collector/export/perfetto/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/collector/export/perfetto/trace_read.h"

namespace fathom::collector::perfetto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

using Span = std::pair<std::int64_t, std::int64_t>;

struct Laid {
  TraceRead read;
  std::uint64_t left_out = 0;

  // The lane of each span, from 0, in the order in which they were put.
  std::vector<std::uint64_t> LaneOfEach() const {
    std::vector<std::uint64_t> lanes;
    for (const SliceRead& slice : read.slices) lanes.push_back(slice.track_id - 100);
    return lanes;
  }
};

Laid Lay(const std::vector<Span>& spans, const Track& track = {100, 0, "ops", 0, 0}) {
  char* bytes = nullptr;
  std::size_t size = 0;
  const auto writer = TraceWriter::Into(open_memstream(&bytes, &size), "memory");
  if (track.parent != 0) writer->Add({track.parent, 0, "rank", track.process, 0});
  Lanes lanes(*writer, track);
  for (const auto& [begin, end] : spans) {
    const std::string name = std::to_string(begin) + "-" + std::to_string(end);
    Slice slice;
    slice.name = name;
    slice.begin_ns = begin;
    slice.end_ns = end;
    lanes.Put(slice);
  }
  lanes.Finish();
  EXPECT_TRUE(writer->Close().ok());
  Laid laid{ReadTrace(std::string(bytes, size)), lanes.left_out()};
  std::free(bytes);
  EXPECT_THAT(laid.read.wrong, IsEmpty());
  return laid;
}

TEST(LanesTest, NothingIsNoTrack) { EXPECT_THAT(Lay({}).read.tracks, IsEmpty()); }

TEST(LanesTest, EachSliceTakesTheFirstLaneInWhichItNests) {
  const struct {
    const char* what;
    std::vector<Span> spans;
    std::vector<std::uint64_t> lanes;
  } cases[] = {
      {"one after the other", {{1, 5}, {6, 9}}, {0, 0}},
      {"one begins as the other ends", {{1, 5}, {5, 9}}, {0, 0}},
      {"one inside the other", {{1, 9}, {2, 5}, {6, 8}}, {0, 0, 0}},
      {"they end together", {{1, 9}, {5, 9}}, {0, 0}},
      {"they are one", {{1, 9}, {1, 9}}, {0, 0}},
      {"one outlasts the other by a ns", {{1, 9}, {5, 10}}, {0, 1}},
      {"a lane is free again", {{1, 9}, {5, 12}, {9, 20}, {11, 13}}, {0, 1, 0, 0}},
      {"inside the outer, past the inner", {{1, 20}, {2, 5}, {4, 8}}, {0, 0, 1}},
      {"no time at all", {{5, 5}, {5, 5}, {6, 7}}, {0, 0, 0}},
      {"three at once", {{1, 10}, {2, 11}, {3, 12}}, {0, 1, 2}},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(Lay(each.spans).LaneOfEach(), each.lanes) << each.what;
  }
}

TEST(LanesTest, FurtherLanesBearTheNameAndStandBesideATrackOrUnderAThread) {
  const Laid beside = Lay({{1, 10}, {2, 11}}, {100, 50, "ops", 0, 0});
  EXPECT_EQ(beside.read.tracks.at(101), (TrackRead{50, "ops", 0, 0}));
  const Laid under = Lay({{1, 10}, {2, 11}}, {100, 50, "stream", 3, 9});
  EXPECT_EQ(under.read.tracks.at(100), (TrackRead{50, "stream", 3, 9}));
  EXPECT_EQ(under.read.tracks.at(101), (TrackRead{100, "stream", 0, 0}));
}

TEST(LanesTest, WhatFindsNoLaneIsCountedAndTheRestIsThere) {
  const auto most = static_cast<std::int64_t>(Lanes::kMostLanes);
  std::vector<Span> spans;
  for (std::int64_t i = 0; i < most + 3; ++i) spans.emplace_back(1 + i, 1000 + i);
  const Laid crowded = Lay(spans);
  EXPECT_EQ(crowded.left_out, 3u);
  EXPECT_EQ(crowded.read.slices.size(), Lanes::kMostLanes);
  EXPECT_EQ(crowded.read.tracks.size(), Lanes::kMostLanes);
  spans.resize(Lanes::kMostLanes);
  EXPECT_EQ(Lay(spans).left_out, 0u);
}

TEST(LanesTest, WhateverComesEverySliceKeepsItsBeginAndItsEnd) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Span> spans;
    for (int i = 0; i < 60; ++i) {
      const auto begin = static_cast<std::int64_t>(1 + random() % 200);
      spans.emplace_back(begin, begin + static_cast<std::int64_t>(random() % 40));
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    const Laid laid = Lay(spans);
    std::vector<Span> back;
    for (const SliceRead& slice : laid.read.slices) {
      back.emplace_back(slice.begin, slice.end);
      EXPECT_EQ(slice.name, std::to_string(slice.begin) + "-" + std::to_string(slice.end));
    }
    EXPECT_THAT(back, UnorderedElementsAreArray(spans)) << "round " << round;
  }
}

}  // namespace
}  // namespace fathom::collector::perfetto
