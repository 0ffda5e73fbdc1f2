// What a communicator is for, as its own words tell it.
#include "collector/export/group_kind.h"

#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

std::string KindOf(const std::string& name, const std::string& description, std::uint32_t size,
                   std::uint32_t world = 8) {
  return GroupKind({GroupId(1), name, description, size, {}, false}, world);
}

TEST(GroupKindTest, ReadsTheFrameworksWords) {
  const struct {
    const char* description;
    const char* kind;
  } cases[] = {
      {"default_pg", "world"},
      {"mesh_tp", "tensor"},
      {"TENSOR_MODEL_PARALLEL_GROUP", "tensor"},
      {"mesh_dp_shard", "data"},
      {"DATA_PARALLEL_GROUP_WITH_CP", "data"},
      {"mesh_dp_replicate", "data"},
      {"pp", "pipeline"},
      {"PIPELINE_MODEL_PARALLEL_GROUP", "pipeline"},
      {"EXPERT_MODEL_PARALLEL_GROUP", "expert"},
      {"ep2", "expert"},
      {"mesh-cp", "context"},
      {"fully_shard", "data"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(KindOf("", each.description, 2), each.kind) << each.description;
    EXPECT_EQ(KindOf(each.description, "", 2), each.kind) << "as a name: " << each.description;
  }
}

TEST(GroupKindTest, TwoLettersInsideAWordMeanNothing) {
  for (const char* text : {"stepper", "cpu", "http", "dpo", "\xC3\xA9p", "", "17", "\n"}) {
    EXPECT_EQ(KindOf("", text, 4), "unknown") << text;
  }
}

TEST(GroupKindTest, WithoutAWordTheSizeTellsTheWorld) {
  EXPECT_EQ(KindOf("", "", 8), "world");
  EXPECT_EQ(KindOf("", "", 7), "unknown");
  EXPECT_EQ(KindOf("", "", 0, 0), "unknown") << "of a world that is not known nothing is all";
  EXPECT_EQ(KindOf("", "mesh_tp", 8), "tensor") << "its word counts for more than its size";
}

TEST(GroupIdTextTest, IsSixteenDigitsWhateverTheId) {
  EXPECT_EQ(GroupIdText(GroupId(0)), "0000000000000000");
  EXPECT_EQ(GroupIdText(GroupId(0xabc)), "0000000000000abc");
  EXPECT_EQ(GroupIdText(GroupId(~std::uint64_t{0})), "ffffffffffffffff");
}

}  // namespace
}  // namespace fathom::collector
