#include "daemon/agent/capture/stack_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "daemon/agent/capture/thread_doing.h"
#include "tests/daemon/agent/capture/speedscope_fake.h"

namespace fathom::agent {
namespace {

constexpr char kText[] =
    "thread (7): MainThread;<module> (/job/train.py:127);train (/job/train.py:103);"
    "write (/job/a b.py:85) 224\n"
    "thread (7): MainThread;<module> (/job/train.py:127);train (/job/train.py:101) 3\n"
    "thread (9): pt_main_thread;run (/usr/lib/python3.11/threading.py:5) 400\n";

SampledThreads Parsed(const std::string& folded, std::uint32_t thread) {
  return ParseSampled(Speedscope(folded), thread).value();
}

TEST(SampledStacks, AreReadInnermostFirstOfTheThreadAskedFor) {
  const auto stacks = Parsed(kText, 7).training.stacks;
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].samples, 224u);
  ASSERT_EQ(stacks[0].frames.size(), 3u);
  EXPECT_EQ(stacks[0].frames[0], (StackFrame{"write", "/job/a b.py", 85}));
  EXPECT_EQ(stacks[0].frames[2], (StackFrame{"<module>", "/job/train.py", 127}));
}

TEST(SampledStacks, OfAThreadThatIsNotThereAreThoseOfTheMainThread) {
  EXPECT_EQ(Parsed(kText, 8).training.stacks.size(), 2u);
  EXPECT_TRUE(Parsed("thread (9): other;f (a.py:1) 4\n", 8).training.stacks.empty());
}

TEST(SampledStacks, OfOtherThreadsThoseThatAreAskedFor) {
  const std::string text = std::string(kText) + "thread (12): Thread-1;crunch (/job/b.py:7) 380\n";
  EXPECT_TRUE(Parsed(text, 7).beside.stacks.empty());
  const auto threads = ParseSampled(Speedscope(text), 7, {12, 1});
  ASSERT_TRUE(threads.has_value());
  ASSERT_EQ(threads->beside.stacks.size(), 1u);
  EXPECT_EQ(threads->beside.stacks[0].samples, 380u);
  EXPECT_EQ(threads->beside.stacks[0].frames[0], (StackFrame{"crunch", "/job/b.py", 7}));
  EXPECT_EQ(threads->training.stacks.size(), 2u);
}

// As py-spy 0.4 writes it with --subprocesses, of a real job.
constexpr char kProcesses[] =
    "process 7:\"/v/bin/python train.py\";thread (7): MainThread;train (/job/train.py:9) 50\n"
    "process 7:\"/v/bin/python train.py\";process 8:\"/v/bin/python train.py\";"
    "thread (8): MainThread;train (/job/train.py:9);"
    "BaseProcess._bootstrap (/usr/lib/python3.11/multiprocessing/process.py:314);"
    "_worker_loop (/v/site-packages/torch/utils/data/_utils/worker.py:3);read (/job/data.py:4) 90\n"
    "process 7:\"/v/bin/python\";process 8:\"/v/bin/python\";thread (9): QueueFeederThread;"
    "f (/job/q.py:1) 100\n";

TEST(SampledStacks, OfProcessesThatWereStartedAreToldApart) {
  const SampledThreads threads = Parsed(kProcesses, 7);
  ASSERT_EQ(threads.training.stacks.size(), 1u);
  EXPECT_EQ(threads.training.stacks[0].samples, 50u);
  ASSERT_EQ(threads.workers.stacks.size(), 1u);  // its main thread alone
  EXPECT_EQ(threads.workers.stacks[0].samples, 90u);
  // Without the frames of the process that forked it.
  ASSERT_EQ(threads.workers.stacks[0].frames.size(), 2u);
  EXPECT_EQ(threads.workers.stacks[0].frames[0], (StackFrame{"read", "/job/data.py", 4}));
}

