#include "collector/import/kineto/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "collector/import/kineto/kineto_importer.h"
#include "collector/import/reading/two_jobs.h"
#include "collector/import/recognise.h"
#include "tests/collector/import/judged_recording.h"
#include "tests/collector/import/kineto/trace_text.h"
#include "tests/collector/import/nccl/nccl_job.h"

namespace fathom::collector::kineto {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Level = diagnosis::SignalState::Level;

constexpr double kStepUs = 10'000;

struct Steps {
  int first = 0;
  int count = 3;
  double begin = 0;         // µs
  double arrives = 2000;    // of the all-reduce, in the step
  double length = kStepUs;  // of a step; the all-reduce ends 1 ms before it
};

std::vector<std::string> EventsOf(const Steps& steps) {
  std::vector<std::string> events;
  for (int i = 0; i < steps.count; ++i) {
    const double at = steps.begin + steps.length * i;
    events.push_back(Step(steps.first + i, at, steps.length));
    events.push_back(Event("cpu_op", "aten::mm", 1, at + 100, steps.arrives - 200));
    for (auto& event : GlooAllReduce(at + steps.arrives, at + steps.length - 1000, false)) {
      events.push_back(event);
    }
  }
  return events;
}

// Of another process where `job` is not 'a'.
std::vector<std::string> OfProcess(char job, const Steps& steps) {
  std::vector<std::string> events = EventsOf(steps);
  for (auto& event : events) {
    if (job != 'a') event.replace(event.find("\"pid\": 7"), 8, "\"pid\": 8");
  }
  return events;
}

std::vector<std::string> Both(std::vector<std::string> events,
                              const std::vector<std::string>& more) {
  events.insert(events.end(), more.begin(), more.end());
  return events;
}

class WindowsTest : public ::testing::Test {
 protected:
  WindowsTest()
      : folder_(std::filesystem::path(::testing::TempDir()) / "windows" /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~WindowsTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& header,
             const std::vector<std::string>& events) {
    paths_.push_back((folder_ / name).string());
    std::ofstream(paths_.back(), std::ios::binary) << Trace(header, events);
  }

  void WriteOf(const std::string& name, int rank, const Steps& steps) {
    Write(name, Header(rank, 2), EventsOf(steps));
  }

  void Read() { ASSERT_TRUE(KinetoImporter().Read(paths_, {}, recording_).ok()); }

  std::vector<std::int64_t> Iterations() const {
    std::vector<std::int64_t> numbers;
    for (const auto& iteration : recording_.view.window) numbers.push_back(iteration.index.value);
    return numbers;
  }

  const diagnosis::SignalState* Windows() const {
    for (const auto& signal : recording_.view.signals) {
      if (signal.name == "windows") return &signal;
    }
    return nullptr;
  }

  // What two windows of steps 0 to 2 and 10 to 12 must come to, however they were stored.
  void ExpectOneRecording() {
    EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2, 10, 11, 12));
    const auto& window = recording_.view.window;
    ASSERT_EQ(window.size(), 6);
    EXPECT_EQ(window[2].ranks[0].duration, Nanos(10'000'000));
    EXPECT_EQ(window[3].ranks[0].duration, Nanos(9'000'000)) << "from its mark, no pause in it";
    EXPECT_EQ(window[3].ranks[1].blocked, Nanos(2'999'000));
    const auto& ops = recording_.view.rows.at(RankId(1)).ops;
    ASSERT_EQ(ops.size(), 6);
    EXPECT_EQ(ops[3].cpu_at_enter, ops[2].cpu_at_enter + Nanos(5'801'000));
    EXPECT_EQ(ops[3].sequence, recording_.view.rows.at(RankId(0)).ops[3].sequence);
    ASSERT_EQ(recording_.tables.size(), 2);
    EXPECT_NEAR(recording_.tables[0].breakdown.span, 0.058, 1e-9) << "what was recorded";
    ASSERT_NE(Windows(), nullptr);
    EXPECT_EQ(Windows()->level, Level::kOn);
    EXPECT_THAT(Windows()->hides, HasSubstr("2 windows of the profiler (steps 0 to 2, 10 to 12)"));
    EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("are one recording")));
  }

  std::filesystem::path folder_;
  std::vector<std::string> paths_;
  Recording recording_;
};

