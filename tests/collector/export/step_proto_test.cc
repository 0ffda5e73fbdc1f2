// What bounds an iteration, as the report carries it.
#include "collector/export/step_proto.h"

#include <gtest/gtest.h>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using diagnosis::StepBound;
using diagnosis::StepPart;

StepBound Bound(std::vector<StepBound::Part> parts) {
  StepBound bound;
  bound.iterations = 12;
  bound.ranks = 4;
  bound.clock = diagnosis::StepClock::kDevice;
  for (const StepBound::Part& part : parts) bound.step_s += part.seconds;
  bound.parts = std::move(parts);
  return bound;
}

v1::Step Put(const StepBound& bound) {
  v1::Step out;
  ToProto(bound, out);
  return out;
}

TEST(StepProtoTest, WhereNothingIsKnownOnlyTheReasonIsTold) {
  StepBound bound = Bound({{StepPart::kInput, 0.5}});
  bound.missing = "three iterations";
  v1::Step reason;
  reason.set_missing("three iterations");
  EXPECT_EQ(Put(bound).SerializeAsString(), reason.SerializeAsString());
}

TEST(StepProtoTest, PartsAreNamedAndSumToTheStep) {
  const v1::Step step =
      Put(Bound({{StepPart::kInput, 0.5}, {StepPart::kComputing, 0.25}, {StepPart::kIdle, 0.25}}));
  EXPECT_EQ(step.missing(), "");
  EXPECT_EQ(step.seconds(), 1);
  EXPECT_EQ(step.iterations(), 12u);
  EXPECT_EQ(step.ranks(), 4u);
  EXPECT_EQ(step.clock(), "device");
  ASSERT_EQ(step.parts_size(), 3);
  EXPECT_EQ(step.parts(0).name(), "input");
  EXPECT_EQ(step.parts(1).name(), "computing");
  EXPECT_EQ(step.parts(2).name(), "idle");
  double seconds = 0, share = 0;
  for (const v1::Step::Part& part : step.parts()) seconds += part.seconds(), share += part.share();
  EXPECT_EQ(seconds, 1);
  EXPECT_EQ(share, 1);
  ASSERT_EQ(step.bound_size(), 1);
  EXPECT_EQ(step.bound(0), "input");
  EXPECT_NE(step.sentence().find("bound by the data loader"), std::string::npos) << step.sentence();
  EXPECT_NE(step.advice(), "");
}

TEST(StepProtoTest, TwoPartsThatAreNearBoundItBoth) {
  const auto bounds = [](double second) {
    return Put(Bound({{StepPart::kComputing, 0.5}, {StepPart::kWaiting, second}})).bound_size();
  };
  EXPECT_EQ(bounds(0.48), 2);
  EXPECT_EQ(bounds(0.25), 1);
}

}  // namespace
}  // namespace fathom::collector
