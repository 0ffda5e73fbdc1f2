// NCCL's side of the profiler interface, trap by trap and version by version, against libfathom.so
// in a real process: what the ring tells of it. What each trap does: plugin_traps.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "proto/types/collective_kind.h"
#include "tests/daemon/tracer/preload/victim_run.h"

namespace fathom::tracer_test {
namespace {

using abi::DropReason;
using abi::EventRecord;
using abi::RecordKind;

Outcome Play(const std::string& trap, int version, std::vector<std::string> environment = {}) {
  return RunVictim(trap, std::to_string(version), std::move(environment), "",
                   "tests/plugin_victim");
}

// What the ring tells of an op: "g<slot> <kind>#<sequence> <bytes>", "~" if its end is promised,
// "@<start>" for each start and "<start>-<end>" for each end, by the GPU's clock.
struct Told {
  std::string what;
  bool promised = false;
  std::string starts, ends;

  void Add(const EventRecord& record);
  std::string text() const { return what + (promised ? " ~" : "") + starts + ends; }
};

void Told::Add(const EventRecord& record) {
  switch (static_cast<RecordKind>(record.record_kind)) {
    case RecordKind::kOpEnter:
      what = "g" + std::to_string(record.group_slot) + " " +
             std::string(CollectiveKindName(static_cast<CollectiveKind>(record.collective_kind)));
      if (record.sequence != abi::kNoSequence64) what += "#" + std::to_string(record.sequence);
      what += " " + std::to_string(record.bytes);
      promised = (record.flags & abi::kFlagAsync) != 0;
      return;
    case RecordKind::kOpReturn:
      promised = (record.flags & abi::kFlagAsync) != 0;
      return;
    case RecordKind::kGpuStart:
      starts += " @" + std::to_string(record.extra);
      return;
    case RecordKind::kGpuEnd:
      ends += " " + std::to_string(record.bytes) + "-" + std::to_string(record.extra);
      return;
    default:
      return;
  }
}

std::vector<std::string> OpsOf(MappedRing& ring) {
  std::map<std::uint64_t, Told> ops;  // in the order of their calls
  for (const EventRecord& record : ring.records()) ops[record.op_id].Add(record);
  std::vector<std::string> texts;
  for (const auto& [id, op] : ops) texts.push_back(op.text());
  return texts;
}

std::int64_t InFlight(MappedRing& ring) {
  std::int64_t in_flight = 0;
  for (std::uint32_t i = 0; i < ring.control().group_count.load(); ++i) {
    in_flight +=
        static_cast<std::int64_t>(ring.group(i).entered.load() - ring.group(i).completed.load());
  }
  return in_flight;
}

// Version 3 has no clock.
std::string Untimed(const std::string& text) {
  const std::string no_start = std::regex_replace(text, std::regex("@\\d+"), "@0");
  return std::regex_replace(no_start, std::regex(" \\d+-\\d+"), " 0-0");
}

struct Row {
  const char* trap;
  std::vector<int> versions;
  std::vector<std::string> ops;
  std::int64_t in_flight = 0;
  std::uint64_t unmatched = 0;
};

const std::vector<int> kAll = {3, 4, 5, 6};
const std::string kPlain = "g0 all_reduce#0 4096 ~ @100 100-200";

const Row kRows[] = {
    // NCCL's stop of a launched op means that it was enqueued.
    {"enqueued", kAll, {"g0 all_reduce#0 4096 ~"}, 1},
    {"one_channel", kAll, {kPlain}},
    {"two_of_three_stop", kAll, {"g0 all_reduce#0 4096 ~ @100"}, 1},
    {"three_of_three_stop", kAll, {"g0 all_reduce#0 4096 ~ @100 90-300"}},
    // Version 3 knows no number of channels, only an upper bound.
    {"one_of_three_runs", {3}, {kPlain}},
    {"one_of_three_runs", {4, 5, 6}, {"g0 all_reduce#0 4096 ~ @100"}, 1},
    {"message_on_fewer_channels", kAll, {"g0 send 4096 ~ @100 100-200 100-300"}},
    {"sequence_of_nccl",
     kAll,
     {"g0 all_reduce#0 4096 ~", "g0 all_gather#1 4096 ~", "g0 all_reduce#2 4096 ~",
      "g1 all_reduce#0 4096 ~"},
     4},
    // All-gathers and broadcasts come as bytes.
    {"each_kind",
     kAll,
     {"g0 all_gather#0 4096 ~ @100 100-110", "g0 broadcast#1 4096 ~ @200 200-210",
      "g0 reduce_scatter#2 16384 ~ @300 300-310", "g0 reduce#3 4096 ~ @400 400-410",
      "g0 all_reduce#4 4096 ~ @500 500-510"}},
    {"group_by_size",
     kAll,
     {"g0 all_reduce#0 64 ~ @100 100-110", "g0 all_reduce#1 16384 ~ @200 200-210",
      "g0 all_reduce#2 1024 ~ @300 300-310"}},
    {"largest_of_group",
     kAll,
     {"g0 all_reduce#0 64 ~", "g0 all_reduce#1 16384 ~ @200 200-210", "g0 all_reduce#2 1024 ~"},
     2},
    {"group_of_kinds",
     kAll,
     {"g0 all_reduce#0 4096 ~ @100 100-110", "g0 all_gather#1 4096 ~ @200 200-210",
      "g0 send 4096 ~ @300 300-310", "g0 recv 4096 ~ @400 400-410"}},
    // Contexts that are made on another thread are tied by the first event inside a call.
    {"elsewhere", kAll, {kPlain}},
    {"elsewhere_two",
     kAll,
     {"g1 all_reduce#0 32 ~ @100 100-110", "g0 all_reduce#0 64 ~ @200 200-210"}},
    {"elsewhere_group",
     {3, 4},
     {"g0 all_reduce#0 4096", "g0 all_reduce#1 4096 ~ @200 200-210",
      "g0 all_reduce#2 4096 ~ @300 300-310"},
     0,
     1},
    {"elsewhere_group",
     {5, 6},
     {"g0 all_reduce#0 4096 ~ @100 100-110", "g0 all_reduce#1 4096 ~ @200 200-210",
      "g0 all_reduce#2 4096 ~ @300 300-310"}},
    {"unhooked", {3}, {}, 0, 3},
    {"unhooked",
     {4, 5, 6},
     {"g0 all_reduce#0 1024 ~ @100 100-200", "g0 reduce_scatter#1 4096 ~ @100 100-200",
      "g0 all_gather#2 1024 ~ @100 100-200"}},
    {"made_of_messages",
     {5, 6},
     {"g0 all_to_all#0 16384 ~ @100 @120 100-150 120-180",
      "g0 gather#1 4096 ~ @100 @120 100-150 120-180",
      "g0 scatter#2 4096 ~ @100 @120 100-150 120-180"}},
    // Calls that bring no event of their kernels must not look as if they were in flight.
    {"alone", kAll, {"g0 all_reduce#0 4096"}},
    {"symmetric", kAll, {"g0 all_reduce#0 4096", "g0 all_reduce#1 4096", "g0 all_reduce#2 4096"}},
    {"copy_engine", {6}, {"g0 all_gather#0 4096"}},
    {"other_types", kAll, {kPlain}},
    {"not_blocking",
     kAll,
     {"g0 all_reduce#0 64 ~ @100 100-200", "g0 all_reduce#1 128 ~ @100 100-200"}},
    {"stop_without_state", kAll, {"g0 all_reduce#0 4096 ~ @100 100-0"}},
    {"start_at_zero", kAll, {"g0 all_reduce#0 4096 ~ @0 0-200"}},
    {"stop_at_zero", kAll, {"g0 all_reduce#0 4096 ~ @100 100-0"}},
    {"one_starts_at_zero", kAll, {"g0 all_reduce#0 4096 ~ @0 100-200"}},
    {"null_handles", kAll, {kPlain}},
    {"foreign_transfers", kAll, {kPlain}},
    {"own_transfers", kAll, {"g0 all_reduce#0 4096 ~"}, 1, 1},
    {"abort",
     kAll,
     {"g1 all_reduce#0 4096 ~ @100 100-200", "g2 all_reduce#0 32 ~ @300 300-400"},
     0,
     1},
    {"mask_while_making", kAll, {}},
    {"more_contexts_than_places",
     kAll,
     {"g1 all_reduce#0 32", "g0 all_reduce#0 64 ~ @100 100-200",
      "g2 all_reduce#0 128 ~ @300 300-400"}},
};

struct Case {
  const Row* row;
  int version;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Row& row : kRows) {
    for (const int version : row.versions) cases.push_back({&row, version});
  }
  return cases;
}

class PluginTrapTest : public testing::TestWithParam<Case> {};

TEST_P(PluginTrapTest, IsTold) {
  const auto& [row, version] = GetParam();
  Outcome run = Play(row->trap, version);
  EXPECT_EQ(run.code, 0) << run.output;
  ASSERT_TRUE(run.ring);
  std::vector<std::string> expected = row->ops;
  if (version == 3) std::transform(expected.begin(), expected.end(), expected.begin(), Untimed);
  EXPECT_EQ(OpsOf(*run.ring), expected);
  EXPECT_EQ(InFlight(*run.ring), row->in_flight);
  for (int reason = 0; reason < static_cast<int>(abi::kDropReasons); ++reason) {
    const bool is_unmatched = reason == static_cast<int>(DropReason::kPluginUnmatched);
    EXPECT_EQ(run.ring->control().drops[reason].load(), is_unmatched ? row->unmatched : 0)
        << reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, PluginTrapTest, testing::ValuesIn(Cases()),
                         [](const auto& test) {
                           return std::string(test.param.row->trap) + "_v" +
                                  std::to_string(test.param.version);
                         });

// Traps of many ops.
class PluginVersionTest : public testing::TestWithParam<int> {
 protected:
  void Run(const std::string& trap) {
    run_ = Play(trap, GetParam());
    EXPECT_EQ(run_.code, 0) << run_.output;
    ASSERT_TRUE(run_.ring);
    ops_ = OpsOf(*run_.ring);
  }
  // The `i`-th op of the first group is told as `what`, which follows its number.
  void ExpectOp(std::size_t i, const std::string& what) const {
    const std::string text = "g0 all_reduce#" + std::to_string(i) + " " + what;
    ASSERT_LT(i, ops_.size());
    EXPECT_EQ(ops_[i], GetParam() == 3 ? Untimed(text) : text);
  }
  std::uint64_t unmatched() const { return run_.ring->drops(DropReason::kPluginUnmatched); }

  Outcome run_;
  std::vector<std::string> ops_;
};

TEST_P(PluginVersionTest, LostStopsLeakNothing) {
  Run("lost_stops");
  ASSERT_EQ(ops_.size(), 2068u);
  for (std::size_t i = 0; i < 2048; ++i) ExpectOp(i, "4096 ~ @7000000000");
  for (std::size_t i = 2048; i < 2058; ++i) ExpectOp(i, "32 ~ @100 100-200");
  for (std::size_t i = 2058; i < 2068; ++i) ExpectOp(i, "64 ~ @300 300-400");
  EXPECT_EQ(InFlight(*run_.ring), 2048);
  EXPECT_EQ(unmatched(), 20u) << "late stops, late starts";
}

TEST_P(PluginVersionTest, StartsOnOneThreadAndStopsOnAnother) {
  Run("stop_on_another_thread");
  ASSERT_EQ(ops_.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) ExpectOp(i, "4096 ~ @100 100-200");
  EXPECT_EQ(InFlight(*run_.ring), 0);
}

TEST_P(PluginVersionTest, ChannelsOfAnOpOnSeveralThreads) {
  Run("channels_of_many_threads");
  ASSERT_EQ(ops_.size(), 400u);
  // Any may be the first. Version 3 ends an op whenever no channel of it runs.
  const char* times = GetParam() == 3 ? "@0( 0-0)+" : "@10[1-4] 101-203";
  for (const std::string& op : ops_) {
    EXPECT_THAT(op, testing::MatchesRegex(std::string("g0 all_reduce#[0-9]+ 4096 ~ ") + times));
  }
  EXPECT_EQ(InFlight(*run_.ring), 0);
}

// Calls that bring no event are not promised an end, the next one that brings some is.
TEST_P(PluginVersionTest, SilenceThenEvents) {
  Run("symmetric_then_channels");
  ASSERT_EQ(ops_.size(), 72u);
  for (std::size_t i = 0; i < 70; ++i) ExpectOp(i, "4096");
  ExpectOp(70, "4096 ~ @100 100-200");
  ExpectOp(71, "4096 ~ @300 300-400");
  EXPECT_EQ(InFlight(*run_.ring), 0);
}

// The agent may ask for some events alone.
TEST_P(PluginVersionTest, NoEndIsPromisedWithoutTheEventsOfKernels) {
  for (const char* trap : {"events_without_kernels", "elsewhere_events_without_kernels"}) {
    VictimRun run(trap, std::to_string(GetParam()), {}, "", "tests/plugin_victim");
    ASSERT_TRUE(run.WaitFor("ready"));
    MappedRing ring(run.Rings().front());
    ring.control().plugin_mask.store(abi::kPluginMaskSet | 2 | 4);
    run.Go();
    EXPECT_EQ(run.Finish(), 0) << run.output();
    EXPECT_THAT(OpsOf(ring), testing::ElementsAre("g0 all_reduce#0 4096", "g0 all_reduce#1 4096",
                                                  "g0 all_reduce#2 32", "g1 all_reduce#0 4096"));
    EXPECT_EQ(InFlight(ring), 0);
  }
}

// Inside a group it cannot be seen whether a call brought an event, until many did not.
TEST_P(PluginVersionTest, SilentGroups) {
  Run("symmetric_groups");
  ASSERT_EQ(ops_.size(), 70u);
  for (std::size_t i = 0; i < 64; ++i) ExpectOp(i, "4096 ~");
  for (std::size_t i = 64; i < 70; ++i) ExpectOp(i, "4096");
  EXPECT_EQ(InFlight(*run_.ring), 64);
}

// Versions 3 and 4 hold 64 calls until their events come.
TEST_P(PluginVersionTest, AGroupOfMoreCallsThanAreHeld) {
  Run("group_of_many");
  const std::size_t lost = GetParam() < 5 ? 6 : 0;
  ASSERT_EQ(ops_.size(), 70u);
  for (std::size_t i = 0; i < 70; ++i) ExpectOp(i, i < lost ? "4096 ~" : "4096 ~ @100 100-200");
  EXPECT_EQ(InFlight(*run_.ring), static_cast<std::int64_t>(lost));
  EXPECT_EQ(unmatched(), lost);
}

TEST_P(PluginVersionTest, OffMeansNoContextNoEventsAndNoHarm) {
  for (const char* setting : {"FATHOM_DISABLE=1", "FATHOM_SHM_DIR=/nonexistent/fathom",
                              "FATHOM_TRACE=nothing", "FATHOM_TRACE=gloo"}) {
    const Outcome run = Play("off", GetParam(), {setting});
    EXPECT_EQ(run.code, 0) << setting << "\n" << run.output;
    const bool other_source = std::string(setting) == "FATHOM_TRACE=gloo";
    EXPECT_EQ(run.ring != nullptr, other_source) << setting;
    EXPECT_EQ(run.ring == nullptr ? 0 : run.ring->control().head.load(), 0u) << setting;
  }
}

TEST_P(PluginVersionTest, AsksForWhatItReads) {
  const int all = GetParam() == 3 ? 2 + 4 + 64 + 8 : 2 + 4 + 64 + 8 + 16;
  const std::pair<const char*, int> rows[] = {
      {"STAGE_NCCL_VERSION=22809", all}, {"FATHOM_NCCL_TRANSFERS=0", 2 + 4 + 64},
      {"STAGE_NCCL_VERSION=23007", all}, {"STAGE_NCCL_VERSION=23100", 0},
      {"STAGE_NCCL_VERSION=23199", 0},   {"STAGE_NCCL_VERSION=23200", all}};
  for (const auto& [setting, mask] : rows) {
    const Outcome run = Play("mask", GetParam(), {setting});
    EXPECT_THAT(run.output, testing::HasSubstr("mask " + std::to_string(mask) + "\n")) << setting;
    ASSERT_TRUE(run.ring);
    const bool promised = (run.ring->records().at(0).flags & abi::kFlagAsync) != 0;
    EXPECT_EQ(promised, mask != 0) << setting;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, PluginVersionTest, testing::Values(3, 4, 5, 6),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace fathom::tracer_test
