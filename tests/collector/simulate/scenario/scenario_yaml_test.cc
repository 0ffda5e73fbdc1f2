#include "collector/simulate/scenario/scenario_yaml.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::simulate {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto scenario = ParseScenario(text, "dir/job.yaml");
  return scenario.ok() ? "" : std::string(scenario.status().message());
}

TEST(ScenarioYamlTest, ReadsWhatIsWritten) {
  const auto scenario = ParseScenario(
      "plan: {tensor: 4, pipeline: 2, data: 8, sharding: zero1}\n"
      "model: {layers: 4, micro_batches: 3}\n"
      "world_size: 64\n"
      "faults:\n  - {kind: slow_nic, rank: 63, factor: 4, every: 3, lasting: 2}\n",
      "dir/job.yaml");
  ASSERT_TRUE(scenario.ok()) << scenario.status();
  EXPECT_EQ(scenario->name, "job");
  EXPECT_EQ(scenario->plan.WorldSize(), 64u);
  EXPECT_EQ(scenario->plan.sharding, Sharding::kZero1);
  ASSERT_EQ(scenario->faults.size(), 1u);
  EXPECT_EQ(scenario->faults[0].kind, FaultKind::kSlowNic);
  EXPECT_TRUE(scenario->faults[0].ActiveIn(41));
  EXPECT_FALSE(scenario->faults[0].ActiveIn(42));
}

TEST(ScenarioYamlTest, SaysWhereAndWhy) {
  EXPECT_THAT(ErrorOf("about: x\nmodel: {layer: 3}\n"),
              AllOf(HasSubstr("dir/job.yaml:2: "), HasSubstr("unknown key layer"),
                    HasSubstr("micro_batches")));
  EXPECT_THAT(ErrorOf("faults:\n  - kind: slow_gpu\n  - kind: slow_cpu\n"),
              AllOf(HasSubstr("dir/job.yaml:3: "), HasSubstr("unknown name slow_cpu")));
  EXPECT_THAT(ErrorOf("about: x\nfaults: none\n"),
              AllOf(HasSubstr("dir/job.yaml:2: "), HasSubstr("a list is expected")));
  EXPECT_THAT(ErrorOf("about: x\nplan: {data: many}\n"), HasSubstr("dir/job.yaml:2: "));
  EXPECT_THAT(ErrorOf("plan: {tensor: 4}\nworld_size: 5\n"),
              AllOf(HasSubstr("job.yaml:2: "), HasSubstr("world_size (5)")));
  EXPECT_THAT(ErrorOf("a: [\n"), HasSubstr("dir/job.yaml:"));
}

TEST(ScenarioYamlTest, RefusesPlansThatCannotBe) {
  EXPECT_THAT(ErrorOf("\nplan: {tensor: 16}"), AllOf(HasSubstr("yaml:2: "), HasSubstr("8 GPUs")));
  EXPECT_THAT(ErrorOf("plan: {data: 6, expert: 4}\nmodel: {experts: 8}"),
              HasSubstr("does not divide plan.data"));
  EXPECT_THAT(ErrorOf("plan: {pipeline: 3}"), HasSubstr("do not divide into 3 stages"));
  EXPECT_THAT(ErrorOf("plan: {schedule: interleaved, pipeline: 2, virtual_stages: 2}"),
              HasSubstr("needs pipeline > 2"));
  EXPECT_THAT(ErrorOf("faults: [{rank: 1}]"), HasSubstr("no rank 1 in a job of 1"));
  EXPECT_THAT(ErrorOf("faults: [{factor: .nan}]"), HasSubstr("factor"));
  EXPECT_THAT(ErrorOf("plan: {data: 4000000000, tensor: 8}"), HasSubstr("more than"));
}

}  // namespace
}  // namespace fathom::simulate
