#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "fathom/v1/recording.pb.h"
#include "proto/types/recording_format.h"
#include "tests/daemon/agent/agent_fixture.h"

namespace fathom::agent {
namespace {

TEST_F(AgentTest, TellsWhoTakesPartAndSummarises) {
  Process(10, 0);
  Process(11, 1);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(300 * kMs);
  EXPECT_TRUE(Got([](const auto& m) { return m.has_rank() && m.rank().rank() == 1; }));
  EXPECT_TRUE(Got([](const auto& m) { return m.has_group() && m.group().members_size() == 2; }));
  std::set<std::pair<std::uint32_t, std::int64_t>> iterations;
  ASSERT_TRUE(collector_.WaitFor([&](const Messages& messages) {
    for (const auto& m : messages) {
      for (int i = 0; i < m.summary().duration_us_size(); ++i) {
        iterations.emplace(m.summary().rank(), m.summary().first_iteration() + i);
      }
    }
    return iterations.size() >= 60;
  }));
  EXPECT_EQ(iterations.size(), 60u);
}

// The newest that was told of rank 0.
std::string GpuOf(const Messages& messages) {
  std::string told = "nothing";
  for (const auto& m : messages) {
    if (!m.has_rank()) continue;
    const v1::Gpu& gpu = m.rank().gpu();
    told = m.rank().has_gpu() ? gpu.bus_id() + " " + std::to_string(gpu.number()) + " " + gpu.uuid()
                              : "none";
  }
  return told;
}

TEST_F(AgentTest, TellsWhichGpuARankDrives) {
  RingWriter& ring = Process(10, 0);
  const auto put = [&](std::uint16_t slot, std::uint32_t device, const char* bus_id) {
    ring.group(slot).backend = abi::kSourceNccl;
    std::memcpy(ring.group(slot).bus_id, bus_id, std::strlen(bus_id));
    ring.group(slot).device.store(device);
  };
  const auto told = [&](const std::string& wanted) {
    return collector_.WaitFor([&](const Messages& all) { return GpuOf(all) == wanted; });
  };
  ring.group(0).backend = abi::kSourceNccl;
  const std::string uuid = "GPU-5a3f2c1e-0d4b-6a7c-8e9f-001122334455";
  const std::string driver = folder_.path() + "/proc/driver/nvidia/gpus/0000:1b:00.0";
  std::filesystem::create_directories(driver);
  std::ofstream(driver + "/information") << "GPU UUID: \t " << uuid << "\n";
  StartAgent();
  ASSERT_TRUE(Connected());
  Advance(300 * kMs);
  ASSERT_TRUE(told("none"));
  put(0, 3, "0000:1B:00.0");  // told late
  Advance(1000 * kMs);
  Advance(300 * kMs);
  EXPECT_TRUE(told("0000:1B:00.0 2 " + uuid)) << GpuOf(collector_.messages());
  put(ring.AddGroup("1", 2, 0), 4, "0000:1C:00.0");
  Advance(300 * kMs);
  EXPECT_TRUE(told("none")) << "it drives several: " << GpuOf(collector_.messages());
}

TEST_F(AgentTest, SummaryColumnsHaveOneLengthAndTheRightValues) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(300 * kMs);
  ASSERT_TRUE(Got([](const auto& m) { return m.summary().duration_us_size() > 10; }));
  for (const auto& m : collector_.messages()) {
    if (!m.has_summary()) continue;
    const v1::SummaryBatch& s = m.summary();
    const int n = s.duration_us_size();
    for (const int size :
         {s.anchor_step_size(), s.cpu_us_size(), s.runqueue_us_size(), s.blocked_us_size(),
          s.gc_us_size(), s.dataloader_us_size(), s.op_count_size(), s.groups(0).count_size(),
          s.groups(0).elapsed_us_size(), s.groups(0).first_us_size()}) {
      EXPECT_EQ(size, n);
    }
    EXPECT_EQ(s.mono_to_wall_ns(), 5000 * kMs);
    EXPECT_EQ(s.anchor_step(0), n == 1 ? 0 : 2);
    EXPECT_EQ(s.duration_us(n - 1), 100'000u);
    EXPECT_EQ(s.groups(0).elapsed_us(n - 1), 40'000u);
    EXPECT_EQ(s.op_count(n - 1), 2u);
  }
}

TEST_F(AgentTest, ASilentRankTellsItsOpenOps) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  TrainStep(true);
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  ASSERT_TRUE(Got([](const auto& m) {
    return m.health().ranks_size() > 0 && m.health().ranks(0).open_ops_size() > 0;
  }));
  for (const auto& m : collector_.messages()) {
    if (m.health().ranks_size() == 0 || m.health().ranks(0).open_ops_size() == 0) continue;
    const v1::RankHealth& rank = m.health().ranks(0);
    EXPECT_GT(rank.last_event_age_ns(), 2000 * kMs);
    EXPECT_EQ(rank.open_ops(0).sequence(), 61u);
    EXPECT_TRUE(rank.open_ops(0).started());
    EXPECT_GT(rank.open_ops(0).age_ns(), 2000 * kMs);
    EXPECT_EQ(rank.groups_size(), 1);
    EXPECT_EQ(rank.state(), "S");
    EXPECT_EQ(rank.typical_iteration_ns(), 100 * kMs);
  }
}

TEST_F(AgentTest, ARankThatIsStuckTellsHowFarItsTransfersAreAndSinceWhen) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  TrainStep(true);
  const auto put = [&](std::uint32_t place, std::uint64_t op, std::uint32_t done) {
    abi::TransferSlot& slot = ring.transfer(place);
    slot.turn = 1;
    slot.op_id = op;
    slot.peer = 1;
    slot.sends = 1;
    slot.steps = slot.posted = slot.gpu = 6;
    slot.moved = 4;
    slot.done = done;
  };
  const std::uint64_t stuck = ring.NewOpId() - 1;
  put(0, stuck, 2);
  put(1, stuck - 1, 2);  // of an op that is over
  put(2, stuck, 5);      // more confirmed than taken: not what it seems
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  ring.transfer(0).done = 3;
  for (int second = 0; second < 3; ++second) Advance(1000 * kMs);
  const auto told = [](const v1::AgentMessage& m) {
    if (m.health().ranks_size() == 0 || m.health().ranks(0).transfers_size() != 1) return false;
    const v1::Transfer& t = m.health().ranks(0).transfers(0);
    return t.sequence() == 61 && t.peer() == 1 && t.sends() && t.moved() == 4 && t.done() == 3 &&
           t.still_ns() == 2000 * kMs;
  };
  ASSERT_TRUE(Got(told)) << "2 s after the look that saw the third step";
}

// destroy_process_group() and init_process_group() again: the same members and name, so the same
// communicator, whose count begins anew.
TEST_F(AgentTest, ACommunicatorThatWasRebuiltCountsAnew) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  ring.group(0).entered = 60;
  const std::uint16_t again = ring.AddGroup("0", 2, 0, {0, 1});
  ring.group(again).entered = 1;
  WriteOp(ring, {.op_id = ring.NewOpId(), .group = again, .enter_ns = now_, .end_ns = 0});
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  ASSERT_TRUE(StepUntil([](const auto& m) {
    return m.health().ranks_size() > 0 && m.health().ranks(0).open_ops_size() > 0;
  }));
  const v1::RankHealth rank = collector_.messages().back().health().ranks(0);
  ASSERT_EQ(rank.groups_size(), 1);
  EXPECT_EQ(rank.groups(0).group(), rank.open_ops(0).group());
  EXPECT_EQ(rank.groups(0).entered(), 1u);
}

