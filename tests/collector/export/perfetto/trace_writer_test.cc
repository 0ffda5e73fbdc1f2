// Tracks, slices and flows as bytes of Perfetto's format, read back by Protobuf.
#include "collector/export/perfetto/trace_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/collector/export/perfetto/trace_read.h"

namespace fathom::collector::perfetto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// What `write` leaves in a stream.
std::string Written(const std::function<void(TraceWriter&)>& write) {
  char* bytes = nullptr;
  std::size_t size = 0;
  const auto writer = TraceWriter::Into(open_memstream(&bytes, &size), "memory");
  write(*writer);
  EXPECT_TRUE(writer->Close().ok());
  std::string out(bytes, size);
  std::free(bytes);
  return out;
}

Slice Named(std::string_view name, std::int64_t begin) {
  Slice slice;
  slice.name = name;
  slice.category = "work";
  slice.begin_ns = begin;
  return slice;
}

TEST(TraceWriterTest, ATraceOfNothingIsATrace) {
  const std::string bytes = Written([](TraceWriter&) {});
  EXPECT_EQ(bytes, "");
  const TraceRead read = ReadTrace(bytes);
  EXPECT_THAT(read.wrong, IsEmpty());
  EXPECT_THAT(read.tracks, IsEmpty());
}

TEST(TraceWriterTest, TracksAreProcessesThreadsOrNeither) {
  const TraceRead read = ReadTrace(Written([](TraceWriter& writer) {
    writer.Add({1, 0, "alone", 0, 0});
    writer.Add({~std::uint64_t{0}, 0, "rank 0", 7, 0});
    writer.Add({3, ~std::uint64_t{0}, "main", 7, 7});
    writer.Add({4, 3, "", 0, 0});
  }));
  EXPECT_THAT(read.wrong, IsEmpty());
  EXPECT_THAT(read.tracks, ElementsAre(Pair(1, TrackRead{0, "alone", 0, 0}),
                                       Pair(3, TrackRead{~std::uint64_t{0}, "main", 7, 7}),
                                       Pair(4, TrackRead{3, "", 0, 0}),
                                       Pair(~std::uint64_t{0}, TrackRead{0, "rank 0", 7, 0})));
}

TEST(TraceWriterTest, SlicesNestAndEndWithTheInnermost) {
  const TraceRead read = ReadTrace(Written([](TraceWriter& writer) {
    writer.Add({1, 0, "t", 0, 0});
    writer.Begin(1, Named("outer", 100));
    writer.Begin(1, Named("inner", 150));
    writer.End(1, 200);
    writer.End(1, 300);
    writer.Instant(1, Named("mark", 300));
    EXPECT_EQ(writer.slices(), 2u) << "a mark is no slice";
  }));
  EXPECT_THAT(read.wrong, IsEmpty());
  ASSERT_EQ(read.slices.size(), 2u);
  EXPECT_EQ(read.slices[0].name, "outer");
  EXPECT_EQ(read.slices[0].end, 300);
  EXPECT_EQ(read.slices[1].begin, 150);
  EXPECT_EQ(read.slices[1].end, 200);
  ASSERT_EQ(read.instants.size(), 1u);
  EXPECT_EQ(read.instants[0].name, "mark");
  EXPECT_EQ(read.instants[0].begin, 300);
}

TEST(TraceWriterTest, ANameIsWrittenOnceHoweverOftenItComes) {
  const auto slices = [](int count) {
    return Written([count](TraceWriter& writer) {
      writer.Add({1, 0, "t", 0, 0});
      for (int i = 0; i < count; ++i) {
        Slice slice = Named("a name of some length", 100 + i);
        slice.notes = {{"bytes", "64"}, {"work", "64"}};
        writer.Begin(1, slice);
        writer.End(1, 100 + i);
      }
    });
  };
  EXPECT_EQ(ReadTrace(slices(1)).names, 4u) << "name, category, and two names of notes";
  const TraceRead many = ReadTrace(slices(1000));
  EXPECT_EQ(many.names, 4u);
  EXPECT_THAT(many.wrong, IsEmpty());
  EXPECT_EQ(many.slices.back().name, "a name of some length");
  EXPECT_THAT(many.slices.back().notes, ElementsAre(Pair("bytes", "64"), Pair("work", "64")));
}

// Lengths and numbers at which a varint takes a byte more.
TEST(TraceWriterTest, NamesAndTimesOfAnySizeComeBack) {
  const std::vector<std::string> names = {"",
                                          "\n\"<&\\",
                                          std::string("\0mid\0", 5),
                                          "\xC3\xA9\xF0\x9F\x90\xA2",
                                          std::string(127, 'a'),
                                          std::string(128, 'b'),
                                          std::string(16'383, 'c'),
                                          std::string(16'384, 'd')};
  const std::vector<std::int64_t> times = {
      1, 127, 128, 16'384, std::int64_t{1} << 35, std::int64_t{1} << 62};
  const TraceRead read = ReadTrace(Written([&](TraceWriter& writer) {
    writer.Add({1, 0, "t", 0, 0});
    for (const std::int64_t at : times) {
      for (const std::string& name : names) {
        Slice slice = Named(name, at);
        slice.notes = {{"note", name}};
        writer.Begin(1, slice);
        writer.End(1, at);
      }
    }
  }));
  EXPECT_THAT(read.wrong, IsEmpty());
  ASSERT_EQ(read.slices.size(), names.size() * times.size());
  for (std::size_t i = 0; i < read.slices.size(); ++i) {
    EXPECT_EQ(read.slices[i].name, names[i % names.size()]) << i;
    EXPECT_THAT(read.slices[i].notes, ElementsAre(Pair("note", names[i % names.size()]))) << i;
    EXPECT_EQ(read.slices[i].begin, times[i / names.size()]) << i;
  }
}

TEST(TraceWriterTest, AFlowGoesOnUntilTheSliceThatEndsIt) {
  const std::uint64_t flow = 0x8000'0000'0000'0001;
  const TraceRead read = ReadTrace(Written([flow](TraceWriter& writer) {
    writer.Add({1, 0, "t", 0, 0});
    for (int i = 0; i < 3; ++i) {
      Slice slice = Named("op", 100 + i);
      slice.flow = i < 2 ? flow : 0;
      slice.flow_ends = i == 1;
      writer.Begin(1, slice);
      writer.End(1, 100 + i);
    }
  }));
  ASSERT_EQ(read.slices.size(), 3u);
  EXPECT_THAT(read.slices[0].flows, ElementsAre(flow));
  EXPECT_THAT(read.slices[0].ended_flows, IsEmpty());
  EXPECT_THAT(read.slices[1].flows, IsEmpty());
  EXPECT_THAT(read.slices[1].ended_flows, ElementsAre(flow));
  EXPECT_THAT(read.slices[2].flows, IsEmpty());
  EXPECT_THAT(read.slices[2].ended_flows, IsEmpty());
}

TEST(TraceWriterTest, AFileThatCannotBeMadeOrFilledIsNamed) {
  const auto nowhere = TraceWriter::Create("/proc/no/trace");
  ASSERT_TRUE(absl::IsUnavailable(nowhere.status()));
  EXPECT_THAT(std::string(nowhere.status().message()), HasSubstr("/proc/no/trace"));
  const auto full = TraceWriter::Create("/dev/full");
  ASSERT_TRUE(full.ok()) << full.status();
  (*full)->Add({1, 0, "t", 0, 0});
  const absl::Status closed = (*full)->Close();
  EXPECT_TRUE(absl::IsUnavailable(closed)) << closed;
  EXPECT_THAT(std::string(closed.message()), HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace fathom::collector::perfetto
