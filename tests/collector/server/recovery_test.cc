// A recovery over HTTP: the plan of a job that a node holds back, what is told of it, and that it
// is there after the collector was started again.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "collector/recovery/told_recovery.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/server/server_fixture.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kPath[] = "/api/v1/jobs/train/recovery";
constexpr char kJson[] = "Content-Type: application/json\r\n";

using RecoveryTest = ServerFixture;

ToldRecovery Told(WallNs now) {
  ToldRecovery told;
  told.id = "r1";
  told.job = "train";
  told.state = "recovered";
  told.node = "n0";
  told.times.begun_ns = told.times.isolating_ns = told.times.isolated_ns = now.ns - 60'000'000'000;
  told.times.running_ns = now.ns;
  told.times.processes = 60;
  return told;
}

TEST_F(RecoveryTest, ASickJobHasAPlanWithTheFreeNodeAsItsSpare) {
  want_rows_ = true;
  FakeAgent agent(collector_->grpc_port(), "n0", FakeAgent::AnOpOfEach);
  agent.Hello();
  FakeAgent spare(collector_->grpc_port(), "n1");
  spare.Hello();
  EXPECT_EQ(Get(kPath).status, 404);
  Feed(agent, 10);
  ASSERT_TRUE(Eventually(kPath, R"("plan":null,"why_no_plan":"no verdict stands")"));
  slow_ = true;
  FeedOneMore(agent);
  ASSERT_TRUE(Eventually(kPath, R"("isolate":"n0","spare":"n1")")) << Get(kPath).body;
  EXPECT_THAT(Get(kPath).body, HasSubstr(R"("recoveries":[])"));
}

TEST_F(RecoveryTest, WhatWasToldIsThereAfterARestartAndInTheMonth) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("recovery_" + std::to_string(getpid()));
  collector_.reset();
  Start((folder / "store.db").string());
  const std::string record = ToldRecoveryText(Told(clock_.Wall()));
  const auto tell = [&](const std::string& headers) {
    return HttpRequest(collector_->http_port(), "POST", kPath, headers, record).status;
  };
  EXPECT_EQ(tell("Content-Type: text/plain\r\n"), 415);
  EXPECT_EQ(tell(std::string(kJson) + "Origin: http://elsewhere.example\r\n"), 403);
  EXPECT_EQ(Get(kPath).status, 404);
  EXPECT_EQ(tell(kJson), 200);
  collector_.reset();
  Start((folder / "store.db").string());
  EXPECT_THAT(Get(kPath).body, HasSubstr(R"("state":"recovered")"));
  EXPECT_THAT(Get(kPath).body, HasSubstr(R"("restart_s":60.0)"));
  EXPECT_THAT(Get("/api/v1/losses").body, HasSubstr(R"("cause":"recovery","owner":"operations")"));
  EXPECT_THAT(Get("/metrics").body, HasSubstr("fathom_recovery_records_total{result=\"kept\"} 0"));
  collector_.reset();
  std::filesystem::remove_all(folder);
}

TEST_F(RecoveryTest, TheLedgerOfTheJobHasItsDowntime) {
  FakeAgent agent(collector_->grpc_port(), "n0");
  agent.Hello();
  Feed(agent, 10);
  ASSERT_TRUE(Eventually("/api/v1/jobs/train/report", "\"iterations\":"));
  EXPECT_THAT(Get("/api/v1/jobs/train/report").body, Not(HasSubstr("\"downtime\"")));
  ToldRecovery old = Told(WallNs(FakeClock::kStart - 3'600'000'000'000));
  old.id = "r0";
  for (const ToldRecovery& each : {old, Told(clock_.Wall())}) {
    EXPECT_EQ(
        HttpRequest(collector_->http_port(), "POST", kPath, kJson, ToldRecoveryText(each)).status,
        200);
  }
  const std::string report = Get("/api/v1/jobs/train/report").body;
  EXPECT_THAT(report,
              HasSubstr(R"("downtime":{"recoveries":"1","recovered":"1","lost_gpu_s":3600)"));
  EXPECT_THAT(report, HasSubstr(R"({"stage":"restart","seconds":60)"));
}

}  // namespace
}  // namespace fathom::collector
