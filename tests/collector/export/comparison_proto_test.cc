// A comparison of two recordings, as the report carries it.
#include "collector/export/comparison_proto.h"

#include <gtest/gtest.h>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::Comparison;
using diagnosis::Outcome;

v1::Comparison MessageOf(const Comparison& comparison) {
  v1::Comparison out;
  ToProto(comparison, out);
  return out;
}

TEST(ComparisonProtoTest, EachOutcomeHasItsNameAndASentence) {
  const std::pair<Outcome, const char*> outcomes[] = {{Outcome::kUnknown, "unknown"},
                                                      {Outcome::kUnrelated, "unrelated"},
                                                      {Outcome::kSame, "same"},
                                                      {Outcome::kSlower, "slower"},
                                                      {Outcome::kFaster, "faster"}};
  for (const auto& [outcome, name] : outcomes) {
    Comparison comparison;
    comparison.outcome = outcome;
    comparison.why = "4 iterations of both";
    comparison.before = comparison.after = 0.1;
    const v1::Comparison out = MessageOf(comparison);
    EXPECT_EQ(out.result(), name);
    EXPECT_TRUE(out.sentence().ends_with(".")) << out.sentence();
  }
}

TEST(ComparisonProtoTest, WhatCannotBeToldSaysWhy) {
  Comparison comparison;
  comparison.why = "4 iterations of both";
  EXPECT_NE(MessageOf(comparison).sentence().find("4 iterations of both"), std::string::npos);
  EXPECT_EQ(MessageOf(comparison).kinds_size(), 0);
  EXPECT_EQ(MessageOf(comparison).chance(), 1);
}

TEST(ComparisonProtoTest, ChangesGoOutInTheirOrderWithTheirSign) {
  Comparison comparison;
  comparison.outcome = Outcome::kSlower;
  comparison.before = 0.25;
  comparison.after = 0.5;
  comparison.chance = 0.0001;
  comparison.kinds = {{"compute", "compute", 0.125, 0.375}, {"idle", "idle", 0.0625, 0}};
  comparison.parts = {{"kernel \"a<b>\"", "compute", 0, 0.25}};
  const v1::Comparison out = MessageOf(comparison);
  EXPECT_EQ(out.before_s(), 0.25);
  EXPECT_EQ(out.after_s(), 0.5);
  EXPECT_EQ(out.chance(), 0.0001);
  ASSERT_EQ(out.kinds_size(), 2);
  EXPECT_EQ(out.kinds(0).name(), "compute");
  EXPECT_EQ(out.kinds(0).after_s() - out.kinds(0).before_s(), 0.25);
  EXPECT_EQ(out.kinds(1).after_s() - out.kinds(1).before_s(), -0.0625);
  ASSERT_EQ(out.parts_size(), 1);
  EXPECT_EQ(out.parts(0).name(), "kernel \"a<b>\"");
  EXPECT_EQ(out.parts(0).kind(), "compute");
}

}  // namespace
}  // namespace fathom::collector
