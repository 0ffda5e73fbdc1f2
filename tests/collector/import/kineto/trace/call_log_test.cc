#include "collector/import/kineto/trace/call_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace fathom::collector::kineto {
namespace {

TraceEvent Event(std::string_view name, std::int64_t begin_us, std::int64_t end_us,
                 std::int64_t thread = 1) {
  TraceEvent event;
  event.phase = 'X';
  event.name = name;
  event.begin = 1000 * begin_us;
  event.duration = 1000 * (end_us - begin_us);
  event.thread = thread;
  event.timed = true;
  return event;
}

// "inner<outer" by samples.
std::map<std::string, std::uint64_t> TextOf(const diagnosis::RankStacks& stacks) {
  std::map<std::string, std::uint64_t> out;
  for (const auto& stack : stacks.stacks) {
    std::string text;
    for (const std::uint32_t at : stack.frames) {
      text += (text.empty() ? "" : "<") + stacks.frames[at].function;
    }
    out[text] += stack.samples;
  }
  return out;
}

TEST(FrameOfName, IsReadAsTheProfilerWritesIt) {
  const auto frame = FrameOfName("/job/train.py(85): write_metrics");
  EXPECT_EQ(frame.function, "write_metrics");
  EXPECT_EQ(frame.file, "/job/train.py");
  EXPECT_EQ(frame.line, 85u);
  EXPECT_FALSE(frame.internal);
  EXPECT_FALSE(FrameOfName("train.py(1): <module>").internal);
  EXPECT_FALSE(FrameOfName("transformers/trainer.py(7): step").internal);
  for (const char* name :
       {"torch/nn/modules/module.py(1553): _call_impl", "threading.py(9): wait",
        "multiprocessing/queues.py(5): get", "<built-in function sleep>", "nn.Module: Linear_0",
        "/v/site-packages/numpy/core/a.py(3): f", "/usr/lib/python3.11/copy.py(1): deepcopy",
        "<frozen runpy>(88): _run_code", "aten::mm", "odd(x): f", "(): ", "", "a(9999999999): f"}) {
    EXPECT_TRUE(FrameOfName(name).internal) << name;
  }
}

TEST(CallLog, EachMomentIsOfTheInnermostCall) {
  CallLog log;
  log.AddFunction(Event("train.py(1): train", 0, 100'000));
  log.AddFunction(Event("train.py(85): write", 20'000, 70'000));
  log.AddOp(Event("aten::mm", 80'000, 90'000));
  log.AddFunction(Event("short.py(1): blink", 95'000, 95'010));  // its caller's time
  log.AddFunction(Event("other.py(1): other", 0, 100'000, 2));   // another thread
  const auto stacks = log.Take(1, 0, 200'000'000);
  EXPECT_EQ(stacks.samples, 2000u);
  EXPECT_EQ(stacks.source, "trace");
  EXPECT_EQ(TextOf(stacks), (std::map<std::string, std::uint64_t>{
                                {"train", 400}, {"write<train", 500}, {"aten::mm<train", 100}}));
}

TEST(CallLog, WithoutFunctionsOpsTellAndAreNobodysNot) {
  CallLog log;
  log.AddOp(Event("aten::linalg_svd", 0, 50'000));
  const auto stacks = log.Take(1, 0, 100'000'000);
  EXPECT_EQ(stacks.source, "trace of ops");
  ASSERT_EQ(stacks.frames.size(), 1u);
  EXPECT_FALSE(stacks.frames[0].internal);
}

TEST(CallLog, CountsOnlyWhatLiesInItsSteps) {
  CallLog log;
  log.AddFunction(Event("a.py(1): a", 0, 100'000));
  log.AddFunction(Event("b.py(1): b", 150'000, 300'000));
  EXPECT_EQ(TextOf(log.Take(1, 50'000'000, 200'000'000)),
            (std::map<std::string, std::uint64_t>{{"a", 500}, {"b", 500}}));
  EXPECT_TRUE(CallLog().Take(1, 0, 1'000'000).stacks.empty());
}

// Against looking, at each 100 us, for the call that began last and still runs.
TEST(CallLog, IsWhatLookingAtEachMomentShows) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::int64_t, std::int64_t>> calls;
    CallLog log;
    // Nested: each lies in the one before or begins behind its end.
    std::int64_t at = 0;
    std::vector<std::int64_t> ends;
    while (at < 90) {
      while (!ends.empty() && ends.back() <= at) ends.pop_back();
      const std::int64_t most = ends.empty() ? 100 : ends.back();
      const std::int64_t end = std::min<std::int64_t>(most, at + 1 + random() % 30);
      calls.emplace_back(at, end);
      ends.push_back(end);
      at += static_cast<std::int64_t>(random() % 12);
    }
    std::map<std::string, std::uint64_t> looked;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      log.AddFunction(
          Event("f.py(1): f" + std::to_string(i), 100 * calls[i].first, 100 * calls[i].second));
    }
    for (std::int64_t tick = 0; tick < 100; ++tick) {
      for (std::size_t i = calls.size(); i-- > 0;) {
        if (calls[i].first > tick || calls[i].second <= tick) continue;
        ++looked["f" + std::to_string(i)];
        break;
      }
    }
    std::map<std::string, std::uint64_t> told;
    for (const auto& [text, samples] : TextOf(log.Take(1, 0, 10'000'000))) {
      told[text.substr(0, text.find('<'))] += samples;
    }
    EXPECT_EQ(told, looked) << round;
  }
}

TEST(CallLog, CallsThatAreNotNestedAreCut) {
  CallLog log;
  log.AddFunction(Event("a.py(1): a", 0, 50'000));
  log.AddFunction(Event("b.py(1): b", 40'000, 80'000));  // leaves after the one that it is in
  const auto told = TextOf(log.Take(1, 0, 100'000'000));
  EXPECT_EQ(told, (std::map<std::string, std::uint64_t>{{"a", 400}, {"b<a", 100}}));
}

}  // namespace
}  // namespace fathom::collector::kineto
