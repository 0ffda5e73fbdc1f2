#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "daemon/agent/source/stack/stack_sampler.h"
#include "daemon/agent/source/stack/stack_text.h"
#include "daemon/agent/source/stack/stack_tool.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDump[] = R"(Process 4711: python train.py
Python v3.11.2 (/usr/bin/python3.11)

Thread 4711 (active): "MainThread"
    wait_for_flag (faults.py:101)
    main (ddp.py:49)
Thread 4720 (idle): "Thread-1"
    run (threading.py:975)
)";

TEST(StackTextTest, TakesTheTrainingThread) {
  EXPECT_THAT(ParseStack(kDump, 4711),
              ElementsAre("wait_for_flag (faults.py:101)", "main (ddp.py:49)"));
  EXPECT_THAT(ParseStack(kDump, 4720), ElementsAre("run (threading.py:975)"));
  EXPECT_THAT(ParseStack(kDump, 1),
              ElementsAre("wait_for_flag (faults.py:101)", "main (ddp.py:49)"))
      << "in another pid namespace the ids differ";
}

TEST(StackTextTest, BoundsAndCleansWhatTheProcessNames) {
  EXPECT_THAT(ParseStack("", 1), IsEmpty());
  std::string text = "Thread 1 (active): \"MainThread\"\n    \x1b[31m";
  text.append(5000, 'x');
  text += '\n';
  for (int i = 0; i < 500; ++i) text += "    f (a.py:1)\n";
  const auto frames = ParseStack(text, 1);
  ASSERT_EQ(frames.size(), kMaxFrames);
  EXPECT_EQ(frames[0].size(), kMaxFrameBytes);
  EXPECT_EQ(frames[0][0], '?');
}

TEST(StackTextTest, SaysWhichSettingAllowsIt) {
  EXPECT_THAT(ExplainStackError("Error: Permission Denied: Try running again"),
              HasSubstr("ptrace_scope"));
}

template <typename Condition>
bool Soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return condition();
}

std::uint32_t Samples(const StackSampler& sampler) {
  const auto seen = sampler.Latest("r");
  return seen ? seen->samples : 0;
}

TEST(StackTextTest, AFunctionIsAFrameWithoutItsLine) {
  EXPECT_EQ(FunctionOf("wait (faults.py:101)"), "wait (faults.py)");
  EXPECT_EQ(FunctionOf("c10d::wait (libtorch.so)"), "c10d::wait (libtorch.so)");
}

TEST(StackSamplerTest, CountsTheFunctionsOfASilenceAndForgetsThem) {
  std::atomic<int> calls{0};
  StackSampler sampler([&](std::uint32_t, const std::atomic<bool>&) {
    const std::string name = calls.fetch_add(1) == 2 ? "g" : "f";
    return StackReading{{name + " (a.py:" + std::to_string(calls.load()) + ")"}, "py-spy", {}};
  });
  for (std::uint32_t i = 0; i < 3; ++i) {
    sampler.Want("r", 7, {3}, i * StackSampler::kEveryNs);
    sampler.Want("r", 7, {3}, i * StackSampler::kEveryNs + 1);  // too soon
    ASSERT_TRUE(Soon([&] { return Samples(sampler) == i + 1; }));
  }
  EXPECT_EQ(sampler.Latest("r")->functions, 2u) << "another line of a function is the same one";
  sampler.Want("r", 7, {3}, 9 * StackSampler::kEveryNs);
  EXPECT_EQ(calls.load(), 3) << "no more than asked for";
  sampler.Forget("r");
  EXPECT_FALSE(sampler.Latest("r").has_value());
}

