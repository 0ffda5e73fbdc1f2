#include "collector/config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "collector/config/command_line.h"
#include "collector/config/removed_settings.h"
#include "collector/config/thresholds.h"

namespace fathom::collector {
namespace {

using testing::HasSubstr;

struct SettingsTest : testing::Test {
  std::string file = (std::filesystem::temp_directory_path() /
                      ("fathom-config-" + std::to_string(getpid()) + ".yaml"))
                         .string();
  void TearDown() override {
    std::filesystem::remove(file);
    unsetenv("FATHOM_LOG_LEVEL");
    unsetenv("FATHOM_DIAGNOSIS_DELTA");
  }
  void Write(const std::string& text) { std::ofstream(file) << text; }
  static absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "fathom-collector");
    return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data());
  }
  static std::string Error(const std::vector<const char*>& arguments) {
    const auto line = Parse(arguments);
    if (!line.ok()) return std::string(line.status().message());
    const auto config = Finalize(line->config);
    return config.ok() ? "" : std::string(config.status().message());
  }
};

TEST_F(SettingsTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  Write("log_level: error\nhttp: 127.0.0.1:1\ndiagnosis:\n  delta: 1.2\n  stall_factor: 9\n");
  setenv("FATHOM_LOG_LEVEL", "debug", 1);
  setenv("FATHOM_DIAGNOSIS_DELTA", "1.3", 1);
  const auto line = Parse({"--config", file.c_str(), "--diagnosis-delta", "1.4"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.http, "127.0.0.1:1");
  EXPECT_EQ(line->config.log_level, "debug");
  EXPECT_EQ(line->config.diagnosis.delta, 1.4);
  EXPECT_EQ(line->config.diagnosis.stall_factor, 9);
  EXPECT_EQ(line->config.grpc, "127.0.0.1:7071");
}

TEST_F(SettingsTest, ABudgetIsNoneOrAShareOfTheMachine) {
  Write("budget_cpu: 50\n");
  const auto line = Parse({"--config", file.c_str(), "--budget-mib", "512"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.budget_cpu, 50);
  EXPECT_EQ(line->config.budget_mib, 512);
  EXPECT_EQ(CollectorConfig().budget_cpu, 0) << "no limit unless it is asked for";
  EXPECT_EQ(Error({"--budget-cpu", "0.5"}), "");
  EXPECT_THAT(Error({"--budget-cpu", "-1"}), HasSubstr("budget_cpu"));
  EXPECT_THAT(Error({"--budget-mib", "-1"}), HasSubstr("budget_mib"));
  EXPECT_THAT(Error({"--budget-cpu", "half"}), HasSubstr("is not a number"));
}

TEST_F(SettingsTest, ASettingOfAnEarlierVersionIsToldAndNotRead) {
  Write("diagnosis:\n  odd_group_ratio: 3\n  persistent_share: 0.7\n  delta: 1.2\n");
  const auto line = Parse({"--config", file.c_str()});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->config.diagnosis.delta, 1.2);
  EXPECT_THAT(
      line->config.unread,
      testing::ElementsAre(file + ": diagnosis.odd_group_ratio (nothing takes its place)",
                           file + ": diagnosis.persistent_share (see diagnosis.consistent_share)"));
  std::vector<std::string> unread;
  const auto read = ReadThresholds(file, unread);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->delta, 1.2);
  EXPECT_EQ(unread, line->config.unread);
}

TEST_F(SettingsTest, WhatIsNamedInsteadOfARemovedSettingExists) {
  std::vector<std::string> known;
  for (const Setting& setting : Settings()) known.push_back(setting.name);
  std::ifstream source(std::string(std::getenv("FATHOM_SOURCE_DIR")) +
                       "/collector/config/removed_settings.cc");
  const std::regex row(R"re(    \{"(\w+)", "(\w*)"\},)re");
  std::smatch cells;
  std::size_t rows = 0;
  for (std::string line; std::getline(source, line);) {
    if (!std::regex_match(line, cells, row)) continue;
    ++rows;
    const std::string name = "diagnosis." + cells[1].str();
    EXPECT_THAT(known, testing::Not(testing::Contains(name)));
    EXPECT_TRUE(RemovedSetting(name)) << name;
    if (cells[2].length() > 0) {
      EXPECT_THAT(known, testing::Contains("diagnosis." + cells[2].str())) << name;
    }
  }
  EXPECT_GT(rows, 50u);
}

TEST_F(SettingsTest, AnUnknownKeyNamesTheNearest) {
  Write("log_levle: info\n");
  EXPECT_THAT(Error({"--config", file.c_str()}), HasSubstr("did you mean 'log_level'"));
  Write("diagnosis:\n  dleta: 2\n");
  EXPECT_THAT(Error({"--config", file.c_str()}), HasSubstr("did you mean 'diagnosis.delta'"));
  EXPECT_THAT(Error({"--htpp", "x"}), HasSubstr("did you mean '--http'"));
}

