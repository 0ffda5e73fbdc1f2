#include "collector/export/report.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "collector/export/group_kind.h"
#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;

TEST(Report, AHealthyJobHasAllItsListsAndNoVerdict) {
  diagnosis::JobView view;
  view.name = "train";
  view.world_size = 2;
  v1::Report report;
  BuildReport(view, {}, {}, "live", report);
  const std::string json = ToJson(report);
  for (const char* part :
       {"\"schema\":\"fathom.v1.Report\"", "\"verdicts\":[]", "\"groups\":[]", "\"irregular\":[]",
        "\"ranks\":[]", "\"signals\":[]", "\"ranks_missing\":[0,1]", "\"records_dropped\":\"0\"",
        "\"abstained\":[]", "\"median_s\":0", "\"source\":\"live\""}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

TEST(Report, CarriesTheVerdictWithTheNamesOfTheContract) {
  Episode episode;
  episode.id = "v1";
  episode.job = "train";
  auto& verdict = episode.verdict;
  verdict.grade = diagnosis::Grade::kEstablished;
  verdict.cause = diagnosis::Cause::kCommunicationHang;
  verdict.problem = diagnosis::ProblemClass::kCommunicationHang;
  verdict.entity.ranks = {RankId(2)};
  verdict.entity.link_src = "a";
  verdict.since_iteration = Iteration(7);
  diagnosis::JobView view;
  v1::Report report;
  BuildReport(view, {}, {episode}, "live", report);
  const std::string json = ToJson(report);
  for (const char* part :
       {"\"grade\":\"established\"", "\"cause\":\"communication_hang\"",
        "\"class\":\"communication_hang\"", "\"role\":\"culprit\"", "\"type\":\"rank\"",
        "\"counter_evidence\":[]", "\"would_change\":[]", "\"victims\":[]", "\"iteration\":\"7\"",
        "\"link\":{\"src\":\"a\"", "\"owner\":\"operations\"", "\"action\":{", "\"gpu_hours\":0"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
  EXPECT_THAT(json, testing::Not(HasSubstr("\"until\"")));
  v1::Report back;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &back).ok());
  EXPECT_EQ(back.verdicts(0).since().iteration(), 7);
}

TEST(Report, AVerdictThatWasReplacedIsLeftOutAndAClosedOneStays) {
  Episode closed;
  closed.id = "v1";
  closed.closed = WallNs(9);
  closed.closed_because = "recovered";
  Episode superseded = closed;
  superseded.superseded = true;
  v1::Report report;
  BuildReport({}, {}, {closed, superseded}, "live", report);
  ASSERT_EQ(report.verdicts_size(), 1);
  EXPECT_EQ(report.verdicts(0).closed_because(), "recovered");
  EXPECT_EQ(report.verdicts(0).until().time_unix_ns(), 9);
}

TEST(GroupKind, ReadsTheFrameworksWords) {
  const auto kind = [](const char* description, std::uint32_t size) {
    return GroupKind({GroupId(1), "", description, size, {}, false}, 8);
  };
  EXPECT_EQ(kind("default_pg", 8), "world");
  EXPECT_EQ(kind("mesh_tp", 2), "tensor");
  EXPECT_EQ(kind("TENSOR_MODEL_PARALLEL_GROUP", 2), "tensor");
  EXPECT_EQ(kind("mesh_dp_shard", 2), "data");
  EXPECT_EQ(kind("pp", 2), "pipeline");
  EXPECT_EQ(kind("", 8), "world");
  EXPECT_EQ(kind("", 4), "unknown");
  EXPECT_EQ(kind("stepper", 4), "unknown") << "ep and pp inside a word mean nothing";
}

}  // namespace
}  // namespace fathom::collector
