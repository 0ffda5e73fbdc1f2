#include "collector/import/flight_recorder/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fathom::collector::flight_recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using std::string_literals::operator""s;

constexpr char kJson[] = R"({"version": "2.9",
  "pg_config": {"7": {"name": "7", "desc": "PIPELINE", "ranks": "[4, 12]"},
                "8": {"name": "8", "desc": "ODD", "ranks": "4-12"}},
  "pg_status": {"3": {"last_enqueued_collective": 31, "last_completed_collective": 30},
                "x": {"last_enqueued_collective": 1}},
  "entries": [
    {"record_id": 9, "pg_id": 3, "process_group": ["7", "PIPELINE"], "collective_seq_id": 29,
     "p2p_seq_id": 2, "op_id": 31, "profiling_name": "nccl:recv 0<-1", "time_created_ns": 5,
     "input_sizes": [[2048, 1, 5120], [3]], "input_dtypes": ["BFloat16", "Long"],
     "state": "scheduled", "retired": false, "timeout_ms": 600000, "is_p2p": true},
    {"record_id": 8, "pg_id": 3, "process_group": ["7", "PIPELINE"], "collective_seq_id": 29,
     "op_id": 29, "profiling_name": "nccl:_all_gather_base", "state": "completed"},
    {"record_id": 10}, 17]})";

TEST(Dump, ReadsFieldsOfTheJsonForm) {
  const auto dump = ReadDump(kJson);
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(dump->version, "2.9");
  ASSERT_EQ(dump->groups.size(), 2U);
  EXPECT_THAT(dump->groups[0].ranks, ElementsAre(4, 12));
  EXPECT_THAT(dump->groups[1].ranks, IsEmpty());
  ASSERT_EQ(dump->status.size(), 1U);
  EXPECT_EQ(dump->status[0].enqueued, 31);
  EXPECT_EQ(dump->entries_skipped, 2U);
  ASSERT_EQ(dump->entries.size(), 2U);
  EXPECT_EQ(dump->entries[0].record_id, 8) << "oldest first";
}

// As dump_json() of PyTorch writes it: counts as text, and 0 for a time that is not known.
TEST(Dump, ReadsCountsAndTimesOfTheJsonForm) {
  const auto dump = ReadDump(R"({"version": "2.9", "nccl_version": "2.26.6",
  "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
  "pg_status": {"0": {"last_enqueued_collective": "31", "last_started_collective": "30",
                      "last_completed_collective": "-1"}},
  "entries": [
    {"record_id": 1, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 30,
     "op_id": 30, "profiling_name": "nccl:all_reduce", "state": "started", "retired": false,
     "time_discovered_started_ns": 7, "time_discovered_completed_ns": 0, "is_p2p": false},
    {"record_id": 2, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 31,
     "op_id": 31, "profiling_name": "nccl:all_reduce", "state": "scheduled", "retired": false,
     "time_discovered_started_ns": 0, "time_discovered_completed_ns": 0, "is_p2p": false}]})");
  ASSERT_TRUE(dump.ok()) << dump.status();
  ASSERT_EQ(dump->status.size(), 1U);
  EXPECT_EQ(dump->status[0].enqueued, 31);
  EXPECT_EQ(dump->status[0].completed, -1);
  ASSERT_EQ(dump->entries.size(), 2U);
  EXPECT_TRUE(dump->entries[0].started);
  EXPECT_FALSE(dump->entries[1].started);
  EXPECT_TRUE(dump->entries[1].open);
}

TEST(Dump, ReadsAPointToPointEntry) {
  const DumpEntry entry = ReadDump(kJson)->entries[1];
  EXPECT_TRUE(entry.is_p2p);
  EXPECT_EQ(entry.kind, CollectiveKind::kRecv);
  EXPECT_EQ(entry.p2p_src, 1U);
  EXPECT_EQ(entry.p2p_dst, 0U);
  EXPECT_EQ(entry.elements, 2048U * 5120U + 3U);
  EXPECT_EQ(entry.data_type, DataType::kBFloat16);
  EXPECT_TRUE(entry.open);
}