TEST_F(SettingsTest, ErrorsNameFileAndSetting) {
  EXPECT_THAT(Error({"--config", "/nowhere/at.yaml"}), HasSubstr("/nowhere/at.yaml"));
  Write("http: [1, 2]\n");
  EXPECT_THAT(Error({"--config", file.c_str()}), HasSubstr("http: a single value"));
  Write("{{{\n");
  EXPECT_THAT(Error({"--config", file.c_str()}), HasSubstr(file));
  Write("- a\n");
  EXPECT_THAT(Error({"--config", file.c_str()}), HasSubstr("NAME: VALUE"));
  Write("max_jobs: many\n");
  EXPECT_THAT(Error({"--config", file.c_str()}),
              HasSubstr("max_jobs: 'many' is not a whole number"));
  EXPECT_THAT(Error({"--max-jobs"}), HasSubstr("--max-jobs"));
}

TEST_F(SettingsTest, OnlyLoopbackWithoutInsecure) {
  EXPECT_THAT(Error({"--http", "0.0.0.0:7070"}), HasSubstr("--insecure"));
  EXPECT_THAT(Error({"--grpc", "[::]:7071"}), HasSubstr("--insecure"));
  EXPECT_EQ(Error({"--http", "0.0.0.0:7070", "--insecure"}), "");
  EXPECT_EQ(Error({"--http", "[::1]:7070", "--grpc", "localhost:0"}), "");
  EXPECT_THAT(Error({"--http", "127.0.0.1"}), HasSubstr("HOST:PORT"));
  EXPECT_THAT(Error({"--http", "127.0.0.1:99999"}), HasSubstr("HOST:PORT"));
}

TEST_F(SettingsTest, PeoplesTokensGoToAFathomCordonOverTlsOrOnThisMachineOnly) {
  Write("ann operator sha256:" + std::string(64, 'a') + "\n");
  std::filesystem::permissions(file, std::filesystem::perms(0600));
  const auto error = [&](const char* cordon, const char* more) {
    return Error({"--cordon-changes", "--tokens", file.c_str(), "--cordon-http", cordon, more});
  };
  EXPECT_EQ(error("127.0.0.1:7073", "--reflection"), "");
  EXPECT_EQ(error("https://head:7073", "--reflection"), "");
  EXPECT_THAT(error("head:7073", "--reflection"), HasSubstr("cross the network in clear"));
  EXPECT_EQ(error("head:7073", "--insecure"), "");
  EXPECT_THAT(error("", "--reflection"), HasSubstr("cordon_http"));
  EXPECT_THAT(Error({"--cordon-changes", "--cordon-http", "127.0.0.1:1"}), HasSubstr("set tokens"));
}

TEST_F(SettingsTest, RangesAreChecked) {
  EXPECT_THAT(Error({"--diagnosis-delta", "0.9"}), HasSubstr("diagnosis.delta"));
  EXPECT_THAT(Error({"--max-ranks", "0"}), HasSubstr("max_ranks"));
  EXPECT_EQ(Error({}), "") << "the defaults";
  EXPECT_THAT(Error({"--log-level", "loud"}), HasSubstr("'loud'"));
  for (const char* endless : {"1e300", "inf", "nan"}) {
    EXPECT_THAT(Error({"--diagnosis-stall-floor-s", endless}), HasSubstr("too many")) << endless;
  }
}

