#include "collector/cli/doctor/sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using testing::HasSubstr;

TEST(Sizing, ReadsWhatItIsTold) {
  const auto w = ReadWorkload("ops=400,ranks=8192, iteration=2.5,groups=6,node=4,days=14");
  ASSERT_TRUE(w.ok()) << w.status();
  EXPECT_EQ(w->ranks, 8192);
  EXPECT_EQ(w->ops, 400);
  EXPECT_EQ(w->iteration_s, 2.5);
  EXPECT_EQ(w->groups, 6);
  EXPECT_EQ(w->per_node, 4);
  EXPECT_EQ(w->days, 14);
}

TEST(Sizing, SaysWhatIsWrong) {
  const auto why = [](const char* text) {
    return std::string(ReadWorkload(text).status().message());
  };
  EXPECT_THAT(why(""), HasSubstr("how many ranks"));
  EXPECT_THAT(why("ranks=8,rows=3"), HasSubstr("'rows' is none of ranks"));
  EXPECT_THAT(why("ranks=many"), HasSubstr("not 'many'"));
  EXPECT_THAT(why("ranks=8x"), HasSubstr("not '8x'"));
  EXPECT_THAT(why("ranks"), HasSubstr("a number from 1"));
  EXPECT_THAT(why("ranks=8,iteration=0"), HasSubstr("seconds of an iteration"));
  EXPECT_THAT(why("ranks=nan"), HasSubstr("not 'nan'"));
}

TEST(Sizing, TwiceTheJobTakesTwice) {
  const Workload once = *ReadWorkload("ranks=1024,ops=100,iteration=2");
  const Workload twice = *ReadWorkload("ranks=2048,ops=100,iteration=2");
  const Sizing a = SizeOf(once), b = SizeOf(twice);
  EXPECT_EQ(a.agents, 128);
  EXPECT_EQ(a.ops_s, 51'200);
  EXPECT_DOUBLE_EQ(b.summary_bytes_s, 2 * a.summary_bytes_s);
  EXPECT_DOUBLE_EQ(b.ops_bytes_s, 2 * a.ops_bytes_s);
  EXPECT_DOUBLE_EQ(b.disk_bytes, 2 * a.disk_bytes);
  EXPECT_DOUBLE_EQ(b.agent_cores, a.agent_cores) << "of one agent";
  EXPECT_EQ(SizeOf(*ReadWorkload("ranks=1024")).disk_bytes, 0) << "no ops are kept";
}

TEST(Sizing, FastIterationsComeInBatches) {
  const Sizing slow = SizeOf(*ReadWorkload("ranks=1000,iteration=0.25"));
  const Sizing fast = SizeOf(*ReadWorkload("ranks=1000,iteration=0.01"));
  EXPECT_DOUBLE_EQ(slow.ingest_cores, fast.ingest_cores);
  EXPECT_LT(fast.summary_bytes_s, 25 * slow.summary_bytes_s);
}

TEST(Sizing, TellsInWordsWhatItCounts) {
  const Workload w = *ReadWorkload("ranks=1024,ops=100,iteration=2");
  const std::string text = SizingText(w, SizeOf(w));
  EXPECT_THAT(text, HasSubstr("1024 ranks on 128 nodes"));
  EXPECT_THAT(text, HasSubstr("ops_gib="));
  EXPECT_THAT(text, HasSubstr("1 is enough"));
  const Workload large = *ReadWorkload("ranks=1e6");
  EXPECT_THAT(SizingText(large, SizeOf(large)), HasSubstr("each for some of the jobs"));
  EXPECT_EQ(SizingJson(w, SizeOf(w))["ops_per_s"], 51'200);
}

}  // namespace
}  // namespace fathom::cli