TEST(Dump, WithoutRetiredTheStateTellsWhatIsOpen) {
  EXPECT_FALSE(ReadDump(kJson)->entries[0].open);
}

TEST(Dump, KeepsTheEntriesBeforeABreak) {
  const std::string json(kJson);
  const auto dump = ReadDump(json.substr(0, json.find("{\"record_id\": 10")));
  ASSERT_TRUE(dump.ok());
  EXPECT_TRUE(dump->cut);
  EXPECT_EQ(dump->entries.size(), 2U);
  ASSERT_EQ(dump->notes.size(), 1U);
  EXPECT_THAT(dump->notes[0], HasSubstr("offset"));
}

TEST(Dump, RefusesWhatIsNoDump) {
  for (const std::string text : {"", "[]", "{}", "{\"traceEvents\": []}", "hello", "\x80\x02]."}) {
    EXPECT_EQ(ReadDump(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Dump, SurvivesFieldsOfTheWrongType) {
  const auto dump = ReadDump(
      R"({"pg_config": 3, "pg_status": {"0": 4}, "entries": [{"profiling_name": "nccl:broadcast",
          "process_group": ["0"], "pg_id": 1, "input_sizes": [7, [[-3]]], "input_dtypes": [3],
          "record_id": "a", "time_created_ns": -5, "retired": "no"}]})");
  ASSERT_TRUE(dump.ok());
  ASSERT_EQ(dump->entries.size(), 1U);
  EXPECT_EQ(dump->entries[0].created_ns, 0);
  EXPECT_EQ(dump->entries[0].data_type, DataType::kUnknown);
}

TEST(Dump, SaturatesAbsurdSizes) {
  const auto dump = ReadDump(
      R"({"entries": [{"profiling_name": "nccl:all_reduce", "pg_id": 0,
          "input_sizes": [[9223372036854775807, 9223372036854775807]]}]})");
  EXPECT_EQ(dump->entries[0].elements, UINT64_MAX);
}

TEST(Dump, BoundsTheDepthOfJson) {
  std::string deep = "{\"entries\": ";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_EQ(ReadDump(deep).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Dump, RecognisesDumpsOnly) {
  EXPECT_TRUE(LooksLikeDump(kJson));
  EXPECT_TRUE(LooksLikeDump("\x80\x02}q\x00(X\x07\x00\x00\x00versionX\x09\x00\x00\x00pg_config"s));
  EXPECT_FALSE(LooksLikeDump("{\"traceEvents\": [{\"pg_config\": 1, \"entries\": 2}]}"));
  EXPECT_FALSE(LooksLikeDump("{\"entries\": 1}"));
  EXPECT_FALSE(LooksLikeDump(""));
}

TEST(Dump, KnowsTheNamesOfOps) {
  EXPECT_EQ(KindOfProfilingName("nccl:all_reduce"), CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfProfilingName("nccl:all_reduce_barrier"), CollectiveKind::kBarrier);
  EXPECT_EQ(KindOfProfilingName("nccl:_reduce_scatter_base"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(KindOfProfilingName("nccl:all_gather_into_tensor_coalesced"),
            CollectiveKind::kAllGather);
  EXPECT_EQ(KindOfProfilingName("nccl:all_to_allv"), CollectiveKind::kAllToAll);
  EXPECT_EQ(KindOfProfilingName("nccl:reduce"), CollectiveKind::kReduce);
  EXPECT_EQ(KindOfProfilingName("gloo:recvAnySource"), CollectiveKind::kRecv);
  EXPECT_EQ(KindOfProfilingName("nccl:coalesced"), CollectiveKind::kUnknown);
}

std::string Message(int id, int number, const char* ends, const char* state, bool retired) {
  return R"({"record_id": )" + std::to_string(id) +
         R"(, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 4,
             "p2p_seq_id": )" +
         std::to_string(number) + R"(, "profiling_name": "nccl:)" + ends + R"(", "state": ")" +
         state + R"(", "retired": )" + (retired ? "true" : "false") + R"(, "is_p2p": true},)";
}