TEST(SampledStacks, NativeFramesAreTheUsersWhereTheirLibraryIs) {
  const auto internal = [](const char* function, const char* file) {
    return IsInternal({function, file, 0});
  };
  EXPECT_TRUE(internal("sbrk", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_TRUE(internal("0x7fa88c3ff24a", "/job/spin.so"));
  EXPECT_TRUE(internal("_PyEval_EvalFrameDefault", "/usr/bin/python3.11"));
  EXPECT_TRUE(internal("at::mm", "/v/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"));
  EXPECT_FALSE(internal("burn", "/job/spin.cpython-311-x86_64-linux-gnu.so"));
}

TEST(SampledStacks, AComprehensionIsPartOfItsFunction) {
  const auto stacks = Parsed(
      "thread (7): MainThread;f (/job/a.py:1);f.<locals>.<listcomp>.<locals>.<genexpr> "
      "(/job/a.py:2);"
      "f.<locals>.<lambda> (/job/a.py:3);<listcomp> (/job/a.py:4) 9\n",
      7);
  const auto& frames = stacks.training.stacks.at(0).frames;
  EXPECT_EQ(frames[0].function, "<listcomp>") << "older Pythons do not say whose it is";
  EXPECT_EQ(frames[1].function, "f.<locals>.<lambda>");
  EXPECT_EQ(frames[2], (StackFrame{"f", "/job/a.py", 2}));
}

TEST(SampledStacks, KeepTheirOrder) {
  const auto thread =
      Parsed(
          "thread (7): MainThread;f (a.py:1) 2\nthread (7): MainThread;g (a.py:2) 1\n"
          "thread (9): other;h (a.py:3) 5\nthread (7): MainThread;f (a.py:1) 1\n",
          7)
          .training;
  EXPECT_EQ(thread.order, (std::vector<std::uint32_t>{0, 0, 1, 0}));
  EXPECT_EQ(thread.stacks[0].samples, 3u);
}

TEST(SampledStacks, GarbageIsNotReadAndDoesNoHarm) {
  for (const char* text :
       {"", "{\"$schema\"", "{\"$schema\":1,\"profiles\":[{\"samples\":[[0]]}]}",
        "{\"$schema\":1,\"profiles\":[{\"samples\":[[9999999999]]}]}", "{\"$schema\":[[[[",
        "{\"$schema\":\"\\", "{\"$schema\":\"\\u00", "Error: Permission denied"}) {
    EXPECT_FALSE(ParseSampled(text, 1).has_value()) << text;
  }
  EXPECT_FALSE(ParseSampled("{\"$schema\":" + std::string(100'000, '['), 1).has_value());
}

// Cut anywhere, or with bytes changed: nothing, or something of its shape.
TEST(SampledStacks, WhatIsDamagedDoesNoHarm) {
  const std::string whole = Speedscope(kProcesses);
  ASSERT_TRUE(ParseSampled(whole, 7).has_value());
  std::mt19937 random(5);
  std::size_t read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = round % 2 == 0 ? whole.substr(0, random() % whole.size()) : whole;
    for (std::uint32_t i = random() % 4; i > 0 && !text.empty(); --i) {
      text[random() % text.size()] = "\"[]{},:9\\ x"[random() % 12];
    }
    const auto threads = ParseSampled(text, 7);
    if (!threads) continue;
    ++read;
    for (const std::uint32_t at : threads->training.order) {
      EXPECT_LT(at, threads->training.stacks.size());
    }
  }
  EXPECT_GT(read, 100u);
}

TEST(SampledStacks, OfADeepStackTheInnerFramesAreKept) {
  std::string deep = "thread (1): MainThread";
  for (int i = 0; i < 2000; ++i) deep += ";f (a.py:" + std::to_string(i) + ")";
  const auto stacks = Parsed(deep + " 5\n", 1).training.stacks;
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].frames.size(), kMaxStackFrames);
  EXPECT_EQ(stacks[0].frames[0].line, 1999u);  // the inner ones are those that tell
}

TEST(SampledStacks, LongNamesAreCut) {
  const std::string name(64 * 1024, 'n');
  const auto stacks = Parsed("thread (1): M;" + name + " (" + name + ":3) 5\n", 1).training.stacks;
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_LE(stacks[0].frames[0].function.size(), 200u);
  EXPECT_LE(stacks[0].frames[0].file.size(), 200u);
}

TEST(SampledStacks, WhatIsNobodysOwnIsKnown) {
  const auto internal = [](const char* file) { return IsInternal({"f", file, 1}); };
  EXPECT_TRUE(internal("/v/lib/python3.11/site-packages/torch/nn/modules/module.py"));
  EXPECT_TRUE(internal("/usr/lib/python3.11/threading.py"));
  EXPECT_TRUE(internal("<frozen importlib._bootstrap>"));
  EXPECT_TRUE(internal("/opt/fathom/fathom_site/fathom_python/marks.py"));
  EXPECT_FALSE(internal("/v/lib/python3.11/site-packages/transformers/trainer.py"));
  EXPECT_FALSE(internal("/job/train.py"));
  EXPECT_FALSE(internal("/job/torch/train.py"));
}

// What the patterns say of a line of the user's, against the samples themselves.
using LineSamples = std::map<StackFrame, std::uint64_t>;

LineSamples OfSamples(const std::vector<SampledStack>& stacks) {
  LineSamples sums;
  for (const SampledStack& stack : stacks) {
    std::map<StackFrame, bool> seen;
    for (const StackFrame& frame : stack.frames) seen[frame] = !IsInternal(frame);
    for (const auto& [frame, own] : seen) {
      if (own) sums[frame] += stack.samples;
    }
  }
  return sums;
}

LineSamples OfPatterns(const v1::RankCapture& capture) {
  LineSamples sums;
  for (const auto& pattern : capture.stacks()) {
    std::map<StackFrame, bool> seen;
    for (const std::uint32_t at : pattern.frames()) {
      const auto& frame = capture.frames(static_cast<int>(at));
      seen[{frame.function(), frame.file(), frame.line()}] = !frame.internal();
    }
    for (const auto& [frame, own] : seen) {
      if (own) sums[frame] += pattern.count();
    }
  }
  return sums;
}

std::vector<SampledStack> Drawn(std::mt19937& random, std::size_t stacks, std::uint32_t lines) {
  std::vector<SampledStack> out;
  for (std::size_t i = 0; i < stacks; ++i) {
    SampledStack stack;
    stack.samples = 1 + random() % 40;
    const std::size_t inside = random() % 12;
    for (std::size_t k = 0; k < inside; ++k) {
      const auto line = static_cast<std::uint32_t>(random() % lines);
      stack.frames.push_back(
          {"g" + std::to_string(line % 50), "/v/site-packages/torch/f.py", line});
    }
    for (std::size_t k = 0; k < 1 + random() % 5; ++k) {
      const auto line = static_cast<std::uint32_t>(random() % 9);
      stack.frames.push_back({"f" + std::to_string(line), "/job/train.py", line});
    }
    out.push_back(std::move(stack));
  }
  return out;
}

std::uint64_t SamplesOf(const std::vector<SampledStack>& stacks) {
  return std::accumulate(stacks.begin(), stacks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.samples; });
}

// All samples of each on end.
SampledThread InOrder(std::vector<SampledStack> stacks) {
  SampledThread thread;
  for (std::uint32_t i = 0; i < stacks.size(); ++i) {
    thread.order.insert(thread.order.end(), stacks[i].samples, i);
  }
  thread.stacks = std::move(stacks);
  return thread;
}

TEST(StackPatterns, SayOfEachLineWhatTheSamplesSay) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto stacks = Drawn(random, random() % 30, 40);
    v1::RankCapture out;
    ReduceStacks(InOrder(stacks), kMaxPatternBytes, out);
    EXPECT_EQ(out.left_out(), 0u);
    EXPECT_EQ(out.samples(), SamplesOf(stacks));
    EXPECT_EQ(OfPatterns(out), OfSamples(stacks));
  }
}

