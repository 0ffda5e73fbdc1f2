#include "collector/import/kineto/kineto_importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/collector/import/kineto/trace_text.h"

namespace fathom::collector::kineto {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KinetoImporterTest : public ::testing::Test {
 protected:
  KinetoImporterTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~KinetoImporterTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    paths_.push_back((folder_ / name).string());
    std::ofstream(paths_.back(), std::ios::binary) << text;
  }

  absl::Status Read() { return KinetoImporter().Read(paths_, limits_, recording_); }

  std::filesystem::path folder_;
  std::vector<std::string> paths_;
  ImportLimits limits_;
  Recording recording_;
};

// Three steps of 10 ms, each with work and one synchronous all-reduce that ends at its 9th ms.
std::vector<std::string> ThreeSteps(double arrives_ms = 2, int first = 0) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    const double at = 10'000.0 * i;
    events.push_back(Step(first + i, at, 10'000));
    events.push_back(Event("cpu_op", "aten::mm", 1, at + 100, arrives_ms * 1000 - 200));
    for (auto& event : GlooAllReduce(at + arrives_ms * 1000, at + 9000, false)) {
      events.push_back(event);
    }
  }
  return events;
}

TEST_F(KinetoImporterTest, FillsTheView) {
  Write("rank0.json", Trace(Header(0, 2), ThreeSteps(2)));
  Write("rank1.json", Trace(Header(1, 2), ThreeSteps(6)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, IsEmpty());
  EXPECT_THAT(recording_.ranks_missing, IsEmpty());
  EXPECT_EQ(recording_.view.world_size, 2);
  ASSERT_EQ(recording_.view.groups.size(), 1);
  EXPECT_EQ(recording_.view.groups[0].name, "0");
  EXPECT_FALSE(recording_.view.groups[0].guessed);
  ASSERT_EQ(recording_.view.window.size(), 3);
  const auto& second = recording_.view.window[1];
  EXPECT_EQ(second.index, Iteration(1));
  ASSERT_EQ(second.ranks.size(), 2);
  // From the end of one all-reduce to the end of the next.
  EXPECT_EQ(second.ranks[0].duration, Nanos(10'000'000));
  EXPECT_EQ(second.ranks[0].cpu, Nanos(1'801'000));
  EXPECT_EQ(second.ranks[0].blocked, Nanos(6'999'000));
  EXPECT_EQ(second.ranks[1].blocked, Nanos(2'999'000));
  ASSERT_EQ(second.ranks[0].groups.size(), 1);
  EXPECT_EQ(second.ranks[0].groups[0].elapsed, Nanos(7'000'000));
  EXPECT_EQ(second.ranks[1].groups[0].elapsed, Nanos(3'000'000));
  const auto& ops = recording_.view.rows.at(RankId(1)).ops;
  ASSERT_EQ(ops.size(), 3);
  EXPECT_EQ(ops[1].sequence, recording_.view.rows.at(RankId(0)).ops[1].sequence);
  EXPECT_EQ(ops[1].enter.ns, 1700000000016000000);
  EXPECT_EQ(ops[1].bytes, 400);
  EXPECT_EQ(recording_.view.signals.front().level, diagnosis::SignalState::Level::kOn);
}

TEST_F(KinetoImporterTest, SaysWhichRanksAreMissing) {
  Write("rank2.json", Trace(Header(2, 4), ThreeSteps()));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.ranks_missing, ElementsAre(RankId(0), RankId(1), RankId(3)));
  EXPECT_EQ(recording_.view.signals.front().level, diagnosis::SignalState::Level::kPartly);
}

TEST_F(KinetoImporterTest, LeavesOutASecondTraceOfARank) {
  Write("a.json", Trace(Header(0, 2), ThreeSteps()));
  Write("b.json", Trace(Header(0, 2), ThreeSteps()));
  Write("c.json", Trace(Header(1, 2), ThreeSteps()));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("second trace of rank 0")));
  EXPECT_EQ(recording_.view.rows.size(), 2);
}

TEST_F(KinetoImporterTest, LeavesOutATraceOfAnotherJob) {
  Write("a.json", Trace(Header(0, 2), ThreeSteps()));
  Write("b.json", Trace(Header(1, 2), ThreeSteps()));
  Write("c.json", Trace(Header(7, 8), ThreeSteps()));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("belongs to a job of 8 ranks")));
  EXPECT_EQ(recording_.view.world_size, 2);
}

