// What the API says of a recovery, from answers by script: the plan, why there is none, the records
// that were told, and who may not tell what.
#include "collector/api/recovery/recovery_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/recovery/told_recovery.h"
#include "tests/collector/fake_clock.h"

namespace fathom::collector {
namespace {

using cli::Json;
using ::testing::HasSubstr;

// The API of the other routes, by script.
class ScriptedApi final : public Answerer {
 public:
  Response Answer(const Request& request) const override {
    asked.push_back(request.path);
    const auto at = answers.find(request.path);
    return at == answers.end() ? Response::Error(404, "nothing at " + request.path)
                               : Response::Json(at->second);
  }
  std::vector<std::string> JobObjects(const std::string& job) const override {
    if (job != "train") return {};
    return {R"({"name":"train","ranks":8,"world_size":8,"iteration":99,"iteration_s":2,
                "baseline_s":1,"slowdown":2})"};
  }

  std::map<std::string, std::string> answers;
  mutable std::vector<std::string> asked;
};

struct RecoveryApiTest : testing::Test {
  RecoveryApiTest() {
    rest.answers["/api/v1/verdicts"] = R"({"verdicts":[{"id":"v1","grade":"established",
        "cause":"compute_slow","entity":{"node":"n1"},"cost":{"slowdown":2}}]})";
    rest.answers["/api/v1/nodes"] = R"({"nodes":[{"name":"n1","connected":true,"ranks":8},
        {"name":"n2","connected":true},{"name":"n3","connected":true}]})";
    rest.answers["/api/v1/actions"] = R"({"actions":[{"node":"n2","phase":"acted"}]})";
  }

  Response Send(const std::string& method, const std::string& query, std::string body = "",
                const std::string& job = "train") {
    auto request = ParseTarget("/api/v1/jobs/" + job + "/recovery", query);
    request->method = method;
    request->content_type = "application/json";
    request->body = std::move(body);
    request->person.name = "anna";
    return api.Answer(*request);
  }
  Json Told(const std::string& query = "", const std::string& job = "train") {
    const Response response = Send("GET", query, "", job);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  ToldRecovery Record(const std::string& id = "r1") const {
    ToldRecovery told;
    told.id = id;
    told.job = "train";
    told.state = "under way";
    told.node = "n1";
    told.times.begun_ns = clock.Wall().ns;
    return told;
  }

  FakeClock clock;
  ScriptedApi rest;
  std::unique_ptr<Store> store = Store::Open(":memory:");
  RecoveryApi api{{rest, *store, clock}};
};

TEST_F(RecoveryApiTest, ThePlanIsThatOfTheCommandLine) {
  const Json plan = Told("restart_seconds=90&left_hours=10")["plan"];
  EXPECT_EQ(plan["isolate"], "n1");
  EXPECT_EQ(plan["spare"], "n3") << "n2 is held back";
  EXPECT_EQ(plan["advice"], "act");
  EXPECT_EQ(plan["processes"], 8);
  EXPECT_DOUBLE_EQ(plan["carry_on_gpu_hours_per_hour"].get<double>(), 8);
  EXPECT_DOUBLE_EQ(plan["restart_gpu_hours"].get<double>(), 8 * (90 + 100) / 3600.0)
      << "no checkpoint is known here: all work counts";
  EXPECT_THAT(rest.asked, testing::Contains("/api/v1/nodes/n3/probes"));
}

TEST_F(RecoveryApiTest, WhereNobodyIsConvictedItSaysWhy) {
  rest.answers["/api/v1/verdicts"] = R"({"verdicts":[]})";
  Json answer = Told();
  EXPECT_TRUE(answer["plan"].is_null());
  EXPECT_EQ(answer["why_no_plan"], "no verdict stands");
  EXPECT_EQ(rest.asked, std::vector<std::string>{"/api/v1/verdicts"}) << "pages ask often";
  rest.answers["/api/v1/verdicts"] =
      R"({"verdicts":[{"id":"v2","grade":"established","cause":"regression","entity":{}}]})";
  EXPECT_THAT(Told()["why_no_plan"].get<std::string>(), HasSubstr("names no node (regression)"));
}

TEST_F(RecoveryApiTest, WhatIsToldIsKeptWithWhoToldIt) {
  ASSERT_EQ(Send("POST", "", ToldRecoveryText(Record())).status, 200);
  ToldRecovery done = Record();
  done.state = "recovered";
  clock.Advance(Nanos::FromSeconds(30));
  ASSERT_EQ(Send("POST", "", ToldRecoveryText(done)).status, 200);
  const Json records = Told()["recoveries"];
  ASSERT_EQ(records.size(), 1u) << "one recovery, told twice";
  EXPECT_EQ(records[0]["state"], "recovered");
  EXPECT_EQ(records[0]["told_by"], "anna");
  EXPECT_EQ(records[0]["told_unix_ns"], clock.Wall().ns);
  EXPECT_EQ(api.kept(), 2u);
}

TEST_F(RecoveryApiTest, RecordsOutliveTheirJob) {
  ToldRecovery gone = Record();
  gone.job = "gone";
  ASSERT_TRUE(store->Save(gone).ok());
  const Json answer = Told("", "gone");
  EXPECT_TRUE(answer["plan"].is_null());
  EXPECT_THAT(answer["why_no_plan"].get<std::string>(), HasSubstr("no job gone"));
  EXPECT_EQ(answer["recoveries"].size(), 1u);
  EXPECT_EQ(Send("GET", "", "", "never").status, 404);
}

TEST_F(RecoveryApiTest, AnAnswerHasTheNewestRecordsOnly) {
  for (int i = 0; i < RecoveryApi::kMostTold + 5; ++i) {
    ToldRecovery each = Record("r" + std::to_string(i));
    each.times.begun_ns += i;
    ASSERT_EQ(Send("POST", "", ToldRecoveryText(each)).status, 200);
  }
  const Json records = Told()["recoveries"];
  EXPECT_EQ(static_cast<std::int64_t>(records.size()), RecoveryApi::kMostTold);
  EXPECT_EQ(records[0]["id"], "r24");
}

TEST_F(RecoveryApiTest, WhatIsNoRecordOfTheJobIsRefusedAndCounted) {
  ToldRecovery other = Record();
  other.job = "other";
  EXPECT_EQ(Send("POST", "", ToldRecoveryText(other)).status, 400);
  EXPECT_EQ(Send("POST", "", "{}").status, 400);
  EXPECT_EQ(Send("POST", "", "").status, 400);
  ToldRecovery future = Record();
  future.times.begun_ns += 7'200'000'000'000;
  EXPECT_EQ(Send("POST", "", ToldRecoveryText(future)).status, 400);
  EXPECT_EQ(Send("DELETE", "").status, 405);
  EXPECT_EQ(Send("GET", "left_hours=many").status, 400);
  EXPECT_EQ(Send("GET", "restart_seconds=-1").status, 400);
  EXPECT_EQ(api.refused(), 4u);
  EXPECT_TRUE(store->Recoveries("", 10).empty());
}

TEST_F(RecoveryApiTest, OtherPathsGoOn) {
  auto request = ParseTarget("/api/v1/nodes", "");
  request->method = "GET";
  EXPECT_EQ(api.Answer(*request).body, rest.answers["/api/v1/nodes"]);
}

}  // namespace
}  // namespace fathom::collector
