// fathom-cordon's HTTP interface without a socket: who may do what, and what odd requests are told.
#include "collector/cordon/serve/cordon_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/collector/cordon/fake_cluster.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/tokens.h"

namespace fathom::cordon {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class CordonApiTest : public ::testing::Test {
 protected:
  CordonApiTest()
      : tokens_(::testing::TempDir() + "fathom-cordon-tokens-" + std::to_string(getpid())) {
    std::ofstream(tokens_) << collector::TokenLine("ann", "operator", collector::kAnnHash)
                           << collector::TokenLine("bob", "viewer", collector::kBobHash);
    std::filesystem::permissions(tokens_, std::filesystem::perms(0600));
    collector::LoginOptions options;
    options.token_file = tokens_;
    login_ = *collector::Login::Make(options, clock_);
    limits_.groups[0].mode = Mode::kApprove;
    limits_.min_age_s = limits_.second_look_s = 0;
    limits_.max_ratio = 1;
    for (const char* name : {"n1", "n2", "n3", "n4", "n5", "n6"}) {
      cluster_.nodes[name] = {name, false, true, "", "", "", {"p"}};
    }
    verdict_ = {"v1", "job", "established", "compute_slow", "rank", "rank 1", "n1", "", true, ""};
    verdict_.sentence = "rank 1 <is> \"slow\"";
    actuator_ = std::make_unique<Actuator>(
        limits_, Ledger(),
        Actuator::Parts{[this](View& view) {
                          view.verdicts = {verdict_};
                          view.verdicts_known = true;
                          return absl::OkStatus();
                        },
                        cluster_,
                        [this](const Record& record) {
                          if (!disk_full_) log_.push_back(record);
                          return disk_full_ ? absl::UnavailableError("no space") : absl::OkStatus();
                        },
                        [](const collector::Notice&) { return absl::OkStatus(); }, clock_});
    api_ = std::make_unique<CordonApi>("slurm", *login_);
    api_->Activate(*actuator_);
  }
  ~CordonApiTest() override { std::filesystem::remove(tokens_); }

  void Look(int times = 3) {
    for (int i = 0; i < times; ++i) {
      clock_.AdvanceSeconds(1);
      actuator_->Look();
    }
  }
  collector::Response Ask(const std::string& method, const std::string& path,
                          const std::string& token = "", const std::string& body = "") const {
    CordonRequest request;
    request.line = *collector::ParseTarget(path, "");
    request.line.method = method;
    request.line.body = body;
    request.who.token = token;
    return api_->Answer(request);
  }
  Json Listed(const std::string& path) const {
    return Json::parse(Ask("GET", path, collector::kBob).body);
  }
  std::string id() const { return ActionId(verdict_); }