TEST_F(KinetoImporterTest, GoesOnWithoutABrokenFile) {
  Write("rank0.json", Trace(Header(0, 2), ThreeSteps()));
  Write("rank1.json", "{\"schemaVersion\": 1}");
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("rank1.json: left out: no \"traceEvents\"")));
  EXPECT_THAT(recording_.ranks_missing, ElementsAre(RankId(1)));
}

TEST_F(KinetoImporterTest, FailsWhereNothingCanBeRead) {
  Write("rank0.json", "{}");
  EXPECT_TRUE(absl::IsInvalidArgument(Read()));
}

TEST_F(KinetoImporterTest, ReadsACutTraceAndSaysSo) {
  const std::string text = Trace(Header(0, 1), ThreeSteps());
  Write("rank0.json", text.substr(0, text.size() - 600));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, testing::Contains(HasSubstr("ends early")));
  EXPECT_GE(recording_.view.window.size(), 2);
}

TEST_F(KinetoImporterTest, SaysWhenClocksAreApartAndGoesOn) {
  Write("rank0.json", Trace(Header(0, 2), ThreeSteps()));
  std::string later = Trace(Header(1, 2), ThreeSteps());
  later.replace(later.find("1700000000"), 10, "1700003600");
  Write("rank1.json", later);
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("do not overlap in time")));
  EXPECT_EQ(recording_.view.window.size(), 3);
}

TEST_F(KinetoImporterTest, SaysWhenRanksHoldDifferentSteps) {
  Write("rank0.json", Trace(Header(0, 2), ThreeSteps()));
  auto events = ThreeSteps();
  events.resize(8);
  Write("rank1.json", Trace(Header(1, 2), events));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("different numbers of iterations, 2 to 3")));
  EXPECT_EQ(recording_.view.window.back().ranks.size(), 1);
}

TEST_F(KinetoImporterTest, TakesRanksFromNamesInOldTraces) {
  // No distributedInfo, no baseTimeNanoseconds, steps as operators, times since 1970.
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(Event("Operator", absl::StrCat("ProfilerStep#", i), 1, 1.6e9 + i * 1e4, 9e3));
  }
  Write("trace_rank_1.json", Trace("\"schemaVersion\": 1", events));
  Write("trace_rank_0.json", Trace("\"schemaVersion\": 1", events));
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(recording_.view.world_size, 2);
  EXPECT_THAT(recording_.notes,
              ElementsAre(HasSubstr("taken for rank 0"), HasSubstr("taken for rank 1")));
  ASSERT_EQ(recording_.view.window.size(), 3);
  EXPECT_EQ(recording_.view.window[0].ranks[0].duration, Nanos(10'000'000));
}

TEST_F(KinetoImporterTest, SaysWhenThereAreNoSteps) {
  Write("rank0.json", Trace(Header(0, 1), {Event("cpu_op", "aten::mm", 1, 1, 1)}));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("no ProfilerStep marks")));
  EXPECT_THAT(recording_.view.window, IsEmpty());
}

// Six iterations of 10 ms with three all-reduces of different sizes and no mark; the rank comes
// `late_ms` later to each, and all leave together.
std::vector<std::string> UnmarkedSteps(double late_ms, int first_op = 0) {
  std::vector<std::string> events;
  for (int op = first_op; op < 18; ++op) {
    const double begin = 10'000.0 * (op / 3) + 2000.0 * (op % 3);
    events.push_back(Event("cpu_op", "aten::mm", 1, begin, 100 + late_ms * 1000));
    for (auto& event :
         GlooAllReduce(begin + 200 + late_ms * 1000, begin + 1500, false, 11, 100 + op % 3)) {
      events.push_back(event);
    }
  }
  return events;
}

TEST_F(KinetoImporterTest, TellsIterationsByWhatRepeatsWhereNoneIsMarked) {
  Write("rank0.json", Trace(Header(0, 2), UnmarkedSteps(0)));
  Write("rank1.json", Trace(Header(1, 2), UnmarkedSteps(0.5)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("told by the 3 collectives that repeat")));
  ASSERT_EQ(recording_.view.window.size(), 5) << "between the last ops of six iterations";
  for (const auto& iteration : recording_.view.window) {
    ASSERT_EQ(iteration.ranks.size(), 2);
    EXPECT_EQ(iteration.ranks[0].duration, Nanos(10'000'000));
    EXPECT_EQ(iteration.ranks[1].ops, 3u);
  }
}

