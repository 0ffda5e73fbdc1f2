// Rows that a collector asks an agent for.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/daemon/agent/agent_fixture.h"

namespace fathom::agent {
namespace {

TEST_F(AgentTest, AnswersRequestsForRows) {
  Process(10, 0);
  Process(11, 1);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Advance(300 * kMs);
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_request_id(9);
  request.set_job("job");
  request.add_ranks(0);
  request.add_ranks(1);
  request.add_iterations(20);
  request.add_iterations(999);
  request.add_iterations(std::numeric_limits<std::int64_t>::max());
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.has_rows(); }));
  const v1::RowsReply rows = collector_.messages().back().rows();
  EXPECT_EQ(rows.request_id(), 9u);
  ASSERT_EQ(rows.ranks_size(), 2);
  ASSERT_EQ(rows.ranks(1).ops_size(), 2);
  EXPECT_EQ(rows.ranks(1).ops(0).iteration(), 20);
  EXPECT_EQ(rows.ranks(1).ops(0).sequence(), 40u);
  EXPECT_NE(rows.ranks(1).ops(0).return_ns(), 0);
  EXPECT_NE(rows.ranks(1).ops(0).thread_id(), 0u);
  EXPECT_NE(rows.ranks(1).ops(0).group(), 0u);
  ASSERT_EQ(rows.ranks(0).iterations_missing_size(), 2);
  EXPECT_EQ(rows.ranks(0).iterations_missing(0), 999);
}

// Thirty steps of a process whose ops a GPU carries out; a call comes back later than its op.
class GpuAgentTest : public AgentTest {
 protected:
  void Train(RingWriter& ring) {
    for (int i = 0; i < 30; ++i) {
      for (const std::uint64_t bytes : {1u << 20, 4u}) {
        op_ = {.op_id = ring.NewOpId(), .sequence = sequence_++, .bytes = bytes};
        Write(ring, abi::RecordKind::kOpEnter, 0);
        // The host's wait only asks its streams to wait.
        Write(ring, abi::RecordKind::kWaitStart, 1 * kMs);
        Write(ring, abi::RecordKind::kWaitEnd, 2 * kMs);
        Write(ring, abi::RecordKind::kGpuStart, 5 * kMs);
        Write(ring, abi::RecordKind::kGpuEnd, 20 * kMs);
        Write(ring, abi::RecordKind::kOpReturn, 30 * kMs);
        Advance(50 * kMs);
      }
    }
  }

 private:
  // The GPU's clock is the host's. What is no time of it is a stream.
  void Write(RingWriter& ring, abi::RecordKind kind, std::int64_t after_ns) {
    abi::EventRecord record = RecordOf(op_, kind, now_ + after_ns);
    record.flags = abi::kFlagDevice | abi::kFlagAsync;
    record.extra = static_cast<std::uint64_t>(now_ + after_ns);
    ring.Write(record);
  }
  fakes::FakeOp op_;
};

TEST_F(GpuAgentTest, RowsAreInTheTimeOfTheGpu) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  Train(ring);
  ASSERT_TRUE(Connected());
  EXPECT_NEAR(agent_->totals().gpu_clock_slack_s, 0.005, 1e-9) << "from a call to its start";
  v1::RowsRequest request;
  request.set_request_id(9);
  request.set_job("job");
  request.add_ranks(0);
  request.add_iterations(20);
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.has_rows(); }));
  const v1::RowsReply rows = collector_.messages().back().rows();
  ASSERT_EQ(rows.ranks_size(), 1);
  ASSERT_EQ(rows.ranks(0).ops_size(), 2);
  for (const v1::CommOp& op : rows.ranks(0).ops()) {
    EXPECT_EQ(op.enter_ns(), op.exec_start_ns());
    EXPECT_EQ(op.end_ns() - op.enter_ns(), 15 * kMs);
    EXPECT_EQ(op.thread_id(), 0u) << "of no host thread";
    EXPECT_EQ(op.return_ns(), 0);
    EXPECT_EQ(op.wait_start_ns(), 0);
    EXPECT_EQ(op.wait_end_ns(), 0);
  }
}

