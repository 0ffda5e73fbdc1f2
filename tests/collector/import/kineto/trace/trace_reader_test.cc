#include "collector/import/kineto/trace/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/import/kineto/trace/event_parser.h"
#include "tests/collector/import/kineto/trace_text.h"

namespace fathom::collector::kineto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Listener final : public TraceSink {
 public:
  bool WantsArgs(const TraceEvent& event) override { return event.name == "comm"; }
  void OnEvent(const TraceEvent& event, const EventArgs& args) override {
    seen.push_back(absl::StrCat(std::string(1, event.phase), "|", std::string(event.category), "|",
                                std::string(event.name), "|", event.begin, "|", event.duration, "|",
                                event.thread, "|", args.input_elements));
  }
  std::vector<std::string> seen;
};

struct Heard {
  std::vector<std::string> events;
  ReadSummary summary;
};

Heard Hear(const std::string& text, std::size_t chunk = kChunkBytes) {
  Listener listener;
  auto summary = ReadTrace(SourceOf(text), listener, chunk);
  EXPECT_TRUE(summary.ok()) << summary.status();
  return {listener.seen, summary.ok() ? *std::move(summary) : ReadSummary{}};
}

std::vector<std::string> ManyEvents() {
  std::vector<std::string> events;
  for (int i = 0; i < 200; ++i) {
    events.push_back(
        Event("cpu_op", absl::StrCat("op", i, R"( }, {\"ph\": \"X)"), 1, i * 10, 5,
              R"("Input Dims": [[2, 3]], "text": "}, {", "list": [{"a": 1}, {"b": 2}])"));
    events.push_back(
        Event("cpu_op", "comm", 2, i * 10 + 0.125, 5, R"("Input Dims": [[[2, 3, 4]], []])"));
  }
  return events;
}

TEST(TraceReader, ReadsTimesExactly) {
  const Heard heard = Hear(Trace(Header(3, 4), {R"({"ph": "X", "cat": "c", "name": "n", "tid": 5,
      "ts": 4389833215042.254, "dur": 57036.993})"}));
  EXPECT_THAT(heard.events, ElementsAre("X|c|n|4389833215042254|57036993|5|-1"));
  EXPECT_EQ(heard.summary.header.base_ns, 1700000000000000000);
  EXPECT_EQ(heard.summary.header.rank, 3);
  EXPECT_EQ(heard.summary.header.world_size, 4);
  ASSERT_EQ(heard.summary.header.groups.size(), 1);
  EXPECT_EQ(heard.summary.header.groups[0].ranks.size(), 4);
  EXPECT_FALSE(heard.summary.truncated);
}

TEST(TraceReader, GivesTheSameForEveryChunkSize) {
  const std::string text = Trace(Header(0, 2), ManyEvents());
  const Heard whole = Hear(text);
  EXPECT_EQ(whole.events.size(), 400);
  EXPECT_EQ(whole.summary.skipped, 0);
  for (const std::size_t chunk : {64U, 257U, 1000U, 4096U, 30000U}) {
    const Heard parts = Hear(text, chunk);
    EXPECT_EQ(parts.events, whole.events) << chunk;
    EXPECT_EQ(parts.summary.skipped, 0) << chunk;
    EXPECT_FALSE(parts.summary.truncated) << chunk;
  }
}

// Of hundreds of small traces, whole chunks would cost more than what is in them.
TEST(TraceReader, AsksForNoMoreThanTwiceWhatItHolds) {
  std::vector<std::string> events;
  while (events.size() < 3 * 400) {
    for (std::string& event : ManyEvents()) events.push_back(std::move(event));
  }
  const std::string text = Trace(Header(0, 1), events);
  ASSERT_GT(text.size(), std::size_t{150'000});
  ASSERT_LT(text.size(), kChunkBytes);
  const ByteSource source = SourceOf(text);
  std::size_t held = 0;
  Listener listener;
  const auto summary = ReadTrace(
      [&](char* to, std::size_t size) {
        EXPECT_LE(size, std::max<std::size_t>(65536, held + 64)) << held;
        const auto got = source(to, size);
        held += got.value_or(0);
        return got;
      },
      listener);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(listener.seen, Hear(text, 100).events);
  EXPECT_EQ(listener.seen.size(), events.size());
}

TEST(TraceReader, ReadsEventsWhoseKeysWereSorted) {
  std::vector<std::string> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back(
        absl::StrCat(R"({"args":{"Input Dims":[[7]]},"cat":"c","dur":1,"name":"comm",)",
                     R"("ph":"X","tid":1,"ts":)", i, "}"));
  }
  const Heard heard = Hear(
      absl::StrCat(R"({"baseTimeNanoseconds":5,"traceEvents":[)", absl::StrJoin(events, ","), "]}"),
      128);
  ASSERT_EQ(heard.events.size(), 20);
  EXPECT_EQ(heard.events[19], "X|c|comm|19000|1000|1|7");
}

// Kineto names processes and threads first, with another first key than events have.
TEST(TraceReader, NeedsNoMoreMemoryWhereNamesComeFirst) {
  const std::string head =
      R"({"traceEvents": [{"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "p"}})";
  const std::string event = ",\n" + Event("kernel", "gemm", 7, 1, 1, std::string(2000, ' '));
  std::size_t left = 5 * kLargestPiece / 2 / event.size();
  std::string part = head;
  const ByteSource source = [&](char* to, std::size_t size) -> absl::StatusOr<std::size_t> {
    if (part.empty() && left > 0) part = --left > 0 ? event : "]}";
    const std::size_t count = std::min(size, part.size());
    part.copy(to, count);
    part.erase(0, count);
    return count;
  };
  class Counter final : public TraceSink {
    bool WantsArgs(const TraceEvent&) override { return false; }
    void OnEvent(const TraceEvent&, const EventArgs&) override {}
  } counter;
  const std::size_t events = left;
  const auto summary = ReadTrace(source, counter);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->events, events);
}