// Of what the rank was in when its communicator was aborted no end is ever told.
TEST_F(AgentTest, WhatWasInFlightEndsWithItsCommunicatorAndNotBefore) {
  RingWriter& ring = Process(10, 0);
  const std::uint16_t slot = ring.AddGroup("1", 2, 0, {0, 1});
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  WriteOp(ring, {.op_id = ring.NewOpId(), .group = slot, .enter_ns = now_, .end_ns = 0});
  ring.group(slot).state.store(3);
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  const auto open = [](int ops) {
    return [ops](const v1::AgentMessage& m) {
      return m.health().ranks_size() > 0 && m.health().ranks(0).last_event_age_ns() > 3000 * kMs &&
             m.health().ranks(0).open_ops_size() == ops;
    };
  };
  ASSERT_TRUE(Got(open(1))) << "it hangs in the call that aborts";
  ring.group(slot).stopped_ns.store(static_cast<std::uint64_t>(now_.load()));
  Advance(1000 * kMs);
  EXPECT_TRUE(Got(open(0)));
}

// Beside the training a thread beats on a communicator of its own, also while the training hangs.
TEST_F(AgentTest, AHeartbeatDoesNotMakeAHungRankLookAlive) {
  RingWriter& ring = Process(10, 0);
  const std::uint16_t slot = ring.AddGroup("1", 2, 0, {0, 1});
  StartAgent();
  std::uint64_t beats = 0;
  const auto beat = [&] {
    WriteOp(ring, {.op_id = ring.NewOpId(),
                   .group = slot,
                   .sequence = beats++,
                   .bytes = 8,
                   .enter_ns = now_,
                   .end_ns = now_ + kMs,
                   .thread = 9});
  };
  for (int i = 0; i < 30; ++i) {
    beat();
    TrainStep();
  }
  TrainStep(true);
  ASSERT_TRUE(Connected());
  for (int tick = 0; tick < 20; ++tick) {
    beat();
    Advance(200 * kMs);
  }
  ASSERT_TRUE(Got([](const auto& m) {
    if (m.health().ranks_size() == 0) return false;
    const v1::RankHealth& rank = m.health().ranks(0);
    return rank.last_event_age_ns() > 2000 * kMs && rank.open_ops_size() > 0 &&
           rank.open_ops_size() == 1 && rank.open_ops(0).sequence() == 61;
  }));
}

