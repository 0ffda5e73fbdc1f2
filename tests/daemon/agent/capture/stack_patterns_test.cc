#include "daemon/agent/capture/stack_patterns.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "daemon/agent/capture/thread_doing.h"

namespace fathom::agent {
namespace {

constexpr char kText[] =
    "py-spy> Sampling process 100 times a second for 4 seconds. Press Control-C to exit.\n"
    "thread (7): MainThread;<module> (/job/train.py:127);train (/job/train.py:103);"
    "write (/job/a b.py:85) 224\n"
    "thread (7): MainThread;<module> (/job/train.py:127);train (/job/train.py:101) 3\n"
    "thread (9): pt_main_thread;run (/usr/lib/python3.11/threading.py:5) 400\n"
    "py-spy> Wrote raw flamegraph data to '/dev/stdout'. Samples: 398 Errors: 1\n";

TEST(FoldedStacks, AreReadInnermostFirstOfTheThreadAskedFor) {
  const auto stacks = ParseFolded(kText, 7).training;
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].samples, 224u);
  ASSERT_EQ(stacks[0].frames.size(), 3u);
  EXPECT_EQ(stacks[0].frames[0], (StackFrame{"write", "/job/a b.py", 85}));
  EXPECT_EQ(stacks[0].frames[2], (StackFrame{"<module>", "/job/train.py", 127}));
}

TEST(FoldedStacks, OfAThreadThatIsNotThereAreThoseOfTheMainThread) {
  EXPECT_EQ(ParseFolded(kText, 8).training.size(), 2u);
  EXPECT_TRUE(ParseFolded("thread (9): other;f (a.py:1) 4\n", 8).training.empty());
}

// As py-spy 0.4 writes it with --subprocesses, of a real job.
constexpr char kProcesses[] =
    "process 7:\"/v/bin/python train.py; x\";thread (7): MainThread;train (/job/train.py:9) 50\n"
    "process 7:\"/v/bin/python train.py\";process 8:\"/v/bin/python train.py\";"
    "thread (8): MainThread;train (/job/train.py:9);"
    "BaseProcess._bootstrap (/usr/lib/python3.11/multiprocessing/process.py:314);"
    "_worker_loop (/v/site-packages/torch/utils/data/_utils/worker.py:3);read (/job/data.py:4) 90\n"
    "process 7:\"/v/bin/python\";process 8:\"/v/bin/python\";thread (9): QueueFeederThread;"
    "f (/job/q.py:1) 100\n";

TEST(FoldedStacks, OfProcessesThatWereStartedAreToldApart) {
  const FoldedThreads threads = ParseFolded(kProcesses, 7);
  ASSERT_EQ(threads.training.size(), 1u);
  EXPECT_EQ(threads.training[0].samples, 50u);
  ASSERT_EQ(threads.workers.size(), 1u);  // its main thread alone
  EXPECT_EQ(threads.workers[0].samples, 90u);
  // Without the frames of the process that forked it.
  ASSERT_EQ(threads.workers[0].frames.size(), 2u);
  EXPECT_EQ(threads.workers[0].frames[0], (StackFrame{"read", "/job/data.py", 4}));
}

TEST(FoldedStacks, NativeFramesAreTheUsersWhereTheirLibraryIs) {
  const auto internal = [](const char* function, const char* file) {
    return IsInternal({function, file, 0});
  };
  EXPECT_TRUE(internal("sbrk", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_TRUE(internal("0x7fa88c3ff24a", "/job/spin.so"));
  EXPECT_TRUE(internal("_PyEval_EvalFrameDefault", "/usr/bin/python3.11"));
  EXPECT_TRUE(internal("at::mm", "/v/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so"));
  EXPECT_FALSE(internal("burn", "/job/spin.cpython-311-x86_64-linux-gnu.so"));
}

TEST(FoldedStacks, AComprehensionIsPartOfItsFunction) {
  const auto stacks = ParseFolded(
      "thread (7): MainThread;f (/job/a.py:1);f.<locals>.<listcomp>.<locals>.<genexpr> "
      "(/job/a.py:2);"
      "f.<locals>.<lambda> (/job/a.py:3);<listcomp> (/job/a.py:4) 9\n",
      7);
  const auto& frames = stacks.training.at(0).frames;
  EXPECT_EQ(frames[0].function, "<listcomp>") << "older Pythons do not say whose it is";
  EXPECT_EQ(frames[1].function, "f.<locals>.<lambda>");
  EXPECT_EQ(frames[2], (StackFrame{"f", "/job/a.py", 2}));
}

TEST(FoldedStacks, GarbageGivesNoStackAndNoHarm) {
  for (const char* text :
       {"", ";", "thread (", "thread (1);x", "thread (1): M;f (a.py:9) -4",
        "thread (1): M;f (a.py:99999999999999999999) 2\n", "\0\n;;;; 1", "process ",
        "process 1:\"a\";thread (", "process 1:\"a;thread (1): M;f 3"}) {
    const FoldedThreads threads = ParseFolded(text, 1);
    for (const FoldedStack& stack : threads.training) EXPECT_LE(stack.frames.size(), 4u);
    for (const FoldedStack& stack : threads.workers) EXPECT_LE(stack.frames.size(), 4u);
  }
  std::string deep = "thread (1): MainThread";
  for (int i = 0; i < 2000; ++i) deep += ";f (a.py:" + std::to_string(i) + ")";
  const auto stacks = ParseFolded(deep + " 5\n", 1).training;
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0].frames.size(), kMaxFoldedFrames);
  EXPECT_EQ(stacks[0].frames[0].line, 1999u);  // the inner ones are those that tell
}