TEST(StackPatterns, OfWorkersShareTheFramesAndTheBytes) {
  std::mt19937 random(3);
  const auto training = Drawn(random, 2000, 100'000), workers = Drawn(random, 2000, 100'000);
  v1::RankCapture out;
  ReduceStacks(InOrder(training), kMaxPatternBytes - kWorkerPatternBytes, out);
  const auto samples =
      ReduceOthers(InOrder(workers), kWorkerPatternBytes, out, *out.mutable_worker_stacks());
  EXPECT_LE(out.ByteSizeLong(), kMaxPatternBytes);
  EXPECT_EQ(samples, SamplesOf(workers));
  ASSERT_GT(out.worker_stacks_size(), 0);
  for (const auto& pattern : out.worker_stacks()) {
    for (const std::uint32_t at : pattern.frames()) {
      EXPECT_LT(at, static_cast<std::uint32_t>(out.frames_size()));
    }
  }
}

TEST(StackPatterns, StayWithinTheirBytesAndCountWhatIsLeftOut) {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const auto stacks = Drawn(random, 500 + random() % 3000, 100'000);
    v1::RankCapture out;
    ReduceStacks(InOrder(stacks), kMaxPatternBytes, out);
    EXPECT_LE(out.ByteSizeLong(), kMaxPatternBytes);
    std::uint64_t kept = out.left_out();
    for (const auto& pattern : out.stacks()) kept += pattern.count();
    EXPECT_EQ(kept, SamplesOf(stacks));
    EXPECT_EQ(out.samples(), SamplesOf(stacks));
  }
}