// As Kineto printed every kernel of a group without a description.
TEST(TraceReader, TakesAMissingValueForNone) {
  auto events = ManyEvents();
  for (std::size_t i = 1; i < events.size(); i += 2) {
    events[i] = Event("cpu_op", "comm", 2, 1, 5,
                      R"("Process Group Description": , "Input Dims": [[2, 3]])");
  }
  for (const std::size_t chunk : {512U, 30000U, 1U << 20}) {
    const Heard heard = Hear(Trace(R"("pg_desc": , "host_name": "n1")", events), chunk);
    EXPECT_EQ(heard.summary.skipped, 0) << chunk;
    EXPECT_EQ(heard.summary.header.host, "n1");
    ASSERT_EQ(heard.events.size(), 400) << chunk;
    EXPECT_EQ(heard.events[399], "X|cpu_op|comm|1000|5000|2|6");
  }
}

TEST(TraceReader, SkipsHowEverManyEventsAreBroken) {
  auto events = ManyEvents();
  for (std::size_t i = 0; i < events.size(); i += 2) events[i] = R"({"ph": "X", "name": "a" "b"})";
  const Heard heard = Hear(Trace(Header(0, 2), events));
  EXPECT_EQ(heard.summary.skipped, 200);
  EXPECT_EQ(heard.events.size(), 200);
}

TEST(TraceReader, ReadsThreadsPrintedAsText) {
  const Heard heard = Hear(Trace(
      "", {R"({"ph": "X", "cat": "c", "name": "n", "tid": "25166", "ts": 1, "dur": 2})",
           R"({"ph": "X", "cat": "Kernel", "name": "k", "tid": "stream 16", "ts": 1, "dur": 2})",
           R"({"ph": "X", "cat": "c", "name": "n", "tid": "7 dwarfs", "ts": 1, "dur": 2})"}));
  EXPECT_THAT(heard.events, ElementsAre("X|c|n|1000|2000|25166|-1", "X|Kernel|k|1000|2000|16|-1",
                                        "X|c|n|1000|2000|-1|-1"));
}

TEST(TraceReader, ReadsABareListOfEvents) {
  const Heard heard = Hear("[" + Event("c", "a", 1, 1, 1) + "," + Event("c", "b", 1, 2, 1) + "]");
  EXPECT_EQ(heard.events.size(), 2);
  EXPECT_EQ(heard.summary.header.base_ns, 0);
  EXPECT_FALSE(heard.summary.truncated);
}