// Where the training is in no op, it may wait for the thread that is stuck.
TEST_F(AgentTest, AThreadBesideIsToldOfWhereItIsStuckAndTheTrainingIsInNoOp) {
  RingWriter& ring = Process(10, 0);
  const std::uint16_t slot = ring.AddGroup("1", 2, 0, {0, 1});
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  WriteOp(ring, {.op_id = ring.NewOpId(),
                 .group = slot,
                 .sequence = 77,
                 .bytes = 8,
                 .enter_ns = now_,
                 .end_ns = 0,
                 .thread = 9});
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  EXPECT_TRUE(Got([](const auto& m) {
    return m.health().ranks_size() > 0 && m.health().ranks(0).open_ops_size() == 1 &&
           m.health().ranks(0).open_ops(0).sequence() == 77;
  }));
}

// Twelve steps of 20 ms do not last long enough to be believed while the job runs.
TEST_F(AgentTest, AJobThatHangsEarlyHasIterationsAllTheSame) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  for (int i = 0; i < 12; ++i) {
    for (const std::uint64_t bytes : {1u << 20, 4u}) {
      WriteOp(ring, {.op_id = ring.NewOpId(),
                     .sequence = sequence_++,
                     .bytes = bytes,
                     .enter_ns = now_,
                     .end_ns = now_ + 5 * kMs});
      Advance(10 * kMs);
    }
  }
  ASSERT_TRUE(Connected());
  for (int second = 0; second < 5; ++second) Advance(1000 * kMs);
  EXPECT_TRUE(Got([](const auto& m) { return m.summary().duration_us_size() == 12; }));
}

TEST_F(AgentTest, NoticesDeathAndRemovesTheRing) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  TrainStep();
  ring.WriteHalf();
  ring.Write(RecordOf({.op_id = 99}, abi::RecordKind::kOpEnter, now_));
  Live(10, false);
  Advance(300 * kMs);
  ASSERT_TRUE(Got([](const auto& m) { return m.gone().how() == "vanished"; }));
  EXPECT_FALSE(std::filesystem::exists(ring.path()));
  EXPECT_EQ(agent_->sessions(), 0u);
  Advance(1000 * kMs);
  EXPECT_EQ(agent_->totals().records, 13u);
  EXPECT_EQ(agent_->totals().records_dropped.at("torn"), 1u);
}

TEST_F(AgentTest, AnOrderlyExitIsSaid) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  Advance(300 * kMs);
  ring.control().exiting.store(1);
  Live(10, false);
  Advance(300 * kMs);
  EXPECT_TRUE(Got([](const auto& m) { return m.gone().how() == "exited" && m.gone().orderly(); }));
}