TEST_F(GpuAgentTest, ARankIsBlockedWhileItsGpuCommunicates) {
  RingWriter& ring = Process(10, 0);
  StartAgent();
  Train(ring);
  ASSERT_TRUE(Connected());
  Advance(1000 * kMs);
  ASSERT_TRUE(Got([](const auto& m) { return m.summary().duration_us_size() > 10; }));
  int seen = 0;
  for (const auto& message : collector_.messages()) {
    const v1::SummaryBatch& batch = message.summary();
    for (int i = 1; i < batch.blocked_us_size(); ++i, ++seen) {
      EXPECT_EQ(batch.blocked_us(i), 30'000u) << "two ops of 15 ms, not their waits of 1 ms";
    }
  }
  EXPECT_GT(seen, 10);
}

// Linked statically, NCCL has no call that could be hooked.
TEST_F(GpuAgentTest, TellsWhetherCallsAreHookedOrThePluginAloneTells) {
  RingWriter& hooked = Process(10, 0);
  RingWriter& unhooked = Process(11, 1);
  unhooked.group(0).backend = abi::kSourceNcclPlugin;
  StartAgent();
  Train(hooked);
  Train(unhooked);
  ASSERT_TRUE(Connected());
  Advance(1000 * kMs);
  constexpr std::uint32_t kBoth = abi::kSourceNccl | abi::kSourceNcclPlugin;
  EXPECT_TRUE(Got([](const v1::AgentMessage& m) {
    return m.health().ranks_size() == 2 && (m.health().ranks(0).sources_seen() & kBoth) == kBoth &&
           (m.health().ranks(1).sources_seen() & kBoth) == abi::kSourceNcclPlugin;
  }));
}

TEST_F(AgentTest, RowsAreCutWhereAskedAndUnknownRanksAreAnError) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  request.add_iterations(5);
  request.set_max_rows_per_rank(1);
  collector_.Ask(request);
  request.set_job("nobody");
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return !m.rows().error().empty(); }));
  const Messages got = collector_.messages();
  EXPECT_TRUE(got[got.size() - 2].rows().ranks(0).truncated());
}

// Part of an iteration would pass for all of it.
TEST_F(AgentTest, OfSeveralIterationsNoneIsSentInPart) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  for (const std::int64_t iteration : {5, 6, 7}) request.add_iterations(iteration);
  request.set_max_rows_per_rank(3);
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.rows().ranks_size() > 0; }));
  const v1::RankRows rows = collector_.messages().back().rows().ranks(0);
  EXPECT_TRUE(rows.truncated());
  ASSERT_EQ(rows.ops_size(), 2);
  EXPECT_EQ(rows.ops(0).iteration(), 5);
  EXPECT_EQ(rows.ops(1).iteration(), 5);
}

TEST_F(AgentTest, RowsOfADeadRankCanStillBeHad) {
  Process(10, 0);
  StartAgent();
  for (int i = 0; i < 30; ++i) TrainStep();
  Live(10, false);
  Advance(300 * kMs);
  ASSERT_TRUE(Connected());
  v1::RowsRequest request;
  request.set_job("job");
  request.add_ranks(0);
  request.add_iterations(29);
  collector_.Ask(request);
  ASSERT_TRUE(StepUntil([](const v1::AgentMessage& m) { return m.has_rows(); }));
  EXPECT_EQ(collector_.messages().back().rows().ranks(0).ops_size(), 2);
}

TEST_F(AgentTest, TellsWhatTheHardwareSaysWithTheHealthOfTheNode) {
  std::filesystem::create_directories(folder_.path() + "/proc/pressure");
  std::ofstream(folder_.path() + "/proc/meminfo") << "MemTotal: 1000 kB\nMemAvailable: 250 kB\n";
  std::ofstream(folder_.path() + "/proc/pressure/memory") << "some avg10=40.00 avg60=0 total=1\n";
  settings_.nvml_library = "/nowhere/libnvidia-ml.so.1";
  StartAgent();
  const auto told = [](const v1::AgentMessage& message) {
    for (const auto& device : message.health().hardware().devices()) {
      if (device.name() != "memory") continue;
      for (const auto& reading : device.readings()) {
        const bool pressure =
            reading.metric() == static_cast<std::uint32_t>(HardwareMetric::kPressureMemory);
        if (pressure && reading.value() == 0.4) return true;
      }
    }
    return false;
  };
  const auto missing = [](const v1::AgentMessage& message) {
    for (const auto& source : message.health().hardware().sources()) {
      if (source.name() == "nvml" && source.state() == "missing") return true;
    }
    return false;
  };
  const auto any = [&](const auto& holds) {
    const Messages messages = collector_.messages();
    return std::any_of(messages.begin(), messages.end(), holds);
  };
  EXPECT_TRUE(StepWhileNot([&] {
    now_ += 1000 * kMs;
    return any(told) && any(missing);
  }));
}

TEST_F(AgentTest, SaysNothingOfHardwareWhereItIsSwitchedOff) {
  settings_.hardware = false;
  StartAgent();
  const auto health = [](const v1::AgentMessage& message) { return message.has_health(); };
  ASSERT_TRUE(StepWhileNot([&] {
    now_ += 1000 * kMs;
    const Messages messages = collector_.messages();
    return std::any_of(messages.begin(), messages.end(), health);
  }));
  for (const auto& message : collector_.messages()) {
    EXPECT_FALSE(message.health().has_hardware());
  }
}

}  // namespace
}  // namespace fathom::agent