// What the sink decides by comes after the args, or between two of them, or not at all.
TEST(TraceReader, FindsArgsWhereverTheyStand) {
  const Heard heard = Hear(Trace(
      "", {R"({"ph": "X", "args": {"Input Dims": [[7]]}, "cat": "c", "name": "comm", "ts": 1})",
           R"({"args": {"Input Dims": [[8]]}, "name": "comm", "ph": "X", "cat": "c", "ts": 2})",
           R"({"ph": "X", "cat": "c", "name": "comm", "args": null, "ts": 3})",
           R"({"ph": "X", "cat": "c", "name": "comm", "args": "[[9]]", "ts": 4})",
           R"({"ph": "X", "name": "comm", "args": {"Input Dims": [[10]]}, "ts": 5})",
           R"({"ph": "X", "cat": "c", "name": "other", "args": {"Input Dims": [[11]]}, "ts": 6})",
           R"({"ph": "X", "cat": "c", "name": "comm", "args": {"x": {"Input Dims": [[12]]},
               "Input Dims"  :  [[13]], "Input Dims ": [[14]], "nput Dims": [[15]]}, "ts": 7})"}));
  EXPECT_EQ(heard.summary.skipped, 0);
  EXPECT_THAT(heard.events,
              ElementsAre("X|c|comm|1000|0|-1|7", "X|c|comm|2000|0|-1|8", "X|c|comm|3000|0|-1|-1",
                          "X|c|comm|4000|0|-1|-1", "X||comm|5000|0|-1|10", "X|c|other|6000|0|-1|-1",
                          "X|c|comm|7000|0|-1|13"));
}

TEST(TraceReader, KeepsNothingOfTheEventBefore) {
  const Heard heard =
      Hear(Trace("", {R"({"ph": "X", "cat": "c", "name": "comm", "tid": 3, "ts": 1, "dur": 2,
               "args": {"Input Dims": [[7]]}})",
                      R"({"ph": "X", "cat": "c", "name": "comm", "ts": 3})", R"({"ts": 4})"}));
  EXPECT_THAT(heard.events, ElementsAre("X|c|comm|1000|2000|3|7", "X|c|comm|3000|0|-1|-1",
                                        std::string(1, '\0') + "|||4000|0|-1|-1"));
}

TEST(TraceReader, ReadsAHeaderThatFollowsTheEvents) {
  const std::string text = absl::StrCat("\xEF\xBB\xBF{\"traceEvents\": [", Event("c", "a", 1, 1, 1),
                                        ", ", Event("c", "b", 1, 2, 1), "], ", Header(2, 3), "}");
  const Heard heard = Hear(text);
  EXPECT_EQ(heard.events.size(), 2);
  EXPECT_EQ(heard.summary.header.rank, 2);
  EXPECT_EQ(heard.summary.header.base_ns, 1700000000000000000);
}

