#include "collector/import/side_files/side_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector::side_files {
namespace {

using diagnosis::EndedBy;
using diagnosis::ProcessState;

Recording TwoRanks() {
  Recording recording;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    recording.view.records.emplace_back().rank = RankId(rank);
  }
  return recording;
}

constexpr char kNativeStack[] =
    "Process 7: python train.py\n\nThread 7 (idle): \"MainThread\"\n"
    "    0x7fa5 (libc.so.6)\n    c10d::Work::wait (libtorch_cpu.so)\n"
    "    all_reduce (torch/distributed/distributed_c10d.py:3252)\n    main (train.py:1)\n"
    "Thread 8 (idle): \"watchdog\"\n    watch (train.py:9)\n";

TEST(SideFiles, ReadsProcessStates) {
  Recording recording = TwoRanks();
  ASSERT_TRUE(AddProcesses(R"({"0": {"pid": 7, "alive": true, "state": "T", "threads":
      [{"tid": 8, "wchan": "no"}, {"tid": 7, "wchan": "do_signal_stop", "cpu_ms_in_1s": 250}]},
      "1": {"pid": 9, "alive": false, "state": "S"}, "5": {"pid": 1}, "x": 3})",
                           recording));
  const auto& facts = recording.view.ranks;
  ASSERT_EQ(facts.size(), 2U) << "a rank that nobody recorded is not added";
  EXPECT_EQ(facts[0].state, ProcessState::kStopped);
  EXPECT_EQ(facts[0].wait_channel, "do_signal_stop");
  EXPECT_EQ(facts[0].cpu_while_silent, Nanos(250'000'000));
  EXPECT_EQ(facts[1].state, ProcessState::kGone);
}

TEST(SideFiles, ReadsWhatTheMainThreadDoes) {
  Recording recording = TwoRanks();
  ASSERT_TRUE(AddStack(kNativeStack, RankId(0), recording));
  EXPECT_TRUE(recording.view.records[0].waiting_in_communication);
  ASSERT_TRUE(AddStack("Process 7: p\n\nThread 7 (active+gil): \"MainThread\"\n    spin (t.py:3)\n",
                       RankId(1), recording));
  EXPECT_FALSE(recording.view.records[1].waiting_in_communication);
  EXPECT_EQ(recording.view.records[1].doing, "spin (t.py:3)");
}

TEST(SideFiles, AStackThatHidesNativeFramesTellsNothing) {
  Recording recording = TwoRanks();
  ASSERT_TRUE(
      AddStack("Process 7: p\n\nThread 7 (idle): \"MainThread\"\n"
               "    _engine_run_backward (torch/autograd/graph.py:979)\n    main (t.py:1)\n",
               RankId(0), recording));
  EXPECT_EQ(recording.view.records[0].doing, "");
}

TEST(SideFiles, TellsWhoLostAPeerFromWhoFailed) {
  Recording recording = TwoRanks();
  AddOutput(
      "Traceback (most recent call last):\nRuntimeError: Connection closed by peer [::1]:3. X\n",
      RankId(0), recording);
  EXPECT_EQ(recording.view.records[0].ended, EndedBy::kPeerLost);
  EXPECT_EQ(recording.view.records[0].last_words,
            "RuntimeError: Connection closed by peer [::1]:3");
  AddOutput("Traceback (most recent call last):\nValueError: \x1b[31mbad\n", RankId(1), recording);
  EXPECT_EQ(recording.view.records[1].ended, EndedBy::kOwnError);
  EXPECT_THAT(recording.view.records[1].last_words, ::testing::Not(::testing::HasSubstr("\x1b")));
  AddOutput("(no output)\n", RankId(1), recording);
  EXPECT_EQ(recording.view.records[1].ended, EndedBy::kNotKnown);
  EXPECT_TRUE(recording.view.records[1].output_known);
}

