#include "collector/cordon/config/cordon_config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace fathom::cordon {
namespace {

std::string FileWith(const std::string& text) {
  const std::string file = ::testing::TempDir() + "fathom-cordon-config.yaml";
  std::ofstream(file) << text;
  return file;
}

absl::StatusOr<CordonCommandLine> Parse(const std::string& yaml,
                                        const char* flag = "--max-nodes=7") {
  const std::string config = "--config=" + FileWith(yaml);
  const char* argv[] = {"fathom-cordon", config.c_str(), flag};
  return ParseCordonCommandLine(3, argv);
}

TEST(CordonConfigTest, ObservesByDefaultAndFlagBeatsEnvironmentBeatsFile) {
  setenv("FATHOM_CORDON_MIN_AGE_S", "20", 1);
  const auto line = Parse("min_age_s: 10\nmax_nodes: 1\nwindow_s: 99\n");
  unsetenv("FATHOM_CORDON_MIN_AGE_S");
  ASSERT_TRUE(line.ok()) << line.status().message();
  const Limits& limits = line->config.limits;
  EXPECT_EQ(limits.GroupOf("any")->mode, Mode::kObserve);
  EXPECT_EQ(limits.max_nodes, 7);
  EXPECT_EQ(limits.min_age_s, 20);
  EXPECT_EQ(limits.window_s, 99);
}

TEST(CordonConfigTest, TheFirstGroupThatFitsHolds) {
  const auto line = Parse(
      "groups:\n- {name: canary, mode: auto, nodes: ['n1', 'gpu-?']}\n"
      "- {name: rest, mode: advise, nodes: ['n*']}\n");
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->config.limits.GroupOf("gpu-3")->name, "canary");
  EXPECT_EQ(line->config.limits.GroupOf("n17")->mode, Mode::kAdvise);
  EXPECT_EQ(line->config.limits.GroupOf("x"), nullptr);
}

TEST(CordonConfigTest, SaysWhatIsWrong) {
  const auto said = [](const std::string& yaml) {
    return std::string(Parse(yaml).status().message());
  };
  EXPECT_NE(said("max_node: 3\n").find("did you mean 'max_nodes'"), std::string::npos);
  EXPECT_NE(said("groups: [{mode: yolo, nodes: ['*']}]\n").find("yolo"), std::string::npos);
  EXPECT_NE(said("causes: [link_slow]\n").find("never cordons"), std::string::npos);
  EXPECT_NE(said("max_ratio: 2\n").find("max_ratio"), std::string::npos);
  EXPECT_NE(said("http: 0.0.0.0:1\n").find("--insecure"), std::string::npos);
  EXPECT_NE(said("log_level: loud\n").find("log_level"), std::string::npos);
  EXPECT_NE(said("notify: carrier-pigeon=coo\n").find("notify: "), std::string::npos);
}

TEST(CordonConfigTest, AnEmptyValueSwitchesNothingOn) {
  CordonConfig config;
  EXPECT_FALSE(
      collector::ApplySetting(CordonSettings(), "environment", "insecure", "", config).ok());
  EXPECT_FALSE(config.insecure);
}

TEST(CordonConfigTest, WhatIsPrintedCanBeRead) {
  const auto line =
      Parse("groups: [{name: g, mode: approve, nodes: ['a*', 'b']}]\nauto_undo: true\n");
  ASSERT_TRUE(line.ok());
  const auto again = Parse(PrintCordonConfig(line->config));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(PrintCordonConfig(again->config), PrintCordonConfig(line->config));
}

TEST(CordonConfigTest, AChangeBehindTheHostOfTheWebhookIsSeenAndNotPrinted) {
  CordonConfig held;
  held.webhook_url = "https://drain.example/hooks/hush-1";
  CordonConfig anew = held;
  anew.webhook_url = "https://drain.example/hooks/hush-2";
  EXPECT_EQ(NeedRestart(held, anew), std::vector<std::string>{"webhook_url"});
  EXPECT_EQ(NeedRestart(held, held), std::vector<std::string>{});
  for (const CordonConfig& each : {held, anew}) {
    const std::string printed = PrintCordonConfig(each);
    EXPECT_NE(printed.find("webhook_url: https://drain.example"), std::string::npos) << printed;
    EXPECT_EQ(printed.find("hush"), std::string::npos) << printed;
  }
}

}  // namespace
}  // namespace fathom::cordon