// Three steps in the user's own marks, with an annotation of each half within; the rank comes
// `late` µs later to the all-reduce of each, of which there are `ops`.
std::vector<std::string> StepsOfUser(double late, int ops = 1) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    const double at = 10'000.0 * i;
    events.push_back(Event("user_annotation", absl::StrCat("train step ", 7 + i), 1, at, 9'900));
    for (const double half : {0.0, 5000.0}) {
      events.push_back(Event("user_annotation", "half", 1, at + half, 4'900));
    }
    events.push_back(Event("cpu_op", "aten::mm", 1, at + 100, 1000 + late));
    for (int op = 0; op < ops; ++op) {
      for (auto& event : GlooAllReduce(at + 2000 + late, at + 9000 + 100 * op, false)) {
        events.push_back(event);
      }
    }
  }
  return events;
}

TEST_F(KinetoImporterTest, TakesTheUsersMarksOfStepsWhereThereAreNoOthers) {
  Write("rank0.json", Trace(Header(0, 2), StepsOfUser(0)));
  Write("rank1.json", Trace(Header(1, 2), StepsOfUser(3000)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("each \"train step #\" is taken for one")));
  ASSERT_EQ(recording_.view.window.size(), 3);
  EXPECT_EQ(recording_.view.window[1].ranks[0].duration, Nanos(10'000'000));
  EXPECT_EQ(recording_.view.window[1].ranks[1].ops, 1u);
}

// The near miss: what the ranks did within their marks differs, so these tell no common steps.
TEST_F(KinetoImporterTest, TakesNoMarksInWhichRanksRanOtherOps) {
  Write("rank0.json", Trace(Header(0, 2), StepsOfUser(0)));
  Write("rank1.json", Trace(Header(1, 2), StepsOfUser(0, 2)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.view.window, IsEmpty());
}

TEST_F(KinetoImporterTest, DoesNotCompareRanksThatBeganAtDifferentOps) {
  Write("rank0.json", Trace(Header(0, 2), UnmarkedSteps(0)));
  Write("rank1.json", Trace(Header(1, 2), UnmarkedSteps(0, 3)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, Contains(HasSubstr("the traces begin at different ops")));
  EXPECT_THAT(recording_.view.window, IsEmpty());
}

TEST_F(KinetoImporterTest, DoesNotTellIterationsWhereRanksRanOtherOps) {
  std::vector<std::string> other;
  for (int i = 0; i < 18; ++i) {
    for (auto& event : GlooAllReduce(1000.0 * i, 1000.0 * i + 900, false, 11, 7)) {
      other.push_back(event);
    }
  }
  Write("rank0.json", Trace(Header(0, 2), UnmarkedSteps(0)));
  Write("rank1.json", Trace(Header(1, 2), other));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, Contains(HasSubstr("ranks ran different collectives")));
  EXPECT_THAT(recording_.view.window, IsEmpty());
}

TEST_F(KinetoImporterTest, ADescriptionThatSaysUndefinedIsNone) {
  std::string header = Header(0, 1);
  header.replace(header.find("default_pg"), 10, "undefined");
  Write("rank0.json", Trace(header, {Event("cpu_op", "aten::mm", 1, 1, 1)}));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(recording_.view.groups.size(), 1);
  EXPECT_EQ(recording_.view.groups[0].description, "");
}

// Calls that do not say whether they are asynchronous, waited for together behind the last.
TEST_F(KinetoImporterTest, OpsInFlightTogetherAreWaitedForOnce) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    const double at = 10'000.0 * i;
    events.push_back(Step(i, at, 10'000));
    for (int k = 0; k < 3; ++k) {
      const double call = at + 2000 + 10 * k;
      events.push_back(Event("cpu_op", "c10d::allreduce_", 1, call, 5));
      events.push_back(
          Event("user_annotation", "gloo:all_reduce", 11 + k, call + 5, 2000 * (k + 1)));
    }
    events.push_back(Event("cpu_op", "aten::add", 1, at + 8026, 500));
  }
  Write("rank0.json", Trace(Header(0, 1), events));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(recording_.view.window.size(), 3);
  EXPECT_EQ(recording_.view.window[1].ranks[0].blocked, Nanos(6'000'000));
}

// Weights are averaged in every third step: three steps are one iteration.
TEST_F(KinetoImporterTest, StepsWithoutCommunicationBelongToTheNextWithIt) {
  const auto steps = [](double arrives, int last) {
    std::vector<std::string> events;
    for (int i = 11; i <= last; ++i) {
      const double at = 10'000.0 * i;
      events.push_back(Step(i, at, 10'000));
      events.push_back(Event("cpu_op", "aten::mm", 1, at + 100, 1000));
      if (i % 3 != 0) continue;
      for (auto& event : GlooAllReduce(at + arrives, at + 9000, false)) events.push_back(event);
    }
    return events;
  };
  Write("rank0.json", Trace(Header(0, 2), steps(2000, 22)));
  Write("rank1.json", Trace(Header(1, 2), steps(6000, 22)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("communicate in one of 3 steps")));
  ASSERT_EQ(recording_.view.window.size(), 3) << "12 lacks a step, 22 has not met";
  const auto& iteration = recording_.view.window[1];
  EXPECT_EQ(iteration.index, Iteration(18));
  EXPECT_EQ(iteration.ranks[0].duration, Nanos(30'000'000));
  EXPECT_EQ(iteration.ranks[0].cpu, Nanos(3'001'000));
  EXPECT_EQ(iteration.ranks[0].blocked, Nanos(6'999'000));
  EXPECT_EQ(iteration.ranks[1].blocked, Nanos(2'999'000));
}

TEST_F(KinetoImporterTest, ReadsDeviceTraces) {
  std::vector<std::string> events;
  for (int i = 0; i < 3; ++i) {
    const double at = 10'000.0 * i;
    events.push_back(Step(i, at, 10'000));
    // Annotations of the device repeat the marks of the host.
    events.push_back(
        Event("gpu_user_annotation", absl::StrCat("ProfilerStep#", i), 7, at + 3e3, 9e3));
    events.push_back(
        Event("cpu_op", "record_param_comms", 1, at + 500, 20,
              absl::StrCat(R"("External id": )", i, R"(, "Collective name": "allreduce", )",
                           R"("dtype": "Float", "In msg nelems": 8, "Process Group Name": "0", )",
                           R"("Process Group Ranks": "[0, 1]", "Group size": 2)")));
    events.push_back(Event("kernel", "gemm", 7, at + 2000, 3000, R"("stream": 7)"));
    events.push_back(Event("gpu_memcpy", "Memcpy HtoD", 7, at + 4000, 2000, R"("stream": 9)"));
    events.push_back(Event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, at + 4000,
                           5000, absl::StrCat(R"("stream": 20, "External id": )", i)));
  }
  Write("rank0.json", Trace(R"("distributedInfo": {"rank": 0, "world_size": 2})", events));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(recording_.view.window.size(), 3);
  const auto& iteration = recording_.view.window[1].ranks[0];
  EXPECT_EQ(iteration.device, Nanos(4'000'000));
  EXPECT_EQ(iteration.blocked, Nanos(3'000'000));
  ASSERT_EQ(iteration.groups.size(), 1);
  EXPECT_EQ(iteration.groups[0].elapsed, Nanos(5'000'000)) << "from the start of the kernel";
  const auto& op = recording_.view.rows.at(RankId(0)).ops[1];
  EXPECT_TRUE(op.on_device);
  EXPECT_EQ((op.exec_start - op.enter), Nanos(3'500'000));
  EXPECT_EQ(op.bytes, 32);
}

TEST_F(KinetoImporterTest, CountsACollectionOnceThoughItShowsTwice) {
  auto events = ThreeSteps();
  events.push_back(Event("python_function", "<built-in function collect>", 1, 15'000, 3000));
  events.push_back(Event("gc", "Python GC", 1, 15'010, 2900));
  events.push_back(Event("user_annotation",
                         "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 9500,
                         400));
  events.push_back(Event("python_function", "train.py(26): slow", 1, 11'000, 1500));
  events.push_back(Event("python_function", "train.py(27): quick", 1, 13'000, 100));
  Write("rank0.json", Trace(Header(0, 1), events));
  ASSERT_TRUE(Read().ok());
  const auto& second = recording_.view.window[1].ranks[0];
  EXPECT_EQ(second.gc, Nanos(3'000'000));
  EXPECT_EQ(second.dataloader, Nanos(400'000));
  const auto& rows = recording_.view.rows.at(RankId(0));
  EXPECT_EQ(rows.marks.size(), 2);
  ASSERT_EQ(rows.functions.size(), 1);
  EXPECT_EQ(rows.functions[0].name, "train.py(26): slow");
  EXPECT_EQ(rows.functions[0].iteration, Iteration(1));
}

TEST_F(KinetoImporterTest, KeepsTheFirstRunWhereTheCounterBeganAgain) {
  auto events = ThreeSteps();
  const std::string load = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  events.push_back(Event("gc", "Python GC", 1, 15'000, 3000));
  events.push_back(Event("user_annotation", load, 1, 9500, 400));
  for (int i = 0; i < 3; ++i) {
    const double at = 100'000 + 10'000.0 * i;
    events.push_back(Step(i, at, 10'000));
    for (auto& event : GlooAllReduce(at + 1000, at + 9000, false)) events.push_back(event);
    events.push_back(Event("gc", "Python GC", 1, at + 100, 100));
    events.push_back(Event("user_annotation", load, 1, at + 300, 200));
  }
  Write("rank0.json", Trace(Header(0, 1), events));
  ASSERT_TRUE(Read().ok());
  ASSERT_EQ(recording_.view.window.size(), 3);
  const auto& second = recording_.view.window[1].ranks[0];
  EXPECT_EQ(second.duration, Nanos(10'000'000));
  EXPECT_EQ(second.gc, Nanos(3'000'000));
  EXPECT_EQ(second.dataloader, Nanos(400'000));
  EXPECT_EQ(second.blocked, Nanos(6'999'000)) << "since its call returned";
}

// Two ranks with two groups whose guesses contradict: then neither is believed.
TEST_F(KinetoImporterTest, DropsGuessesThatContradictEachOther) {
  const std::string more =
      R"(, {"pg_name": "1", "pg_desc": "DATA", "pg_size": 2, "ranks": [0, 1]})";
  const auto events = [](int first_elements, int second_elements) {
    std::vector<std::string> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(Step(i, 10'000.0 * i, 10'000));
      for (auto& e : GlooAllReduce(10'000.0 * i + 10, 10'000.0 * i + 500, true, 11, first_elements))
        all.push_back(e);
      for (auto& e :
           GlooAllReduce(10'000.0 * i + 20, 10'000.0 * i + 600, true, 21, second_elements))
        all.push_back(e);
    }
    return all;
  };
  Write("rank0.json", Trace(Header(0, 2, more), events(5, 6)));
  Write("rank1.json", Trace(Header(1, 2, more), events(6, 5)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, testing::Contains(HasSubstr("cannot be told from the traces")));
  for (const auto& op : recording_.view.rows.at(RankId(0)).ops) EXPECT_EQ(op.group, GroupId());
}

TEST_F(KinetoImporterTest, RefusesAbsurdRanks) {
  limits_.ranks = 4;
  Write("rank0.json", Trace(R"("distributedInfo": {"rank": 99, "world_size": 100})", ThreeSteps()));
  EXPECT_FALSE(Read().ok());
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("beyond the limit of 4 ranks")));
}

TEST_F(KinetoImporterTest, SaysHowARankWasGuessed) {
  Write("rank1.json", Trace("", ThreeSteps(2)));
  Write("node_77.1666149715033.pt.trace.json", Trace("", ThreeSteps(6)));
  ASSERT_TRUE(Read().ok());
  EXPECT_THAT(recording_.notes, Contains(HasSubstr("taken for rank 1 by its name")));
  EXPECT_THAT(recording_.notes, Contains(HasSubstr("by the order of their names")));
}

TEST(KinetoImporter, RecognisesItsOwnOnly) {
  const KinetoImporter importer;
  EXPECT_TRUE(importer.Recognises("x", Trace(Header(0, 1), {})));
  EXPECT_FALSE(importer.Recognises("x", R"({"traceEvents": [{"ph": "b", "cat": "GROUP"}]})"));
  EXPECT_TRUE(importer.Recognises("x", R"( [{"ph": "X", "cat": "cpu_op", "name": "aten::mm"}])"));
  EXPECT_FALSE(importer.Recognises("x", R"([{"ph": "b", "cat": "COLL", "name": "AllReduce"}])"));
  EXPECT_FALSE(importer.Recognises("x", R"([{"category": "cpu_op"}])"));
  EXPECT_FALSE(importer.Recognises("x", R"({"schemaVersion": 1})"));
  EXPECT_FALSE(importer.Recognises("x", ""));
}

}  // namespace
}  // namespace fathom::collector::kineto
