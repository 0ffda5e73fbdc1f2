#include "collector/import/kineto/trace/comm_joiner.h"

#include <gtest/gtest.h>

#include "tests/collector/import/kineto/trace_text.h"

namespace fathom::collector::kineto {
namespace {

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string Op(double begin, double duration) {
  return Event("cpu_op", "aten::mm", 1, begin, duration);
}

constexpr char kAllReduceKernel[] = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)";

JoinedOps Join(const std::vector<std::string>& events) {
  return JoinComms(Sift(Trace(Header(0, 2), events)), 1);
}

TEST(CommJoiner, WaitsAfterASynchronousCall) {
  const auto joined = Join(GlooAllReduce(100, 2100, false) + std::vector{Op(2105, 50)});
  ASSERT_EQ(joined.ops.size(), 1);
  const JoinedOp& op = joined.ops[0];
  EXPECT_EQ(op.run_begin, 101'000);
  EXPECT_EQ(op.run_end, 2'100'000);
  EXPECT_EQ(op.wait_begin, 101'000);
  EXPECT_EQ(op.wait_end, 2'100'000);
  EXPECT_EQ(op.call.data_type, DataType::kFloat32);
  EXPECT_EQ(op.call.elements, 100);
}

// An op of the framework around the call hides no wait: no op begins before the run has ended.
TEST(CommJoiner, WaitsInsideAnOpThatWrapsTheCall) {
  const auto joined = Join(GlooAllReduce(100, 2100, false) +
                           std::vector{Event("cpu_op", "SumForward", 1, 90, 2050)});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_end, 2'100'000);
}

TEST(CommJoiner, FindsTheWaitForBucketsInTheGapAfterBackward) {
  // Two buckets during backward; it ends at 1000, the buckets at 3000 and 3500, the host goes on
  // with its own business until 9000.
  const auto joined =
      Join(std::vector{Op(0, 1000), Op(9000, 10)} + GlooAllReduce(200, 3000, true, 11, 100) +
           GlooAllReduce(600, 3500, true, 12, 200));
  ASSERT_EQ(joined.ops.size(), 2);
  EXPECT_EQ(joined.ops[0].wait_begin, 1'000'000);
  EXPECT_EQ(joined.ops[0].wait_end, 3'000'000);
  EXPECT_EQ(joined.ops[1].wait_begin, 3'000'000);
  EXPECT_EQ(joined.ops[1].wait_end, 3'500'000);
}

TEST(CommJoiner, AllowsARunToEndALittleAfterItsWaiterWasWoken) {
  const auto joined =
      Join(std::vector{Op(0, 1000), Op(2990, 500)} + GlooAllReduce(200, 3000, true));
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_end, 2'990'000);
}

// The worker woke its waiter at 40 ms, lost its core to it, and ended its event at 44 ms.
TEST(CommJoiner, AllowsAWorkerToLoseItsCoreToItsWaiter) {
  const auto joined =
      Join(std::vector{Op(0, 1000), Op(40'000, 500)} + GlooAllReduce(900, 44'000, true));
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_begin, 1'000'000);
  EXPECT_EQ(joined.ops[0].wait_end, 40'000'000);
  EXPECT_EQ(joined.ops[0].run_end, 40'000'000);
}

// The near misses: a thread that slept while an op went on for long, or for as long as it slept.
TEST(CommJoiner, SeesNoWaitWhereTheRunWentOnBehindTheGap) {
  const std::pair<double, double> slept_and_ended[] = {{40'000, 60'000}, {3'000, 6'000}};
  for (const auto& [slept, ended] : slept_and_ended) {
    const auto joined =
        Join(std::vector{Op(0, 1000), Op(slept, 90'000)} + GlooAllReduce(900, ended, true));
    ASSERT_EQ(joined.ops.size(), 1);
    EXPECT_EQ(joined.ops[0].wait_begin, kAbsent) << slept;
  }
}

// DTensor's ops wait in an op of their own, inside that of a Python autograd function.
TEST(CommJoiner, AnOpThatOnlyWaitsIsAWait) {
  const auto events = std::vector{Event("cpu_op", "_FromTorchTensor", 1, 0, 9000),
                                  Event("cpu_op", "_c10d_functional::wait_tensor", 1, 1000, 7000)} +
                      GlooAllReduce(500, 7990, true);
  const auto joined = Join(events);
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_begin, 1'000'000);
  EXPECT_EQ(joined.ops[0].wait_end, 7'990'000);
  const RankTrace trace = Sift(Trace(Header(0, 2), events));
  EXPECT_EQ(trace.ops_by_thread.at(1).busy.Covered(), 2'000'000);
}

TEST(CommJoiner, SeesNoWaitWhereTheRunWasHiddenBehindWork) {
  const auto joined = Join(std::vector{Op(0, 5000)} + GlooAllReduce(200, 3000, true));
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_begin, kAbsent);
}

std::vector<std::string> Message(const char* kind, double begin, double run_end, int peer) {
  return {Event("cpu_op", absl::StrCat("c10d::", kind), 1, begin, 5,
                absl::StrCat(R"("Concrete Inputs": ["", "", ")", peer, R"(", "0"])")),
          Event("user_annotation", absl::StrCat("gloo:", kind[0] == 's' ? "send" : "recv"), 1,
                begin + 4, run_end - begin - 4)};
}

TEST(CommJoiner, TellsMessagesApart) {
  const auto joined = Join(Message("recv_", 100, 900, 3) + Message("send", 1000, 9000, 2) +
                           std::vector{Op(1100, 500)} + Message("recv_", 2000, 2500, 3) +
                           std::vector{Op(2600, 6400)});
  ASSERT_EQ(joined.ops.size(), 3);
  EXPECT_EQ(joined.ops[0].call.kind, CollectiveKind::kRecv);
  EXPECT_EQ(joined.ops[0].call.peer, 3);
  EXPECT_EQ(joined.ops[0].wait_end, 900'000);
  // The job went on computing: when the data of the isend had gone is not known.
  EXPECT_EQ(joined.ops[1].call.kind, CollectiveKind::kSend);
  EXPECT_EQ(joined.ops[1].run_end, kAbsent);
  EXPECT_EQ(joined.ops[1].wait_end, kAbsent);
  EXPECT_EQ(joined.ops[2].run_end, 2'500'000);
}

// A ring: the isend is taken late, so its sender waits for it after its own receive.
TEST(CommJoiner, WaitsForIsendsWhereNothingElseRan) {
  const auto joined = Join(Message("send", 1000, 9000, 2) + Message("send", 1100, 9500, 2) +
                           Message("recv_", 2000, 2500, 3) + std::vector{Op(9600, 100)});
  ASSERT_EQ(joined.ops.size(), 3);
  EXPECT_EQ(joined.ops[0].wait_begin, 2'500'000);
  EXPECT_EQ(joined.ops[0].wait_end, 9'000'000);
  EXPECT_EQ(joined.ops[0].run_end, kAbsent);
  EXPECT_EQ(joined.ops[1].wait_begin, 9'000'000);
  EXPECT_EQ(joined.ops[1].wait_end, 9'500'000);
}

// Posted before the work and waited for behind it: the work is no waiting.
TEST(CommJoiner, WaitsForAnIrecvBehindTheWork) {
  const auto joined = Join(Message("recv_", 1000, 9000, 2) + Message("send", 1100, 9100, 2) +
                           std::vector{Op(1200, 5000), Op(9200, 10)});
  ASSERT_EQ(joined.ops.size(), 2);
  EXPECT_EQ(joined.ops[0].wait_begin, 6'200'000);
  EXPECT_EQ(joined.ops[0].wait_end, 9'000'000);
  EXPECT_EQ(joined.ops[0].run_end, 9'000'000);
  EXPECT_EQ(joined.ops[1].wait_begin, 9'000'000);
  EXPECT_EQ(joined.ops[1].wait_end, 9'100'000);
}

TEST(CommJoiner, WaitsForNoIsendWhileTheThreadWorks) {
  const auto joined = Join(Message("send", 1000, 9000, 2) + std::vector{Op(1100, 7800)});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].wait_begin, 8'900'000);
  EXPECT_EQ(joined.ops[0].wait_end, 9'000'000);
}

const char* const kComms =
    R"("External id": 7, "Collective name": "allreduce", "In msg nelems": 64, "dtype": "BFloat16",
       "Group size": 8, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": 41)";

TEST(CommJoiner, JoinsKernelsByExternalId) {
  const auto joined = Join({Event("cpu_op", "c10d::allreduce_", 1, 9, 30),
                            Event("cpu_op", "record_param_comms", 1, 10, 20, kComms),
                            Event("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 7, 500,
                                  100, R"("External id": 7, "stream": 20, "correlation": 5)")});
  ASSERT_EQ(joined.ops.size(), 1) << "the c10d op and the record in it are one call";
  const JoinedOp& op = joined.ops[0];
  EXPECT_TRUE(op.on_device);
  EXPECT_EQ(op.call.begin, 10'000);
  EXPECT_EQ(op.run_begin, 500'000);
  EXPECT_EQ(op.call.sequence, 41);
  EXPECT_EQ(op.call.group, "0");
  EXPECT_EQ(op.call.data_type, DataType::kBFloat16);
}

// PyTorch 1.12 to 2.2 wrote the correlation id there, which may be the id of any op.
TEST(CommJoiner, AnExternalIdThatIsTheCorrelationIdIsNotThatOfAnOp) {
  const auto joined =
      Join({Event("cpu_op", "c10d::allreduce_", 1, 10, 20, R"("External id": 5)"),
            Event("cuda_runtime", "cudaLaunchKernel", 1, 15, 2,
                  R"("External id": 12, "correlation": 12)"),
            Event("kernel", kAllReduceKernel, 7, 40, 100,
                  R"("External id": 12, "stream": 20, "correlation": 12)"),
            Event("cpu_op", "c10d::allreduce_", 1, 200, 20, R"("External id": 12)")});
  ASSERT_EQ(joined.ops.size(), 2);
  EXPECT_EQ(joined.ops[0].run_end, 140'000);
  EXPECT_EQ(joined.ops[1].run_begin, kAbsent);
}

// ROCm's profiler: the External id alone, of a launch and its kernel.
TEST(CommJoiner, AnExternalIdIsThatOfALaunchWhereThereIsNoOther) {
  const auto joined =
      Join({Event("cpu_op", "c10d::allreduce_", 1, 10, 20, R"("External id": 5)"),
            Event("cuda_runtime", "hipLaunchKernel", 1, 15, 2, R"("External id": 12)"),
            Event("kernel", kAllReduceKernel, 7, 40, 100, R"("External id": 12, "stream": 20)"),
            Event("cpu_op", "c10d::allreduce_", 1, 200, 20, R"("External id": 12)")});
  ASSERT_EQ(joined.ops.size(), 2);
  EXPECT_EQ(joined.ops[0].run_end, 140'000);
  EXPECT_EQ(joined.ops[1].run_begin, kAbsent);
}

// Two threads call at once: the id tells of which the launch is.
TEST(CommJoiner, OfTwoCallsAroundALaunchTheIdTells) {
  const auto joined =
      Join({Event("cpu_op", "c10d::allreduce_", 1, 10, 30, R"("External id": 5)"),
            Event("cpu_op", "c10d::allreduce_", 2, 12, 30, R"("External id": 6)"),
            Event("cuda_runtime", "cudaLaunchKernel", 1, 15, 2, R"("correlation": 71)"),
            Event("kernel", kAllReduceKernel, 7, 40, 100,
                  R"("External id": 5, "stream": 20, "correlation": 71)")});
  EXPECT_EQ(joined.ops.at(0).run_end, 140'000);
  EXPECT_EQ(joined.ops.at(1).run_begin, kAbsent);
}

// Without launches nothing but time shows that ids of kernels count something else than ops.
TEST(CommJoiner, IdsThatAreOftenWrongAreNotUsed) {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i) {
    const double begin = 100'000.0 * i;
    const std::string op = "\"External id\": " + std::to_string(i);
    const std::string kernel = "\"External id\": " + std::to_string(39 - i) + ", \"stream\": 20";
    events.push_back(Event("cpu_op", "c10d::allreduce_", 1, begin, 20, op));
    events.push_back(Event("kernel", kAllReduceKernel, 7, begin + 50, 100, kernel));
  }
  const auto joined = Join(events);
  EXPECT_EQ(joined.runs_without_call, 40);
  EXPECT_EQ(joined.calls_without_run, 40);
}

TEST(CommJoiner, JoinsKernelsByTheirLaunchInOlderTraces) {
  const auto joined = Join({Event("Operator", "record_param_comms", 1, 10, 20,
                                  R"("Collective name": "allreduce", "Group size": 8)"),
                            Event("Runtime", "cudaLaunchKernel", 1, 15, 2, R"("correlation": 5)"),
                            Event("Kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
                                  7, 500, 100, R"("stream": 20, "correlation": 5)")});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].run_end, 600'000);
}

// A library beside NCCL; what PyTorch copied from the call onto the kernel tells what it is.
TEST(CommJoiner, TakesAKernelWithACollectivesNameForItsRun) {
  const auto joined = Join({Event("cpu_op", "record_param_comms", 1, 10, 20, kComms),
                            Event("kernel", "void oneshot_reduce<c10::BFloat16>()", 7, 500, 100,
                                  absl::StrCat(kComms, R"(, "stream": 20, "correlation": 5)"))});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].run_end, 600'000);
}

// Before PyTorch 2.2 the third of the concrete inputs was the address of the group.
TEST(CommJoiner, TakesNoAddressForAPeer) {
  const auto joined = Join({Event("cpu_op", "record_param_comms", 1, 10, 20,
                                  R"("Collective name": "send", "Group size": 8, "Rank": 3,
      "Concrete Inputs": ["", "4", "140538064364672", "3", "send", "[]", "[]"])")});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].call.peer, 3);
}

std::vector<std::uint32_t> RanksOfGroup(std::string_view header, std::string_view event) {
  const std::string text = absl::StrCat(
      R"({"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 4, "pg_config": [)",
      std::string(header), R"(]}, "traceEvents": [)",
      Event("cpu_op", "record_param_comms", 1, 1, 1,
            absl::StrCat(R"("Collective name": "allreduce", "Process Group Name": "g", )",
                         R"("Process Group Ranks": )", std::string(event))),
      "]}");
  const RankTrace trace = Sift(text);
  const auto group = trace.groups.find("g");
  return group == trace.groups.end() ? std::vector<std::uint32_t>{} : group->second.ranks;
}

TEST(RankTrace, ReadsTheRanksOfAGroupInEveryForm) {
  const std::vector<std::uint32_t> two = {0, 2}, all = {0, 1, 2, 3};
  EXPECT_EQ(RanksOfGroup("", R"("[0, 2]")"), two);
  EXPECT_EQ(RanksOfGroup("", "[0, 2]"), two) << "PyTorch 2.1 and 2.2 wrote a list";
  EXPECT_EQ(RanksOfGroup("", R"("[0, 1, ...]")").size(), 0);
  EXPECT_EQ(RanksOfGroup(R"({"pg_name": "g", "ranks": [0, 2], "pg_size": 2})", R"("[0, ...]")"),
            two);
  EXPECT_EQ(RanksOfGroup(R"({"pg_name": "g", "ranks": "[0, 2]", "pg_size": 2})", R"("[0, ...]")"),
            two)
      << "traces taken on demand write the list as text";
  EXPECT_EQ(RanksOfGroup(R"({"pg_name": "g", "ranks": [], "group_size": 4})", R"("[0, ...]")"), all)
      << "a group of all ranks lists none";
  EXPECT_EQ(RanksOfGroup(R"({"pg_name": "g", "pg_desc": "undefined"})", R"("[0, 2]")"), two)
      << "what the header lacks, the event told";
}

TEST(CommJoiner, KeepsWhatHasNoPartner) {
  const auto joined = Join({Event("user_annotation", "gloo:all_reduce", 11, 5, 100),
                            Event("cpu_op", "c10d::barrier", 1, 500, 10)});
  EXPECT_EQ(joined.runs_without_call, 1);
  EXPECT_EQ(joined.calls_without_run, 1);
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].call.kind, CollectiveKind::kBarrier);
}

TEST(TrainingThread, IsTheOneWithTheMarksElseTheBusiest) {
  EXPECT_EQ(TrainingThread(Sift(Trace("", {Event("cpu_op", "a", 9, 0, 900), Step(0, 0, 10)}))), 1);
  EXPECT_EQ(TrainingThread(
                Sift(Trace("", {Event("cpu_op", "a", 9, 0, 900), Event("cpu_op", "a", 1, 0, 10)}))),
            9);
  EXPECT_EQ(TrainingThread(RankTrace{}), kAbsent);
}

// Times count from a base, and some events may lie before it.
TEST(CommJoiner, ARunBeforeTheBaseHasAnEnd) {
  const auto joined = Join(GlooAllReduce(-5000, -3000, false) + std::vector{Op(-2990, 50)});
  ASSERT_EQ(joined.ops.size(), 1);
  EXPECT_EQ(joined.ops[0].run_begin, -4'999'000);
  EXPECT_EQ(joined.ops[0].run_end, -3'000'000);
  EXPECT_EQ(joined.ops[0].wait_end, -3'000'000);
}

// ROCm's older tracer prints grids on the launch only; without them a rank with more work looks
// slow.
TEST(RankTraceBuilder, TakesTheGridOfAKernelFromItsLaunch) {
  const RankTrace trace = Sift(Trace(
      Header(0, 2),
      {Event("kernel", "Cijk_Ailk_Bljk", 7, 10, 5, R"("stream": 7, "correlation": 1)"),
       Event("kernel", "add", 7, 20, 5, R"("stream": 7, "correlation": 2, "grid": [3, 2, 1])"),
       Event("kernel", "norm", 7, 30, 5, R"("stream": 7, "correlation": 4)"),
       Event("gpu_memcpy", "Memcpy HtoD", 7, 40, 5, R"("stream": 7, "correlation": 3)"),
       Event("cuda_runtime", "hipExtModuleLaunchKernel", 1, 1, 1,
             R"("cid": 5, "correlation": 1, "grid": [64, 2, 1], "block": [256, 1, 1])"),
       Event("cuda_runtime", "hipLaunchKernel", 1, 2, 1, R"("correlation": 2, "grid": [9, 9, 9])"),
       Event("cuda_runtime", "hipMemcpyWithStream", 1, 3, 1, R"("correlation": 3)"),
       Event("cuda_runtime", "cudaLaunchKernel", 1, 4, 1, R"("correlation": 4)")}));
  ASSERT_EQ(trace.grids.size(), 2);
  EXPECT_EQ(trace.grids[0].begin, 10'000);
  EXPECT_EQ(trace.grids[0].blocks, 128);
  EXPECT_EQ(trace.grids[1].blocks, 6);
}

}  // namespace
}  // namespace fathom::collector::kineto
