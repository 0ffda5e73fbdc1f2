#include "collector/cordon/config/cordon_config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
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

TEST(CordonConfigTest, WordsThatYamlWouldTakeForSomethingElseArePrintedSoThatTheyAreRead) {
  CordonConfig config;
  config.limits.groups = {{"it's: a, b #1", {"[ab]*", "o'n", "n{1,2}", "*"}, Mode::kAdvise},
                          {"- x", {"plain-1"}, Mode::kAuto},
                          {"null", {"~"}, Mode::kObserve},
                          {"gr\xC3\xBCn", {"&a", "!b", "%c"}, Mode::kApprove}};
  config.slurm_sinfo = "sinfo --cluster 'a: b' # all";
  const auto again = Parse(PrintCordonConfig(config));
  ASSERT_TRUE(again.ok()) << again.status().message();
  const Limits& read = again->config.limits;
  ASSERT_EQ(read.groups.size(), config.limits.groups.size());
  for (std::size_t i = 0; i < read.groups.size(); ++i) {
    EXPECT_EQ(read.groups[i].name, config.limits.groups[i].name);
    EXPECT_EQ(read.groups[i].patterns, config.limits.groups[i].patterns);
    EXPECT_EQ(read.groups[i].mode, config.limits.groups[i].mode);
  }
  EXPECT_EQ(again->config.slurm_sinfo, config.slurm_sinfo);
}

TEST(CordonConfigTest, ValuesThatNoProgramCanGoByAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"poll_s: 0.04\n", "poll_s"},
      {"poll_s: 61\n", "poll_s"},
      {"poll_s: nan\n", "poll_s"},
      {"poll_s: soon\n", "poll_s"},
      {"poll_s: 10\nsight_gap_s: 29\n", "sight_gap_s"},
      {"slurm_timeout_s: 0\n", "slurm_timeout_s"},
      {"slurm_timeout_s: -1\n", "slurm_timeout_s"},
      {"slurm_timeout_s: inf\n", "slurm_timeout_s"},
      {"slurm_timeout_s: nan\n", "slurm_timeout_s"},
      {"backend: pbs\n", "backend"},
      {"backend: webhook\n", "webhook_url"},
      {"insecure: perhaps\n", "insecure"},
      {"tokens: /no/such/tokens\n", "/no/such/tokens"},
      {"tls_cert: /no/such/cert\n", "tls_"},
      {"notify: pagerduty=https://events.example\n", "notify"},
      {"max_ratio: [1]\n", "max_ratio"},
      {"groups: all\n", "groups"},
      {"groups: [all]\n", "groups"},
      {"groups: [{name: g, nodes: n1}]\n", "groups"},
      {"groups: [{name: g, racks: [r1]}]\n", "racks"},
      {"groups: []\n", "groups"},
      {"- a list\n", "NAME: VALUE"},
      {"max_nodes: 3\n  bad: [\n", "fathom-cordon-config.yaml"},
  };
  for (const auto& [yaml, named] : cases) {
    const absl::Status status = Parse(yaml).status();
    EXPECT_FALSE(status.ok()) << yaml;
    EXPECT_NE(std::string(status.message()).find(named), std::string::npos) << status.message();
  }
}

TEST(CordonConfigTest, BoundsThemselvesAndAnEmptyFileAreTaken) {
  for (const char* yaml : {"", "# nothing\n", "poll_s: 0.05\n", "poll_s: 60\nsight_gap_s: 180\n",
                           "slurm_timeout_s: 0.1\n", "causes: []\n"}) {
    EXPECT_TRUE(Parse(yaml).ok()) << yaml << Parse(yaml).status().message();
  }
  const char* argv[] = {"fathom-cordon", "--config=/no/such/file.yaml"};
  EXPECT_NE(std::string(ParseCordonCommandLine(2, argv).status().message()).find("/no/such/file"),
            std::string::npos);
}

TEST(CordonConfigTest, WhatIsAskedForIsToldFromTheFlags) {
  using Ask = CordonCommandLine::Ask;
  const std::pair<const char*, Ask> asked[] = {
      {"--check-config", Ask::kCheckConfig}, {"--print-config", Ask::kPrintConfig},
      {"--verify-audit", Ask::kVerifyAudit}, {"--version", Ask::kPrintText},
      {"--help", Ask::kPrintText},           {"--insecure", Ask::kRun}};
  for (const auto& [flag, ask] : asked) {
    const auto line = Parse("", flag);
    ASSERT_TRUE(line.ok()) << flag;
    EXPECT_EQ(line->ask, ask) << flag;
    EXPECT_EQ(line->text.empty(), ask != Ask::kPrintText) << flag;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Parse("", "--max-node=3").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Parse("", "stray").status()));
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