TEST(SideFiles, JoinsSocketsFromBothEnds) {
  Recording recording = TwoRanks();
  ASSERT_TRUE(AddSockets(
      R"({"before": {"0": {"time_ns": 1, "tcp": [{"local": "127.0.0.1:5", "peer": "127.0.0.1:6"}]}},
      "at_hang":
      {"0": {"time_ns": 2, "tcp": [{"local": "127.0.0.1:5", "peer": "127.0.0.1:6",
                      "info": "bbr rto:6528 backoff:5 unacked:3 lastrcv:12788 x"}]},
       "1": {"tcp": [{"local": "127.0.0.1:6", "peer": "127.0.0.1:5", "info": "backoff:zz"},
                     {"local": "127.0.0.1:6", "peer": "8.8.8.8:1", "info": ""}]}}})",
      recording));
  ASSERT_EQ(recording.view.records[0].paths.size(), 1U);
  EXPECT_EQ(recording.view.records[0].paths[0].peer, RankId(1));
  EXPECT_EQ(recording.view.records[0].paths[0].backoff, 5U);
  EXPECT_EQ(recording.view.records[0].paths[0].unacknowledged, 3U);
  ASSERT_EQ(recording.view.records[1].paths.size(), 1U);
  EXPECT_EQ(recording.view.records[1].paths[0].backoff, 0U);
}

TEST(SideFiles, ComparesTwoMomentsOfASocket) {
  const auto at = [](const char* time, const char* info) {
    return std::string(R"({"0": {"time_ns": )") + time +
           R"(, "tcp": [{"local": "10.0.0.1:5", "peer": "10.0.0.2:6", "info": ")" + info +
           R"("}]}, "1": {"tcp": [{"local": "10.0.0.2:6", "peer": "10.0.0.1:5", "info": ""}]}})";
  };
  const char* first = "cubic bytes_acked:1000 busy:3ms";
  const char* second = "cubic bytes_acked:5000 busy:43ms";
  Recording recording = TwoRanks();
  // In no order: the time decides.
  ASSERT_TRUE(
      AddSockets("{\"b\": " + at("9", second) + ", \"a\": " + at("2", first) + "}", recording));
  const auto& flows = FactsOf(recording, RankId(0)).flows;
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].peer, RankId(1));
  EXPECT_EQ(flows[0].bytes_before, 1000U);
  EXPECT_EQ(flows[0].bytes_since, 4000U);
  EXPECT_EQ(flows[0].busy_before, Nanos(3'000'000));
  EXPECT_EQ(flows[0].busy_since, Nanos(40'000'000));

  Recording rebuilt = TwoRanks();  // counters that go back are those of a new connection
  ASSERT_TRUE(
      AddSockets("{\"a\": " + at("2", second) + ", \"b\": " + at("9", first) + "}", rebuilt));
  EXPECT_TRUE(FactsOf(rebuilt, RankId(0)).flows.empty());
}

TEST(SideFiles, RefusesBrokenText) {
  Recording recording = TwoRanks();
  for (const char* text : {"", "{", "[]", "3", "{\"0\": "}) {
    EXPECT_FALSE(AddProcesses(text, recording)) << text;
    EXPECT_FALSE(AddSockets(text, recording)) << text;
  }
  EXPECT_FALSE(AddSockets(std::string(100'000, '['), recording));
  EXPECT_FALSE(AddStack(kNativeStack, RankId(9), recording));
}

TEST(SideFiles, TellsFilesByContent) {
  EXPECT_EQ(KindOf("a/stacks/rank0.txt", kNativeStack), Kind::kStack);
  EXPECT_EQ(KindOf("a/errors/rank0.txt", "(no output)"), Kind::kOutput);
  EXPECT_EQ(KindOf("a/notes/rank0.txt", "(no output)"), Kind::kNone);
  EXPECT_EQ(KindOf("p.json", "{\"0\": {\"pid\": 1, \"threads\": []}}"), Kind::kProcesses);
  EXPECT_EQ(KindOf("n.json", "{\"0\": {\"tcp\": [{\"local\": \"a\"}]}}"), Kind::kSockets);
  EXPECT_EQ(KindOf("truth.json", "{\"verdict\": \"none\"}"), Kind::kNone);
}

}  // namespace
}  // namespace fathom::collector::side_files