// The agent was away when it ended, and started anew: the process was never seen.
TEST_F(AgentTest, WhoEndedInOrderBeforeTheAgentStartedIsSaidToHaveExited) {
  RingWriter& ring = Process(10, 0);
  ring.control().exiting.store(1);
  Live(10, false);
  StartAgent();
  for (int second = 0; second < 4; ++second) Advance(1000 * kMs);
  EXPECT_TRUE(Got([](const auto& m) { return m.gone().how() == "exited" && m.gone().orderly(); }));
  EXPECT_EQ(agent_->sessions(), 0u);
  EXPECT_FALSE(std::filesystem::exists(ring.path()));
}

TEST_F(AgentTest, AfterAnExecTheOldRingIsLetGo) {
  RingWriter& old = Process(10, 0);
  StartAgent();
  Advance(300 * kMs);
  rings_.push_back(std::make_unique<RingWriter>(
      shm(), fakes::RingOptions{.pid = 10, .generation = 1, .start_time_ticks = 22}));
  Advance(300 * kMs);
  Advance(300 * kMs);
  EXPECT_EQ(agent_->sessions(), 1u);
  EXPECT_FALSE(std::filesystem::exists(old.path()));
}

TEST_F(AgentTest, ATruncatedRingDoesNotStopTheOthers) {
  RingWriter& bad = Process(10, 0);
  Process(11, 1);
  StartAgent();
  TrainStep();
  bad.Truncate(abi::kPageBytes);
  rings_.erase(rings_.begin());
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(300 * kMs);
  EXPECT_TRUE(Got([](const auto& m) { return m.summary().rank() == 1; }));
}

TEST_F(AgentTest, GarbageInTheFolderIsCounted) {
  std::ofstream(shm() + "/77-0.ring") << std::string(1 << 20, '\7');
  StartAgent();
  Advance(1000 * kMs);
  EXPECT_EQ(agent_->totals().rings_rejected, 1u);
}

TEST_F(AgentTest, AVanishedRingIsLetGo) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  TrainStep();
  std::filesystem::remove(ring.path());
  Advance(300 * kMs);
  EXPECT_EQ(agent_->sessions(), 0u);
  EXPECT_TRUE(Got([](const auto& m) { return m.has_gone(); }));
}

TEST_F(AgentTest, ARankThatTheLauncherDidNotGiveComesFromTheFirstGroup) {
  Live(10, true);
  rings_.push_back(std::make_unique<RingWriter>(
      shm(), fakes::RingOptions{
                 .pid = 10, .start_time_ticks = 22, .rank = abi::kNoPeer, .world_size = 0}));
  StartAgent();
  Advance(300 * kMs);
  rings_[0]->AddGroup("", 4, 3);
  Advance(300 * kMs);
  EXPECT_TRUE(
      Got([](const auto& m) { return m.rank().rank() == 3 && m.rank().world_size() == 4; }));
}

TEST_F(AgentTest, TwoProcessesThatAreEachAloneAreTwoJobs) {
  for (const std::uint32_t pid : {10u, 11u}) {
    Live(pid, true);
    rings_.push_back(std::make_unique<RingWriter>(
        shm(), fakes::RingOptions{
                   .pid = pid, .start_time_ticks = 22, .rank = abi::kNoPeer, .world_size = 0}));
  }
  StartAgent();
  Advance(300 * kMs);
  for (auto& ring : rings_) {
    ring->AddGroup("optimizer", 1, 0, {0});
    Advance(300 * kMs);
  }
  EXPECT_TRUE(Got([](const auto& m) { return m.rank().job() == "job" && m.rank().pid() == 10; }));
  EXPECT_TRUE(
      Got([](const auto& m) { return m.rank().job() == "job-11" && m.rank().pid() == 11; }));
}

TEST_F(AgentTest, WritesTheHeartbeatThatTheTracerWaitsFor) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  Advance(300 * kMs);
  EXPECT_GT(ring.control().agent_heartbeat_ns.load(), 0u);
}