TEST(FoldedStacks, LongNamesAreCut) {
  const std::string name(64 * 1024, 'n');
  const auto stacks = ParseFolded("thread (1): M;" + name + " (" + name + ":3) 5\n", 1).training;
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_LE(stacks[0].frames[0].function.size(), 200u);
  EXPECT_LE(stacks[0].frames[0].file.size(), 200u);
}

TEST(FoldedStacks, WhatIsNobodysOwnIsKnown) {
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

LineSamples OfSamples(const std::vector<FoldedStack>& stacks) {
  LineSamples sums;
  for (const FoldedStack& stack : stacks) {
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

std::vector<FoldedStack> Drawn(std::mt19937& random, std::size_t stacks, std::uint32_t lines) {
  std::vector<FoldedStack> out;
  for (std::size_t i = 0; i < stacks; ++i) {
    FoldedStack stack;
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

std::uint64_t SamplesOf(const std::vector<FoldedStack>& stacks) {
  return std::accumulate(stacks.begin(), stacks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& each) { return sum + each.samples; });
}

TEST(StackPatterns, SayOfEachLineWhatTheSamplesSay) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const auto stacks = Drawn(random, random() % 30, 40);
    v1::RankCapture out;
    ReduceStacks(stacks, kMaxPatternBytes, out);
    EXPECT_EQ(out.left_out(), 0u);
    EXPECT_EQ(out.samples(), SamplesOf(stacks));
    EXPECT_EQ(OfPatterns(out), OfSamples(stacks));
  }
}

TEST(StackPatterns, OfWorkersShareTheFramesAndTheBytes) {
  std::mt19937 random(3);
  const auto training = Drawn(random, 2000, 100'000), workers = Drawn(random, 2000, 100'000);
  v1::RankCapture out;
  ReduceStacks(training, kMaxPatternBytes - kWorkerPatternBytes, out);
  ReduceWorkerStacks(workers, kWorkerPatternBytes, out);
  EXPECT_LE(out.ByteSizeLong(), kMaxPatternBytes);
  EXPECT_EQ(out.worker_samples(), SamplesOf(workers));
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
    ReduceStacks(stacks, kMaxPatternBytes, out);
    EXPECT_LE(out.ByteSizeLong(), kMaxPatternBytes);
    std::uint64_t kept = out.left_out();
    for (const auto& pattern : out.stacks()) kept += pattern.count();
    EXPECT_EQ(kept, SamplesOf(stacks));
    EXPECT_EQ(out.samples(), SamplesOf(stacks));
  }
}

// A profile deeper in PyTorch than there is room for: the user's lines are told in full.
TEST(StackPatterns, WithoutRoomLoseTheFramesInsideFirst) {
  std::vector<FoldedStack> stacks;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    FoldedStack stack;
    stack.samples = i < 20 ? 50 : 1;
    for (std::uint32_t k = 0; k < 8; ++k) {
      stack.frames.push_back({"inner", "/v/site-packages/torch/nn/f.py", i * 8 + k});
    }
    stack.frames.push_back({"train", "/job/train.py", 40 + i % 3});
    stacks.push_back(std::move(stack));
  }
  v1::RankCapture out;
  ReduceStacks(stacks, 200 * 1024, out);
  EXPECT_EQ(out.left_out(), 0u);
  EXPECT_EQ(OfPatterns(out), OfSamples(stacks));
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