TEST_F(WindowsTest, FilesOfOneRankAreOneRecording) {
  for (int rank = 0; rank < 2; ++rank) {
    const double arrives = rank == 0 ? 2000 : 6000;
    // By name the later ones come first.
    WriteOf(absl::StrCat("a", rank), rank, {10, 3, 5e5, arrives});
    WriteOf(absl::StrCat("b", rank), rank, {0, 3, 0, arrives});
  }
  Read();
  ExpectOneRecording();
}

TEST_F(WindowsTest, APauseWithinAFileIsTheSame) {
  for (int rank = 0; rank < 2; ++rank) {
    const double arrives = rank == 0 ? 2000 : 6000;
    Write(absl::StrCat("rank", rank), Header(rank, 2),
          Both(EventsOf({10, 3, 5e5, arrives}), EventsOf({0, 3, 0, arrives})));
  }
  Read();
  ExpectOneRecording();
}

// What is switched on again in the middle of a step records ops of it, and no mark.
TEST_F(WindowsTest, APauseMayEndWithinAStep) {
  for (int rank = 0; rank < 2; ++rank) {
    auto events = Both(EventsOf({0, 3, 0}), EventsOf({10, 3, 5e5}));
    events.push_back(Event("cpu_op", "aten::mm", 1, 5e5 - 20'000, 15'000));
    Write(absl::StrCat("rank", rank), Header(rank, 2), events);
  }
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2, 10, 11, 12));
  ASSERT_NE(Windows(), nullptr);
  EXPECT_NEAR(recording_.tables[0].breakdown.span, 0.058, 1e-9);
}

TEST_F(WindowsTest, AMarkThatIsMissingIsNoPause) {
  for (int rank = 0; rank < 2; ++rank) {
    auto events = EventsOf({0, 3});
    std::erase_if(events, [](const auto& event) { return event.find("Step#1") != event.npos; });
    Write(absl::StrCat("rank", rank), Header(rank, 2), events);
  }
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 2));
  EXPECT_EQ(Windows(), nullptr);
  EXPECT_THAT(recording_.notes, IsEmpty());
}

TEST_F(WindowsTest, SaysWhichRankLacksOne) {
  WriteOf("a", 0, {0});
  WriteOf("b", 0, {10, 3, 5e5});
  WriteOf("c", 1, {0});
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2, 10, 11, 12));
  ASSERT_NE(Windows(), nullptr);
  EXPECT_EQ(Windows()->level, Level::kPartly);
  EXPECT_THAT(Windows()->hides, HasSubstr("what rank 1 did in steps 10 to 12"));
  EXPECT_THAT(recording_.ranks_missing, IsEmpty());
  EXPECT_THAT(recording_.notes, Not(Contains(HasSubstr("clocks"))));
}

TEST_F(WindowsTest, ACopyIsNoWindow) {
  for (const char* name : {"a", "b"}) WriteOf(name, 0, {0});
  WriteOf("c", 1, {0});
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2));
  EXPECT_EQ(Windows(), nullptr);
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("b: left out: is a second trace of rank 0")));
}

TEST_F(WindowsTest, AnotherRunIsNotJoined) {
  for (int rank = 0; rank < 2; ++rank) {
    WriteOf(absl::StrCat("new", rank), rank, {0, 3, 5e5, 3000});
    WriteOf(absl::StrCat("old", rank), rank, {0});
  }
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2));
  EXPECT_EQ(recording_.view.window[1].ranks[0].blocked, Nanos(5'999'000)) << "the later one";
  EXPECT_EQ(Windows(), nullptr);
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("old0: left out: is of another run"),
                                            HasSubstr("old1: left out: is of another run")));
}

TEST_F(WindowsTest, AnotherProcessIsAnotherRunAndTheOneOfMostRanksIsKept) {
  WriteOf("a", 0, {0});
  WriteOf("b", 1, {0});
  auto later = EventsOf({10, 3, 5e5});
  for (auto& event : later) event.replace(event.find("\"pid\": 7"), 8, "\"pid\": 8");
  Write("c", Header(0, 2), later);
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2));
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("c: left out: is of another run than the one "
                                                      "that is kept: it is of another process")));
}