// All entries of the one recording in the folder.
std::vector<v1::RecordingEntry> Recorded(const std::string& folder) {
  std::vector<v1::RecordingEntry> entries;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::string_view rest = bytes;
    while (!rest.empty()) {
      EXPECT_TRUE(rest.starts_with(kRecordingMagic));
      const RecordingBlockSize size = FromHeader(rest);
      std::string raw(size.raw, '\0');
      rest.remove_prefix(kRecordingHeaderBytes);
      EXPECT_EQ(ZSTD_decompress(raw.data(), raw.size(), rest.data(), size.stored), raw.size());
      rest.remove_prefix(size.stored);
      v1::RecordingBlock block;
      EXPECT_TRUE(block.ParseFromString(raw));
      entries.insert(entries.end(), block.entries().begin(), block.entries().end());
    }
  }
  return entries;
}

TEST_F(AgentTest, RecordsWhatItSaysAndEveryOpOnce) {
  settings_.record = folder_.path() + "/recording";
  Process(10, 0);
  Process(11, 1);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep(i == 29);
  Advance(300 * kMs);
  Live(11, false);
  Advance(300 * kMs);
  agent_->Drain();
  std::map<std::uint32_t, std::map<std::uint64_t, int>> seen;  // by rank and sequence
  std::set<int> bodies;
  std::int64_t newest = 0, in_flight = 0;
  for (const v1::RecordingEntry& entry : Recorded(settings_.record)) {
    EXPECT_GE(entry.wall_ns(), newest);
    newest = entry.wall_ns();
    EXPECT_EQ(entry.wall_ns() - entry.mono_ns(), 5000 * kMs);
    bodies.insert(entry.message().body_case());
    for (const auto& rank : entry.message().rows().ranks()) {
      for (const auto& op : rank.ops()) {
        ++seen[rank.rank()][op.sequence()];
        in_flight += op.end_ns() == 0;
      }
    }
  }
  EXPECT_EQ(*bodies.begin(), v1::AgentMessage::kHello);
  for (const int body :
       {v1::AgentMessage::kRank, v1::AgentMessage::kGroup, v1::AgentMessage::kSummary,
        v1::AgentMessage::kHealth, v1::AgentMessage::kGone, v1::AgentMessage::kCounters}) {
    EXPECT_TRUE(bodies.contains(body)) << body;
  }
  ASSERT_EQ(seen.size(), 2u);
  for (const auto& [rank, ops] : seen) {
    EXPECT_EQ(ops.size(), 60u);
    for (const auto& [sequence, times] : ops) EXPECT_EQ(times, 1) << sequence;
  }
  EXPECT_EQ(in_flight, 2) << "the op that hangs, on both ranks";
}

TEST_F(AgentTest, CountsTheOpsThatAFullRecordingLeavesOut) {
  settings_.record = folder_.path() + "/recording";
  settings_.record_gib = 0;  // full as soon as something is in it
  Process(10, 0);
  Process(11, 1);
  StartAgent();
  std::uint64_t given = 0;
  for (; agent_->totals().recording_ops_dropped == 0 && given < 2000; ++given) TrainStep(false);
  EXPECT_GT(agent_->totals().recording_ops_dropped, 0u);
  EXPECT_LE(agent_->totals().recording_ops_dropped, 4 * given);
  EXPECT_EQ(agent_->totals().recording_blocks_dropped, 0u);
}

TEST_F(AgentTest, AFolderThatCannotBeMadeIsSaidAtTheStart) {
  settings_.record = "/proc/no/such/folder";
  AgentWorld world = AgentWorld::Real();
  Agent agent(settings_, world);
  const absl::Status started = agent.Start();
  EXPECT_FALSE(started.ok());
  EXPECT_THAT(std::string(started.message()), testing::HasSubstr("cannot record to /proc/no"));
}

TEST_F(AgentTest, WithoutACollectorItWorksOnAndDelivers) {
  collector_.Kill();
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(1000 * kMs);
  EXPECT_EQ(agent_->totals().ops, 60u);
  EXPECT_FALSE(agent_->connected());
  collector_.Start();
  EXPECT_TRUE(Got([](const auto& m) { return m.has_summary(); }));
}

TEST(AgentStartTest, AFolderThatCannotBeMadeIsAnError) {
  Settings settings;
  settings.http = "";
  settings.shm_dir = "/proc/fathom/none";
  Agent agent(settings, AgentWorld::Real());
  EXPECT_FALSE(agent.Start().ok());
}

}  // namespace
}  // namespace fathom::agent
