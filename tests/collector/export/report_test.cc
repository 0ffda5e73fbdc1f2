#include "collector/export/report.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fathom/v1/report.pb.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

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

Json Told(const diagnosis::JobView& view, const diagnosis::Diagnosis& diagnosis) {
  v1::Report report;
  BuildReport(view, diagnosis, {}, "kineto", report);
  const std::string json = ToJson(report);
  v1::Report back;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &back).ok());
  EXPECT_EQ(back.SerializeAsString(), report.SerializeAsString()) << "as programs read it";
  return Json::parse(json);
}

TEST(Report, WhatWasNotComputedIsAbsentAndWhatWasIsThere) {
  diagnosis::Diagnosis diagnosis;
  Json json = Told({}, diagnosis);
  for (const char* part : {"what_if", "ledger", "comparison", "tables", "job_ledger", "work"}) {
    EXPECT_FALSE(json.contains(part)) << part;
  }
  EXPECT_NE(json["step"]["missing"], "") << "without iterations nothing bounds them";
  diagnosis.account.emplace().lost_gpu_s = 1.5;
  diagnosis::WhatIf& what_if = diagnosis.what_if.emplace();
  what_if.slowdown = 1.25;
  what_if.worker = {{RankId(3), 1.5}};
  what_if.stage = {{2, 1.125}};
  what_if.replica = {{1, 1.0625}};
  what_if.kind = {{"backward", 1.75}};
  json = Told({}, diagnosis);
  EXPECT_EQ(json["ledger"]["lost_gpu_s"], 1.5);
  EXPECT_EQ(json["what_if"]["slowdown"], 1.25);
  const Json& only = json["what_if"]["only"];
  EXPECT_EQ(only["worker"][0]["ranks"], Json({3}));
  EXPECT_EQ(only["stage"][0]["index"], 2);
  EXPECT_EQ(only["replica"][0]["slowdown"], 1.0625);
  EXPECT_EQ(only["kind"][0]["name"], "backward");
}

TEST(Report, RanksOfWhichNothingCameAreNamedUpToALimit) {
  diagnosis::JobView view;
  view.world_size = 5;
  for (const std::uint32_t rank : {4u, 1u}) view.ranks.emplace_back().rank = RankId(rank);
  EXPECT_EQ(Told(view, {})["coverage"]["ranks_missing"], Json({0, 2, 3}));
  view.world_size = 0;
  EXPECT_EQ(Told(view, {})["coverage"]["ranks_missing"], Json::array());
  view.world_size = 131'072;
  EXPECT_EQ(Told(view, {})["coverage"]["ranks_missing"].size(), 10'000u);
}

TEST(Report, SignalsAbstentionsTotalsAndIrregularIterationsAreTold) {
  using Level = diagnosis::SignalState::Level;
  diagnosis::JobView view;
  view.records_dropped = 18'000'000'000'000'000'000u;
  view.signals = {{"ops", Level::kOn, ""}, {"gc", Level::kPartly, "b"}, {"gpu", Level::kOff, "c"}};
  diagnosis::Diagnosis diagnosis;
  diagnosis.iterations = -1;
  diagnosis.median_iteration = Nanos(125'000'000);
  diagnosis.irregular = {{Iteration(7), Nanos(500'000'000), "spike"}};
  diagnosis.abstained = {{"which \"link\"", "rows\n"}};
  auto& rank = diagnosis.ranks.emplace_back();
  rank.rank = RankId(2);
  rank.node = "n1";
  rank.wait = Nanos(-5'000'000);
  rank.overlap_ratio = 0.5;
  const Json json = Told(view, diagnosis);
  EXPECT_EQ(json["coverage"]["records_dropped"], "18000000000000000000") << "no JSON number";
  EXPECT_EQ(json["coverage"]["signals"][1]["state"], "partly");
  EXPECT_EQ(json["coverage"]["signals"][2]["hides"], "c");
  EXPECT_EQ(json["iterations"]["count"], "0") << "none is known";
  EXPECT_EQ(json["iterations"]["median_s"], 0.125);
  EXPECT_EQ(json["iterations"]["irregular"][0]["kind"], "spike");
  EXPECT_EQ(json["abstained"][0]["question"], "which \"link\"");
  EXPECT_EQ(json["ranks"][0]["wait_s"], -0.005);
  EXPECT_EQ(json["job"]["source"], "kineto");
}

TEST(Report, CommunicatorsHaveAnIdAKindAndTheirRanks) {
  diagnosis::JobView view;
  view.world_size = 4;
  view.groups = {{GroupId(~std::uint64_t{0}), "1", "mesh_tp", 2, {RankId(1), RankId(0)}, false},
                 {GroupId(2), "", "", 4, {}, true}};
  const Json groups = Told(view, {})["job"]["groups"];
  EXPECT_EQ(
      groups[0],
      Json({{"id", "ffffffffffffffff"}, {"name", "1"}, {"kind", "tensor"}, {"ranks", {1, 0}}}));
  EXPECT_EQ(groups[1]["kind"], "world");
  EXPECT_EQ(groups[1]["ranks"], Json::array());
}

TEST(VerdictJson, TellsHowItStandsNowEvenWhereThatIsNothing) {
  Episode episode;
  Json json = Json::parse(VerdictJson(episode));
  EXPECT_EQ(json["updated_unix_ns"], "0");
  EXPECT_EQ(json["seen_unix_ns"], "0");
  EXPECT_EQ(json["authenticated"], false);
  episode.updated = WallNs(1'790'000'000'000'000'001);
  episode.seen = WallNs(1'790'000'000'000'000'002);
  episode.authenticated = true;
  episode.verdict.sentence = "</script>\"\\\xC3\xA9";
  json = Json::parse(VerdictJson(episode));
  EXPECT_EQ(json["updated_unix_ns"], "1790000000000000001");
  EXPECT_EQ(json["seen_unix_ns"], "1790000000000000002");
  EXPECT_EQ(json["authenticated"], true);
  EXPECT_EQ(json["sentence"], episode.verdict.sentence);
}

}  // namespace
}  // namespace fathom::collector