// A profile deeper in PyTorch than there is room for: the user's lines are told in full.
TEST(StackPatterns, WithoutRoomLoseTheFramesInsideFirst) {
  std::vector<SampledStack> stacks;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    SampledStack stack;
    stack.samples = i < 20 ? 50 : 1;
    for (std::uint32_t k = 0; k < 8; ++k) {
      stack.frames.push_back({"inner", "/v/site-packages/torch/nn/f.py", i * 8 + k});
    }
    stack.frames.push_back({"train", "/job/train.py", 40 + i % 3});
    stacks.push_back(std::move(stack));
  }
  v1::RankCapture out;
  ReduceStacks(InOrder(stacks), 200 * 1024, out);
  EXPECT_EQ(out.left_out(), 0u);
  EXPECT_EQ(OfPatterns(out), OfSamples(stacks));
}

// What its pairs say, sample by sample.
std::vector<std::uint32_t> OrderOf(const v1::RankCapture& capture) {
  std::vector<std::uint32_t> order;
  for (int i = 0; i + 1 < capture.order_size(); i += 2) {
    order.insert(order.end(), capture.order(i + 1), capture.order(i));
  }
  return order;
}

TEST(StackPatterns, KeepTheOrderOfTheSamples) {
  std::mt19937 random(4);
  for (int round = 0; round < 500; ++round) {
    SampledThread thread = InOrder(Drawn(random, 1 + random() % 20, 40));
    std::shuffle(thread.order.begin(), thread.order.end(), random);
    v1::RankCapture out;
    ReduceStacks(thread, kMaxPatternBytes, out);
    const std::vector<std::uint32_t> order = OrderOf(out);
    ASSERT_EQ(order.size(), thread.order.size());
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(out.stacks_size()), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_LT(order[i], counts.size());
      ++counts[order[i]];
      const auto& pattern = out.stacks(static_cast<int>(order[i]));
      const StackFrame& inner = thread.stacks[thread.order[i]].frames.front();
      EXPECT_EQ(out.frames(static_cast<int>(pattern.frames(0))).line(), inner.line);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(counts[i], out.stacks(static_cast<int>(i)).count());
    }
  }
}

TEST(StackPatterns, ThinAnOrderThatIsTooLong) {
  SampledThread thread =
      InOrder({{{{"f", "/job/a.py", 1}}, 4000}, {{{"g", "/job/a.py", 2}}, 2000}});
  std::mt19937 random(6);
  std::shuffle(thread.order.begin(), thread.order.end(), random);
  v1::RankCapture out;
  ReduceStacks(thread, kMaxPatternBytes, out);
  EXPECT_LE(out.order_size(), static_cast<int>(kMaxOrderBytes / 2));
  const std::vector<std::uint32_t> order = OrderOf(out);
  EXPECT_NEAR(static_cast<double>(order.size()), 6000, 10);
  EXPECT_NEAR(static_cast<double>(std::count(order.begin(), order.end(), 0u)), 4000, 300);
}

TEST(StackPatterns, WhatFoundNoRoomIsNoneOfTheStacksInTheOrder) {
  std::mt19937 random(2);
  v1::RankCapture out;
  ReduceStacks(InOrder(Drawn(random, 3000, 100'000)), kMaxPatternBytes / 4, out);
  ASSERT_GT(out.left_out(), 0u);
  const std::vector<std::uint32_t> order = OrderOf(out);
  EXPECT_GT(std::count(order.begin(), order.end(), static_cast<std::uint32_t>(out.stacks_size())),
            0);
}

TEST(ThreadDoing, IsToldByTheSystemCall) {
  EXPECT_EQ(DoingOf("running\n"), "running");
  EXPECT_EQ(DoingOf("-1 0x7ffe 0x7f\n"), "running");
  EXPECT_EQ(DoingOf(""), std::nullopt);
  EXPECT_EQ(DoingOf("abc 0x0\n"), std::nullopt);
#ifdef __x86_64__
  EXPECT_EQ(DoingOf("230 0x0 0x0\n"), "sleep");
  EXPECT_EQ(DoingOf("202 0x0 0x0\n"), "lock");
  EXPECT_EQ(DoingOf("0 0x3 0x0\n"), "file");
  EXPECT_EQ(DoingOf("39\n"), "other");
#endif
}

}  // namespace
}  // namespace fathom::agent