Dump WithEntries(std::string entries) {
  entries.pop_back();  // the comma behind the last
  auto dump = ReadDump(R"({"version": "2.9", "entries": [)" + entries + "]}");
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump{};
}

TEST(Dump, PartsOfABatchTakeTheStateOfTheEntryThatClosesIt) {
  const Dump dump = WithEntries(Message(3, 7, "send 0->1", "scheduled", false) +
                                Message(4, 7, "recv 0<-1", "scheduled", false) +
                                Message(5, 7, "coalesced", "completed", true) +
                                Message(6, 8, "send 0->1", "scheduled", false) +
                                Message(7, 8, "coalesced", "started", false) +
                                Message(8, 9, "recv 0<-1", "scheduled", false));
  ASSERT_EQ(dump.entries.size(), 4U);
  EXPECT_FALSE(dump.entries[0].open);
  EXPECT_TRUE(dump.entries[1].completed);
  EXPECT_TRUE(dump.entries[2].open);
  EXPECT_TRUE(dump.entries[2].started);
  EXPECT_TRUE(dump.entries[3].open) << "nothing closes it";
}

TEST(Dump, AMessageOfItsOwnBeforeABatchKeepsItsState) {
  const Dump dump = WithEntries(Message(3, 6, "recv 0<-2", "completed", true) +
                                Message(4, 7, "recv 0<-2", "scheduled", false) +
                                Message(5, 8, "send 0->1", "scheduled", false) +
                                Message(6, 8, "coalesced", "completed", true));
  ASSERT_EQ(dump.entries.size(), 3U);
  EXPECT_TRUE(dump.entries[1].open) << "number 7 is not of batch 8";
  EXPECT_FALSE(dump.entries[2].open);
}

TEST(Dump, OfOpenOpsAloneMessagesThatStandThereAgainAndAgainAreParts) {
  std::string ahead;
  for (int i = 1; i < 16; ++i) ahead += Message(3 * i, i, "send 0->1", "scheduled", false);
  EXPECT_EQ(WithEntries(ahead).entries.size(), 15U) << "enqueued ahead";
  const Dump parts = WithEntries(ahead + Message(60, 60, "send 0->1", "scheduled", false));
  EXPECT_THAT(parts.entries, IsEmpty());
  EXPECT_THAT(parts.notes, ElementsAre(HasSubstr("batches")));
}

TEST(Dump, TheCallSiteIsTheInnermostFrameOfTheProgram) {
  const auto site = [](const std::string& frames) {
    return WithEntries(R"({"record_id": 1, "pg_id": 0, "profiling_name": "gloo:barrier",
                           "frames": )" +
                       frames + "},")
        .entries.at(0)
        .site;
  };
  EXPECT_EQ(
      site(R"([{"name": "wrapper", "filename": "torch/distributed/c10d_logger.py", "line": 83},
                     {"name": "wait", "filename": "/v/site-packages/torch/nn/x.py", "line": 1},
                     {"name": "sync", "filename": "/home/torch/train.py", "line": 175},
                     {"name": "main", "filename": "train.py", "line": 9}])"),
      "sync (/home/torch/train.py:175)");
  EXPECT_EQ(site(R"([{"name": "wrapper", "filename": "torch/distributed/x.py", "line": 83}])"), "");
  EXPECT_EQ(site("[]"), "");
  EXPECT_EQ(site(R"([17, {"name": 3}, {"filename": "a.py"}])"), " (a.py:0)");
  EXPECT_EQ(site(R"([{"name": "f", "filename": ")" + std::string(500, 'x') + R"("}])").size(),
            126U);
}

}  // namespace
}  // namespace fathom::collector::flight_recorder