TEST(StackSamplerTest, FramesOfTheCLibraryTellNothingOfWorkAndAFailureKeepsTheStackBefore) {
  std::atomic<int> calls{0};
  StackSampler sampler(
      [&](std::uint32_t, const std::atomic<bool>&) -> absl::StatusOr<StackReading> {
        if (calls.fetch_add(1) == 1) return absl::NotFoundError("the process is gone\n");
        return StackReading{{"f (libc.so.6)"}, "native", Nanos(90'000)};
      });
  sampler.Want("r", 7, {9}, 0);
  ASSERT_TRUE(Soon([&] { return Samples(sampler) == 1; }));
  EXPECT_EQ(sampler.Latest("r")->functions, 0u);
  sampler.Want("r", 7, {9}, StackSampler::kEveryNs);
  ASSERT_TRUE(Soon([&] { return !sampler.Latest("r")->error.empty(); }));
  EXPECT_EQ(sampler.Latest("r")->error, "the process is gone?");
  EXPECT_THAT(sampler.Latest("r")->newest.frames, ElementsAre("f (libc.so.6)"));
}

TEST(StackSamplerTest, ALibraryThatGoesThroughFunctionsWorks) {
  std::atomic<int> calls{0};
  StackSampler sampler([&](std::uint32_t, const std::atomic<bool>&) {
    const std::string kernel = "kernel" + std::to_string(calls.fetch_add(1)) + " (libtorch_cpu.so)";
    return StackReading{{"? (libtorch_cpu.so)", kernel, "? (python3.11)"}, "native", Nanos(90'000)};
  });
  for (std::uint32_t i = 0; i < 3; ++i) {
    sampler.Want("r", 7, {9}, i * StackSampler::kEveryNs);
    ASSERT_TRUE(Soon([&] { return Samples(sampler) == i + 1; }));
  }
  EXPECT_EQ(sampler.Latest("r")->functions, 3u);
}

TEST(LibraryFunctionTest, IsTheInnermostThatHasANameBeforeTheInterpreter) {
  using Frames = std::vector<std::string>;
  EXPECT_EQ(LibraryFunction(Frames{"__memmove (libc.so.6)", "copy (libtorch_cpu.so)"}),
            "copy (libtorch_cpu.so)");
  EXPECT_EQ(LibraryFunction(Frames{"? (a.so)", "f(int (*)(int)) (a.so)"}),
            "f(int (*)(int)) (a.so)");
  for (const Frames& none :
       {Frames{}, Frames{"_PyEval_EvalFrameDefault (python3.11)", "f (a.so)"},
        Frames{"PyDict_New (libpython3.11.so.1.0)", "f (a.so)"}, Frames{"wait4 (libc.so.6)"},
        Frames{"? (a.so)"}, Frames{"no file"}, Frames{"clock_gettime ([vdso])"}}) {
    EXPECT_EQ(LibraryFunction(none), "");
  }
}

TEST(StackSamplerTest, OnlyTheLastSamplesTellWhetherItMoves) {
  std::atomic<int> calls{0};
  StackSampler sampler([&](std::uint32_t, const std::atomic<bool>&) {
    const int call = calls.fetch_add(1);
    return StackReading{{(call < 3 ? std::to_string(call) : "stuck") + " (a.py:1)"}, "py-spy", {}};
  });
  for (std::uint32_t i = 0; i < 3 + StackSampler::kRecent; ++i) {
    sampler.Want("r", 7, {99}, i * StackSampler::kEveryNs);
    ASSERT_TRUE(Soon([&] { return Samples(sampler) == i + 1; }));
    if (i < 3) {
      EXPECT_EQ(sampler.Latest("r")->functions, i + 1);
    }
  }
  EXPECT_EQ(sampler.Latest("r")->functions, 1u);
}

TEST(StackSamplerTest, AfterThePlanItLooksNowAndThen) {
  std::atomic<int> calls{0};
  StackSampler sampler([&](std::uint32_t, const std::atomic<bool>&) {
    ++calls;
    return StackReading{{"f (a.py:1)"}, "py-spy", {}};
  });
  constexpr SamplePlan kPlan{1, 60'000'000'000};
  sampler.Want("r", 7, kPlan, 1);
  ASSERT_TRUE(Soon([&] { return Samples(sampler) == 1; }));
  sampler.Want("r", 7, kPlan, 1 + StackSampler::kEveryNs);
  sampler.Want("r", 7, kPlan, 60'000'000'001);
  ASSERT_TRUE(Soon([&] { return Samples(sampler) == 2; }));
  EXPECT_EQ(calls.load(), 2);
}

TEST(StackSamplerTest, APauseThatWasTooLongIsTheLast) {
  std::atomic<int> calls{0};
  StackSampler sampler([&](std::uint32_t, const std::atomic<bool>&) {
    return StackReading{
        {"f (libc.so.6)"}, "native", calls.fetch_add(1) == 0 ? Nanos(90'000) : Nanos(51'000'000)};
  });
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(!sampler.Latest("r") || !sampler.Latest("r")->given_up);
    sampler.Want("r", 7, {9}, i * StackSampler::kEveryNs);
    ASSERT_TRUE(Soon([&] { return Samples(sampler) == i + 1; }));
  }
  EXPECT_TRUE(sampler.Latest("r")->given_up);
  EXPECT_EQ(sampler.Latest("r")->longest_pause, Nanos(51'000'000));
  sampler.Want("r", 7, {9}, 9 * StackSampler::kEveryNs);
  sampler.Want("s", 8, {9}, 9 * StackSampler::kEveryNs);  // done after any of r
  ASSERT_TRUE(Soon([&] { return sampler.Latest("s").has_value(); }));
  EXPECT_EQ(Samples(sampler), 2u);
}

TEST(StackToolTest, GivesWhatTheProgramPrintsOrWhyItFailed) {
  fakes::RingFolder folder;
  const std::string program = folder.path() + "/py-spy";
  std::ofstream(program) << "#!/bin/sh\necho \"$@\"\n[ $4 = 7 ] || { echo denied >&2; exit 1; }\n";
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  const std::atomic<bool> stop{false};
  EXPECT_EQ(*DumpPythonStack(program, 7, stop), "dump --nonblocking --pid 7\n");
  EXPECT_THAT(std::string(DumpPythonStack(program, 8, stop).status().message()),
              HasSubstr("denied"));
}

TEST(StackToolTest, AStopEndsAProgramThatHangs) {
  fakes::RingFolder folder;
  const std::string program = folder.path() + "/py-spy";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 1000\n";
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  const std::atomic<bool> stop{true};
  EXPECT_TRUE(absl::IsDeadlineExceeded(DumpPythonStack(program, 7, stop).status()));
}

}  // namespace
}  // namespace fathom::agent