// Of processes 7 and 8, at the same time.
TEST_F(WindowsTest, TwoJobsAtTheSameTimeAreToldApartByFolder) {
  for (const char* job : {"b", "a"}) {
    std::filesystem::create_directories(folder_ / job / "kineto");
    for (int rank = 0; rank < 2; ++rank) {
      Write(absl::StrCat(job, "/kineto/rank", rank), Header(rank, 2), OfProcess(*job, {0}));
    }
  }
  const absl::Status read = KinetoImporter().Read(paths_, {}, recording_);
  EXPECT_TRUE(absl::IsInvalidArgument(read));
  EXPECT_THAT(std::string(read.message()),
              HasSubstr("rank 0 has traces of two processes at the same time"));
  EXPECT_THAT(FoldersOfJobs(read), ElementsAre((folder_ / "a").string(), (folder_ / "b").string()));
}

TEST_F(WindowsTest, FormatsThatTellTwoSizesAreTwoJobs) {
  for (const char* job : {"kineto", "nccl"}) std::filesystem::create_directories(folder_ / job);
  for (int rank = 0; rank < 2; ++rank) {
    Write(absl::StrCat("kineto/rank", rank), Header(rank, 2), EventsOf({0}));
  }
  const auto texts = nccl::InspectorFiles({.ranks = 4});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::ofstream(folder_ / "nccl" / absl::StrCat("file", i)) << texts[i];
  }
  const absl::Status read = ReadRecording({folder_.string()}, "auto", {}).status();
  EXPECT_THAT(std::string(read.message()),
              ::testing::AllOf(HasSubstr("kineto files are of a job of 2 ranks"),
                               HasSubstr("kineto/rank0"), HasSubstr("nccl/file0")));
  EXPECT_THAT(FoldersOfJobs(read),
              ElementsAre((folder_ / "kineto").string(), (folder_ / "nccl").string()));
}

TEST_F(WindowsTest, TwoJobsInOneFolderAreRefused) {
  for (const char* job : {"a", "b"}) {
    for (int rank = 0; rank < 2; ++rank) {
      Write(absl::StrCat(job, "_rank", rank), Header(rank, 2), OfProcess(*job, {0, 3, 100}));
    }
  }
  const absl::Status read = KinetoImporter().Read(paths_, {}, recording_);
  EXPECT_THAT(std::string(read.message()),
              ::testing::AllOf(HasSubstr("a_rank0"), HasSubstr("b_rank0"), HasSubstr("two jobs")));
  EXPECT_THAT(FoldersOfJobs(read), IsEmpty());
}

// The windows of the other job would go on from those of this one, but for the host.
TEST_F(WindowsTest, ProcessesOfOneNumberOnTwoHostsAreTwo) {
  for (int rank = 0; rank < 2; ++rank) {
    Write(absl::StrCat("a", rank), Header(rank, 2) + ", \"host_name\": \"one\"", EventsOf({0}));
    Write(absl::StrCat("b", rank), Header(rank, 2) + ", \"host_name\": \"two\"",
          EventsOf({10, 3, 5e5}));
  }
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(10, 11, 12));
  EXPECT_THAT(recording_.notes, ElementsAre(HasSubstr("a0: left out: is of another run"),
                                            HasSubstr("a1: left out: is of another run")));
}

TEST_F(WindowsTest, JobsOfTwoSizesAreRefusedWhereNeitherHasMoreTraces) {
  for (int rank = 0; rank < 2; ++rank) {
    Write(absl::StrCat("a", rank), Header(rank, 2), EventsOf({0}));
    Write(absl::StrCat("b", rank), Header(rank, 4), OfProcess('b', {0}));
  }
  const absl::Status read = KinetoImporter().Read(paths_, {}, recording_);
  EXPECT_THAT(std::string(read.message()),
              HasSubstr("as many traces are of a job of 2 ranks as of one of 4"));
}

// A rank that only the other job has fills no gap of this one.
TEST_F(WindowsTest, RanksThatAreMissingAreNotTakenFromAnEarlierRun) {
  for (int rank = 0; rank < 3; ++rank) {
    Write(absl::StrCat("old", rank), Header(rank, 3), EventsOf({0}));
    if (rank < 2) Write(absl::StrCat("new", rank), Header(rank, 3), OfProcess('b', {0, 3, 5e5}));
  }
  Read();
  EXPECT_EQ(recording_.view.rows.size(), 3) << "most ranks have the old one";
  EXPECT_THAT(recording_.notes, Contains(HasSubstr("new1: left out: is of another run")));
  EXPECT_THAT(recording_.notes, Not(Contains(HasSubstr("old"))));
}