TEST_F(SettingsTest, WhatIsPrintedReadsBackTheSame) {
  auto line = Parse({"--http", "127.0.0.1:5", "--diagnosis-stall-floor-s", "4.5", "--reflection"});
  ASSERT_TRUE(line.ok());
  const std::string printed = Print(line->config);
  Write(printed);
  const auto again = Parse({"--config", file.c_str()});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Print(again->config), printed);
  EXPECT_EQ(again->config.diagnosis.stall_floor, Nanos(4'500'000'000));
  EXPECT_TRUE(again->config.reflection);
}

TEST_F(SettingsTest, TextsThatYamlWouldReadOtherwiseArePrintedInQuotes) {
  for (const char* store : {":memory:", "it's: here", "a #b", "[a]", "- a", "a:"}) {
    const auto line = Parse({"--store", store, "--stream", "ops", "--stream-jobs", "*"});
    ASSERT_TRUE(line.ok()) << line.status();
    Write(Print(line->config));
    const auto again = Parse({"--config", file.c_str()});
    ASSERT_TRUE(again.ok()) << store << ": " << again.status();
    EXPECT_EQ(again->config.store, store);
    EXPECT_EQ(Print(again->config), Print(line->config));
  }
}

TEST_F(SettingsTest, SecretsAreNotPrinted) {
  const auto line = Parse({"--notify",
                           "slack=https://hooks.slack.com/services/T0/B0/hush,"
                           "alertmanager=http://ann:hush@am:9093,json=https://x/?key=hush"});
  ASSERT_TRUE(line.ok());
  const std::string printed = Print(line->config);
  EXPECT_THAT(printed, testing::Not(HasSubstr("hush")));
  EXPECT_THAT(printed, HasSubstr("notify: slack=https://hooks.slack.com/***,"
                                 "alertmanager=http://***@am:9093,json=https://x/***\n"));
}

TEST_F(SettingsTest, TellsWhatNeedsARestart) {
  const auto held = Parse({"--http", "127.0.0.1:1", "--page-url", "http://a"});
  const auto anew = Parse({"--http", "127.0.0.1:2", "--page-url", "http://b", "--log-level",
                           "debug", "--diagnosis-delta", "1.3"});
  ASSERT_TRUE(held.ok() && anew.ok());
  EXPECT_THAT(NeedRestart(held->config, anew->config),
              testing::ElementsAre("http", "diagnosis.delta"));
}

TEST_F(SettingsTest, EveryThresholdOfDiagnosisCanBeSet) {
  std::ifstream header(std::string(std::getenv("FATHOM_SOURCE_DIR")) + "/diagnosis/model/config.h");
  ASSERT_TRUE(header);
  std::size_t fields = 0;
  for (std::string line; std::getline(header, line);) {
    for (const char* type : {"  double ", "  std::int32_t ", "  std::uint32_t ", "  Nanos "}) {
      const bool is_function = line.find("() const") != std::string::npos;
      fields += line.rfind(type, 0) == 0 && !is_function;
    }
  }
  std::size_t settings = 0;
  for (const Setting& setting : Settings()) settings += setting.name.rfind("diagnosis.", 0) == 0;
  EXPECT_GT(fields, 30u);
  EXPECT_EQ(settings, fields);
  EXPECT_THAT(Error({"--diagnosis-supported-odds", "-1"}), HasSubstr("diagnosis.supported_odds"));
}

// For programs that judge without being a collector: of its file the thresholds, and nothing else.
TEST_F(SettingsTest, ThresholdsAreReadFromTheFileOfACollector) {
  Write("http: 0.0.0.0:1\ndiagnosis:\n  min_irregular: 4\n  consistent_share: 0.7\n");
  setenv("FATHOM_DIAGNOSIS_DELTA", "1.3", 1);
  std::vector<std::string> unread;
  const auto read = ReadThresholds(file, unread);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->min_irregular, 4);
  EXPECT_EQ(read->consistent_share, 0.7);
  EXPECT_DOUBLE_EQ(read->chance_share(), 0.3);
  EXPECT_THAT(unread, testing::IsEmpty());
  EXPECT_EQ(read->delta, diagnosis::DiagnosisConfig().delta) << "the environment is not asked";
  EXPECT_EQ(ReadThresholds("", unread)->min_irregular, diagnosis::DiagnosisConfig().min_irregular);
}

TEST_F(SettingsTest, ThresholdsThatCannotBeNameFileSettingAndReason) {
  const auto refused = [this](const std::string& text) {
    Write(text);
    std::vector<std::string> unread;
    const auto read = ReadThresholds(file, unread);
    EXPECT_THAT(read.status().message(), HasSubstr(file));
    return std::string(read.status().message());
  };
  EXPECT_THAT(refused("diagnosis:\n  link_fcator: 4\n"),
              HasSubstr("did you mean 'diagnosis.link_factor'"));
  EXPECT_THAT(refused("diagnosis:\n  min_irregular: 1\n"),
              HasSubstr("diagnosis.min_irregular: 1 is not between 2"));
  EXPECT_THAT(refused("diagnosis:\n  consistent_share: 1\n"), HasSubstr("not between"));
  EXPECT_THAT(refused("diagnosis:\n  delta: much\n"), HasSubstr("'much' is not a number"));
  EXPECT_THAT(refused("diagnosis: [1\n"), HasSubstr("line"));
  std::filesystem::remove(file);
  std::vector<std::string> unread;
  EXPECT_THAT(ReadThresholds(file, unread).status().message(), HasSubstr("cannot be read"));
}

TEST_F(SettingsTest, HelpAndVersionAreTexts) {
  const auto help = Parse({"--help"});
  ASSERT_TRUE(help.ok());
  EXPECT_EQ(help->ask, CommandLine::Ask::kPrintText);
  EXPECT_THAT(help->text, HasSubstr("--grpc"));
  EXPECT_THAT(help->text, testing::Not(HasSubstr("parent-death")));
  EXPECT_THAT(Parse({"--version"})->text, HasSubstr("fathom-collector "));
}

}  // namespace
}  // namespace fathom::collector