  const std::string tokens_;
  collector::FakeClock clock_;
  std::unique_ptr<collector::Login> login_;
  Limits limits_;
  FakeCluster cluster_;
  VerdictFact verdict_;
  bool disk_full_ = false;
  std::vector<Record> log_;
  std::unique_ptr<Actuator> actuator_;
  std::unique_ptr<CordonApi> api_;
};

TEST_F(CordonApiTest, HealthNeedsNoLoginAndAllElseDoes) {
  EXPECT_EQ(Ask("GET", "/healthz").status, 200);
  EXPECT_EQ(Ask("GET", "/readyz").status, 200);
  for (const char* path : {"/metrics", "/api/v1/actions", "/api/v1/plan", "/", "/nowhere"}) {
    EXPECT_EQ(Ask("GET", path).status, 401) << path;
    EXPECT_EQ(Ask("GET", path, "guessed-0123456789").status, 401) << path;
  }
  EXPECT_EQ(Ask("POST", "/api/v1/pause", "", R"({"reason":"x"})").status, 401);
}

TEST_F(CordonApiTest, AViewerReadsAndChangesNothing) {
  Look();
  const std::size_t before = log_.size();
  EXPECT_EQ(Ask("GET", "/api/v1/actions", collector::kBob).status, 200);
  EXPECT_EQ(Ask("HEAD", "/api/v1/plan", collector::kBob).status, 200);
  for (const std::string& path : {"/api/v1/actions/" + id() + "/approve",
                                  "/api/v1/actions/" + id() + "/undo", std::string("/api/v1/pause"),
                                  std::string("/api/v1/resume"), std::string("/api/v1/reset")}) {
    EXPECT_EQ(Ask("POST", path, collector::kBob, R"({"reason":"x"})").status, 403) << path;
  }
  EXPECT_EQ(log_.size(), before);
}

TEST_F(CordonApiTest, PathsAndMethodsThatAreNone) {
  for (const char* path : {"/", "/api", "/api/v1", "/api/v2/actions", "/x/v1/actions"}) {
    EXPECT_EQ(Ask("GET", path, collector::kAnn).status, 404) << path;
  }
  for (const char* path : {"/api/v1/pause", "/api/v1/actions/a1/approve", "/api/v1/nothing"}) {
    EXPECT_EQ(Ask("GET", path, collector::kAnn).status, 405) << path;
  }
  for (const char* method : {"PUT", "DELETE", "PATCH", ""}) {
    EXPECT_EQ(Ask(method, "/api/v1/pause", collector::kAnn).status, 405) << method;
  }
  for (const char* path :
       {"/api/v1/nothing", "/api/v1/actions", "/api/v1/actions/a1", "/api/v1/actions/a1/hold",
        "/api/v1/actions/a1/approve/x", "/api/v1/pause/now", "/api/v1/actions/a0000/approve"}) {
    EXPECT_EQ(Ask("POST", path, collector::kAnn).status, 404) << path;
  }
  EXPECT_TRUE(log_.empty());
}

TEST_F(CordonApiTest, APauseNeedsAReasonAndIsWrittenUnderThePersonsName) {
  for (const char* body : {"", "{}", R"({"reason":""})", R"({"reason":3})", "reason=x", "{"}) {
    EXPECT_EQ(Ask("POST", "/api/v1/pause", collector::kAnn, body).status, 400) << body;
  }
  EXPECT_EQ(Ask("POST", "/api/v1/pause", collector::kAnn, R"({"reason":"fire"})").status, 200);
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_EQ(log_[0].kind, RecordKind::kPaused);
  EXPECT_EQ(log_[0].actor, "ann");
  EXPECT_EQ(log_[0].text, "ann: fire");
  EXPECT_EQ(Listed("/api/v1/actions")["paused"], "ann: fire");
  EXPECT_EQ(Ask("POST", "/api/v1/resume", collector::kAnn).status, 200);
  EXPECT_EQ(Listed("/api/v1/actions")["paused"], "");
}

TEST_F(CordonApiTest, ApprovedHeldUndoneAndEachTwiceIsAConflict) {
  Look();
  EXPECT_EQ(Listed("/api/v1/plan")["plan"][0]["hindrance"],
            "waits for a person: fathom action approve");
  EXPECT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/undo", collector::kAnn).status, 409)
      << "nothing is held";
  EXPECT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/approve", collector::kAnn).status, 200);
  const auto again = Ask("POST", "/api/v1/actions/" + id() + "/approve", collector::kAnn);
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.body, HasSubstr("is approved (by ann)"));
  Look();
  const Json held = Listed("/api/v1/actions");
  EXPECT_EQ(held["held"], 1);
  EXPECT_EQ(held["backend"], "slurm");
  EXPECT_EQ(held["actions"][0]["phase"], "acted");
  EXPECT_EQ(held["actions"][0]["evidence"], verdict_.sentence) << "escaped and read back";
  EXPECT_EQ(cluster_.nodes["n1"].owner, id());
  EXPECT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/undo", collector::kAnn).status, 200);
  Look();
  EXPECT_EQ(cluster_.nodes["n1"].owner, "");
  EXPECT_EQ(Listed("/api/v1/actions")["actions"][0]["phase"], "undone");
  EXPECT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/undo", collector::kAnn).status, 409);
  EXPECT_EQ(log_.back().kind, RecordKind::kUndone);
  EXPECT_EQ(log_.back().actor, "ann");
}