TEST_F(WindowsTest, WindowsThatNameNoRankAreOfOneRankByTheirProcess) {
  const std::string nameless = "\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000";
  Write("b_first", nameless, EventsOf({0}));
  Write("b_second", nameless, EventsOf({10, 3, 5e5}));
  Write("other", nameless, EventsOf({0, 3, 100}));
  Read();
  EXPECT_EQ(recording_.view.world_size, 2);
  EXPECT_THAT(Iterations(), ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_EQ(recording_.view.rows.at(RankId(0)).ops.size(), 6);
  EXPECT_EQ(recording_.view.rows.at(RankId(1)).ops.size(), 3);
}

// Ranks meet in every third step, and between the windows nobody knows.
TEST_F(WindowsTest, StepsWithoutCommunicationAreJoinedInEach) {
  for (int rank = 0; rank < 2; ++rank) {
    for (const int first : {1, 32}) {
      std::vector<std::string> events;
      for (int i = first; i < first + 9; ++i) {
        for (auto& event : EventsOf({i, 1, kStepUs * i})) {
          if (i % 3 == 0 || event.find("reduce") == event.npos) events.push_back(event);
        }
      }
      Write(absl::StrCat("rank", rank, "_", first), Header(rank, 2), events);
    }
  }
  Read();
  EXPECT_THAT(Iterations(), ElementsAre(3, 6, 9, 36, 39));
  for (const auto& iteration : recording_.view.window) {
    EXPECT_GE(iteration.ranks[0].duration, Nanos(29'000'000));
  }
}

// Each Gloo group is told by its worker threads, which is a guess; that a rank lacks a window
// contradicts nothing.
TEST_F(WindowsTest, AWindowThatIsMissingContradictsNoGuess) {
  const std::string more =
      R"(, {"pg_name": "1", "pg_desc": "DATA", "pg_size": 2, "ranks": [0, 1]})";
  const auto events = [](int first) {
    std::vector<std::string> all;
    for (int i = 0; i < 3; ++i) {
      const double at = kStepUs * (first + i);
      all.push_back(Step(first + i, at, kStepUs));
      for (auto& e : GlooAllReduce(at + 10, at + 500, true, 11, 5)) all.push_back(e);
      for (auto& e : GlooAllReduce(at + 20, at + 600, true, 21, 6)) all.push_back(e);
    }
    return all;
  };
  Write("a", Header(0, 2, more), events(0));
  Write("b", Header(0, 2, more), events(10));
  Write("c", Header(1, 2, more), events(0));
  Read();
  EXPECT_THAT(recording_.notes, Not(Contains(HasSubstr("cannot be told"))));
  for (const auto& op : recording_.view.rows.at(RankId(0)).ops) EXPECT_NE(op.group, GroupId());
}

class JudgedWindowsTest : public WindowsTest {
 protected:
  // Windows of six steps each; in the later ones rank 1 works `later` µs, and all wait for it.
  void WriteJob(double later, bool with_culprit = true) {
    for (int rank = 0; rank < 2; ++rank) {
      WriteOf(absl::StrCat("a", rank), rank, {10, 6, 1e5, 4000});
      if (rank == 1 && !with_culprit) continue;
      WriteOf(absl::StrCat("b", rank), rank, {30, 6, 9e5, rank == 1 ? later : 4000, later + 6000});
    }
  }
};

TEST_F(JudgedWindowsTest, WhatBeganBetweenTwoIsTold) {
  WriteJob(12'000);
  Read();
  const auto judged = Judge(recording_);
  ASSERT_EQ(judged.verdicts.size(), 1) << AllOf(recording_, judged);
  EXPECT_THAT(judged.verdicts[0].entity.ranks, ElementsAre(RankId(1)));
  EXPECT_EQ(judged.verdicts[0].cause, diagnosis::Cause::kComputeSlow);
  EXPECT_EQ(judged.verdicts[0].since_iteration, Iteration(30));
}

TEST_F(JudgedWindowsTest, ThePauseItselfIsNotSlow) {
  WriteJob(4000);
  Read();
  const auto judged = Judge(recording_);
  EXPECT_THAT(judged.verdicts, IsEmpty()) << AllOf(recording_, judged);
  EXPECT_THAT(judged.abstained, IsEmpty()) << AllOf(recording_, judged);
}

TEST_F(JudgedWindowsTest, NobodyElseIsAccusedWhereTheCulpritLacksTheWindow) {
  WriteJob(12'000, false);
  Read();
  const auto judged = Judge(recording_);
  EXPECT_THAT(judged.verdicts, IsEmpty()) << AllOf(recording_, judged);
}

}  // namespace
}  // namespace fathom::collector::kineto
