// The file of notify_routes: one good file, and what is said of each wrong one.
#include "collector/config/routes_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "collector/config/collector_config.h"

namespace fathom::collector {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RoutesFileTest : public testing::Test {
 protected:
  absl::StatusOr<std::vector<Route>> Read(const std::string& text) {
    std::ofstream(file_) << text;
    return ReadRoutes(file_, *ParseReceivers("oncall:json=http://a,chat:slack=http://b", ""));
  }
  std::string Wrong(const std::string& text) {
    const auto routes = Read(text);
    return routes.ok() ? "" : std::string(routes.status().message());
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string file_ = testing::TempDir() + "routes" + std::to_string(getpid()) + ".yaml";
};

TEST_F(RoutesFileTest, AllKeysAreRead) {
  const auto routes = Read(R"(routes:
  - owner: operations
    cause: [compute_slow, link_slow]
    job: "prod-*"
    to: [oncall]
    quiet: "22:00-07:30 -08:00"
    labels: {team: dc}
    runbook: https://wiki/slow
  - to: []
)");
  ASSERT_TRUE(routes.ok()) << routes.status();
  ASSERT_EQ(routes->size(), 2u);
  const Route& first = routes->front();
  EXPECT_THAT(first.owners, ElementsAre("operations"));
  EXPECT_THAT(first.causes, ElementsAre("compute_slow", "link_slow"));
  EXPECT_THAT(first.jobs, ElementsAre("prod-*"));
  EXPECT_THAT(first.to, ElementsAre("oncall"));
  EXPECT_EQ(*first.quiet, (QuietHours{22 * 60, 7 * 60 + 30, -8 * 60}));
  EXPECT_EQ(first.labels.at("team"), "dc");
  EXPECT_EQ(first.runbook, "https://wiki/slow");
  EXPECT_TRUE(routes->back().to.empty());
}

TEST_F(RoutesFileTest, WhatIsWrongIsToldWithTheRuleTheKeyAndTheNearestWord) {
  const auto rule = [this](const std::string& lines) {
    return Wrong("routes:\n  - to: [chat]\n  - to: [chat]\n    " + lines + "\n");
  };
  EXPECT_THAT(rule("owner: operation"),
              HasSubstr("route 2: owner: 'operation' is no owner; did you mean 'operations'?"));
  EXPECT_THAT(rule("cause: dataloder"), HasSubstr("did you mean 'dataloader'?"));
  EXPECT_THAT(rule("cuase: gc"), HasSubstr("route 2: cuase: no such key; did you mean 'cause'?"));
  for (const char* hours : {"22-07", "22:00", "25:00-07:00", "22:00-07:00 1", "22:00-07:00 +1:00",
                            "22:00-07:00 +01:00 x", "[a]"}) {
    EXPECT_THAT(rule(std::string("quiet: ") + hours), HasSubstr("are no hours")) << hours;
  }
  EXPECT_THAT(rule("labels: {job: x}"), HasSubstr("'job' is set by fathom itself"));
  EXPECT_THAT(rule("labels: {9a: x}"), HasSubstr("no name of letters"));
  EXPECT_THAT(rule("runbook: wiki/slow"), HasSubstr("no http:// or https:// address"));
  EXPECT_THAT(Wrong("routes:\n  - to: [ops]\n"), HasSubstr("'ops' is no receiver of notify"));
  EXPECT_THAT(Wrong("routes:\n  - owner: operations\n"), HasSubstr("to: is missing"));
  EXPECT_THAT(Wrong("routes: chat\n"), HasSubstr("a list of rules"));
  EXPECT_THAT(Wrong("rules: []\n"), HasSubstr("a list of rules"));
  EXPECT_THAT(Wrong("routes: [\n"), HasSubstr(file_));
}

TEST_F(RoutesFileTest, TheCollectorRefusesToStartWithAWrongFile) {
  CollectorConfig config;
  config.store = ":memory:";
  config.notify_routes = "/nowhere/routes.yaml";
  const auto finalized = Finalize(config);
  ASSERT_FALSE(finalized.ok());
  EXPECT_THAT(std::string(finalized.status().message()),
              HasSubstr("notify_routes: /nowhere/routes.yaml: cannot be read"));
}

}  // namespace
}  // namespace fathom::collector