TEST_F(CordonApiTest, AnUndoGoesThroughAPauseAndAnApprovalWaitsForItsEnd) {
  Look();
  ASSERT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/approve", collector::kAnn).status, 200);
  ASSERT_EQ(Ask("POST", "/api/v1/pause", collector::kAnn, R"({"reason":"r"})").status, 200);
  Look();
  EXPECT_EQ(cluster_.held, 0);
  EXPECT_EQ(Listed("/api/v1/plan")["plan"][0]["hindrance"], "paused: ann: r");
  ASSERT_EQ(Ask("POST", "/api/v1/resume", collector::kAnn).status, 200);
  Look();
  ASSERT_EQ(cluster_.held, 1);
  ASSERT_EQ(Ask("POST", "/api/v1/pause", collector::kAnn, R"({"reason":"r"})").status, 200);
  ASSERT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/undo", collector::kAnn).status, 200);
  Look();
  EXPECT_EQ(cluster_.released, 1);
}

TEST_F(CordonApiTest, WhatCannotBeWrittenIsNotDone) {
  Look();
  disk_full_ = true;
  const auto refused = Ask("POST", "/api/v1/actions/" + id() + "/approve", collector::kAnn);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("no space"));
  EXPECT_EQ(Listed("/api/v1/actions")["actions"][0]["phase"], "advised");
  EXPECT_THAT(Ask("GET", "/readyz").body, HasSubstr("the audit log cannot be written"));
}

TEST_F(CordonApiTest, AStandbyIsAliveNotReadyAndCommandsNothing) {
  api_ = std::make_unique<CordonApi>("slurm", *login_);
  EXPECT_EQ(Ask("GET", "/healthz").status, 200);
  const auto ready = Ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(Json::parse(ready.body)["ready"], false);
  EXPECT_THAT(ready.body, HasSubstr("another fathom-cordon holds the audit log"));
  EXPECT_EQ(Ask("GET", "/api/v1/actions", collector::kBob).status, 503);
  EXPECT_EQ(Ask("POST", "/api/v1/pause", collector::kAnn, R"({"reason":"r"})").status, 503);
  EXPECT_THAT(Ask("GET", "/metrics", collector::kBob).body,
              HasSubstr("\nfathom_cordon_active 0\n"));
  EXPECT_TRUE(log_.empty());
}

TEST_F(CordonApiTest, ProblemsOfTheLookAreToldAndGoWithTheNext) {
  cluster_.down = true;
  Look(1);
  const auto ready = Ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 200) << "it lives, and says what ails it";
  EXPECT_THAT(ready.body, HasSubstr("the cluster does not answer"));
  EXPECT_THAT(Ask("GET", "/metrics", collector::kBob).body,
              HasSubstr("\nfathom_cordon_problems 1\n"));
  cluster_.down = false;
  Look(1);
  EXPECT_EQ(Json::parse(Ask("GET", "/readyz").body)["degraded"], Json::array());
  EXPECT_THAT(Ask("GET", "/metrics", collector::kBob).body,
              HasSubstr("\nfathom_cordon_problems 0\n"));
}

TEST_F(CordonApiTest, MetricsCountWhatCameOfEachStepByItsMode) {
  Look();
  ASSERT_EQ(Ask("POST", "/api/v1/actions/" + id() + "/approve", collector::kAnn).status, 200);
  Look();
  const std::string page = Ask("GET", "/metrics", collector::kBob).body;
  for (const char* line :
       {"fathom_actions_total{backend=\"slurm\",mode=\"approve\",result=\"advised\"} 1",
        "fathom_actions_total{backend=\"slurm\",mode=\"approve\",result=\"done\"} 1",
        "fathom_cordon_active 1", "fathom_cordon_held_nodes 1", "fathom_cordon_paused 0"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n") + line + "\n"));
  }
}

}  // namespace
}  // namespace fathom::cordon
