#include "collector/probe/probe_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

using testing::HasSubstr;

constexpr char kMachine[] =
    R"({"machine":{"cpu_model":"A Chip","instructions":"avx2","cores":64,"cores_allowed":64,)"
    R"("numa_nodes":2,"memory_bytes":549755813888}})";

std::string Result(double value) {
  return R"({"result":{"probe":"gemm","outcome":"done","figures":[{"name":"flops","value":)" +
         std::to_string(value) + R"(,"unit":"flop/s"}]}})";
}

v1::NodeProbe Measured(const std::string& node, double value) {
  v1::NodeProbe run;
  run.set_node(node);
  EXPECT_TRUE(ReadProbeLines(std::string(kMachine) + "\n" + Result(value) + "\n", run).ok());
  return run;
}

TEST(ProbeRun, ReadsTheLinesOfTheProgram) {
  const v1::NodeProbe run = Measured("n", 100);
  EXPECT_EQ(run.machine().cores(), 64u);
  ASSERT_EQ(run.results_size(), 1);
  EXPECT_EQ(run.results(0).figures(0).unit(), "flop/s");
}

TEST(ProbeRun, NamesTheLineThatIsNone) {
  v1::NodeProbe run;
  const absl::Status read = ReadProbeLines(std::string(kMachine) + "\nhello\n", run);
  EXPECT_THAT(std::string(read.message()), HasSubstr("line 2: "));
}

TEST(ProbeRun, FieldsOfALaterVersionAreIgnored) {
  v1::NodeProbe run;
  EXPECT_TRUE(ReadProbeLines(R"({"result":{"probe":"p","colour":"red"}})", run).ok());
  EXPECT_EQ(run.results(0).probe(), "p");
}

TEST(ProbeRun, MemoryThatDiffersByALittleIsTheSameHardware) {
  v1::ProbeMachine machine = Measured("n", 1).machine();
  const std::string hardware = HardwareOf(machine);
  machine.set_memory_bytes(machine.memory_bytes() - 3'000'000'000);
  EXPECT_EQ(HardwareOf(machine), hardware);
  machine.set_memory_bytes(machine.memory_bytes() / 2);
  EXPECT_NE(HardwareOf(machine), hardware);
}

TEST(ProbeRun, ANodeIsJudgedAgainstItsPeers) {
  v1::NodeProbe slow = Measured("slow", 80);
  JudgeRun({Measured("a", 100), Measured("b", 101), Measured("c", 99)}, {}, {}, slow);
  EXPECT_EQ(slow.judgement().state(), "slow");
  EXPECT_EQ(slow.judgement().slow(0).against(), "peers");
  EXPECT_TRUE(FoundSomething(slow));
  v1::NodeProbe again;
  ASSERT_TRUE(ReadProbeRun(ProbeRunJson(slow), again).ok());
  EXPECT_EQ(again.judgement().state(), "slow");
}

TEST(ProbeRun, AProbeThatHadToBeKilledIsAFault) {
  v1::NodeProbe run = Measured("n", 100);
  run.mutable_results(0)->set_outcome("killed");
  run.mutable_results(0)->set_reason("it did not end within 10 s");
  JudgeRun({}, {}, {}, run);
  EXPECT_EQ(run.judgement().state(), "faulty");
}

}  // namespace
}  // namespace fathom::collector