TEST(TraceReader, ReadsWordsWhereNumbersAreExpected) {
  const Heard heard = Hear(Trace("", {R"x({"ph": "X", "cat": "Trace", "ts": 1, "dur": 2,
      "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler"})x"}));
  EXPECT_THAT(heard.events, ElementsAre("X|Trace|PyTorch Profiler (0)|1000|2000|-1|-1"));
}

TEST(TraceReader, KeepsTheWholeEventsOfACutFile) {
  const std::string text = Trace(Header(0, 2), ManyEvents());
  const Heard whole = Hear(text);
  std::size_t before = 0;
  for (std::size_t cut = 600; cut + 40 < text.size(); cut += 997) {
    const Heard part = Hear(text.substr(0, cut), 4096);
    EXPECT_TRUE(part.summary.truncated) << cut;
    EXPECT_GE(part.events.size(), before);
    EXPECT_TRUE(std::equal(part.events.begin(), part.events.end(), whole.events.begin())) << cut;
    before = part.events.size();
  }
  EXPECT_GT(before, 390);
}

TEST(TraceReader, SkipsABrokenEventAndCountsIt) {
  auto events = ManyEvents();
  events[50] = R"({"ph": "X", "cat": nonsense nonsense, "name"})";
  events[51] = R"({"ph": "X", "name": "left" "right"})";
  for (const std::size_t chunk : {512U, 1U << 20}) {
    const Heard heard = Hear(Trace(Header(0, 2), events), chunk);
    EXPECT_GE(heard.summary.skipped, 1);
    EXPECT_LE(heard.summary.skipped, 2);
    EXPECT_EQ(heard.events.size(), 398) << chunk;
    EXPECT_FALSE(heard.summary.truncated);
    EXPECT_GT(heard.summary.first_skipped_at, 1000);
  }
}

TEST(TraceReader, ReplacesBytesThatAreNoText) {
  auto events = ManyEvents();
  events[3] = Event("cpu_op", "bad\xff\xfename", 1, 1, 1);
  const Heard heard = Hear(Trace(Header(0, 2), events));
  ASSERT_EQ(heard.events.size(), 400);
  EXPECT_EQ(heard.events[3], "X|cpu_op|bad??name|1000|1000|1|-1");
}

TEST(TraceReader, ReadsAnEmptyTrace) {
  EXPECT_THAT(Hear(R"({"schemaVersion": 1, "traceEvents": []})").events, IsEmpty());
  EXPECT_THAT(Hear(R"({"schemaVersion": 1, "traceEvents": [)").events, IsEmpty());
}

TEST(TraceReader, RefusesWhatIsNoTrace) {
  Listener listener;
  for (const std::string text :
       {"", "{}", "not json", R"({"traceEvents": {}})", R"({"a": "\"traceEvents\": ["})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadTrace(SourceOf(text), listener).status())) << text;
  }
}

TEST(TraceReader, PassesOnAnErrorOfTheSource) {
  Listener listener;
  const ByteSource broken = [](char*, std::size_t) -> absl::StatusOr<std::size_t> {
    return absl::PermissionDeniedError("no");
  };
  EXPECT_TRUE(absl::IsPermissionDenied(ReadTrace(broken, listener).status()));
}

TEST(TraceReader, TakesACutArchiveForACutFile) {
  Listener listener;
  const std::string text = Trace(Header(0, 2), ManyEvents()).substr(0, 20000);
  auto inner = SourceOf(text);
  const ByteSource cut = [&](char* to, std::size_t size) -> absl::StatusOr<std::size_t> {
    auto got = inner(to, size);
    if (*got == 0) return absl::DataLossError("cut");
    return got;
  };
  const auto summary = ReadTrace(cut, listener);
  ASSERT_TRUE(summary.ok());
  EXPECT_TRUE(summary->truncated);
  EXPECT_GT(listener.seen.size(), 50);
}

TEST(ParseMicroseconds, KeepsEveryNanosecond) {
  const auto ns = [](std::string_view text) {
    std::int64_t value = -77;
    return ParseMicroseconds(text, value) ? value : -77;
  };
  EXPECT_EQ(ns("1790857026000000"), 1790857026000000000);
  EXPECT_EQ(ns("12.5"), 12500);
  EXPECT_EQ(ns("12.3456789"), 12345);
  EXPECT_EQ(ns("-3.25"), -3250);
  EXPECT_EQ(ns("-0.5"), -500);
  EXPECT_EQ(ns("\"17\""), 17000);
  EXPECT_EQ(ns("999999999999999.999"), 999999999999999999);
  EXPECT_EQ(ns("9223372036854775.807"), 9223372036854775807);
  EXPECT_EQ(ns("9223372036854775.808"), -77);
  EXPECT_EQ(ns("0000000000000000000012.5"), 12500);
  EXPECT_EQ(ns("\"17\"  "), 17000);
  EXPECT_EQ(ns("+5"), -77);
  EXPECT_EQ(ns(".5"), -77);
  EXPECT_EQ(ns("1.79e3"), 1790000);
  EXPECT_EQ(ns("nan"), -77);
  EXPECT_EQ(ns("1e300"), -77);
  EXPECT_EQ(ns("99999999999999999999"), -77);
  EXPECT_EQ(ns(""), -77);
}

}  // namespace
}  // namespace fathom::collector::kineto
