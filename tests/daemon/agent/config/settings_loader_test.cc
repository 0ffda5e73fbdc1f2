#include "daemon/agent/config/settings_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using testing::HasSubstr;

class SettingsLoaderTest : public testing::Test {
 protected:
  absl::StatusOr<Invocation> Load(const std::vector<std::string>& arguments) {
    return LoadSettings(arguments, [this](const std::string& name) -> std::optional<std::string> {
      const auto it = environment_.find(name);
      return it == environment_.end() ? std::nullopt : std::optional(it->second);
    });
  }
  std::string Error(const std::vector<std::string>& arguments) {
    return std::string(Load(arguments).status().message());
  }
  std::string File(const std::string& text) {
    const std::string path = folder_.path() + "/agent.yaml";
    std::ofstream(path) << text;
    return path;
  }

  fakes::RingFolder folder_;
  std::map<std::string, std::string> environment_;
};

TEST_F(SettingsLoaderTest, HasDefaults) {
  const auto got = Load({});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->settings.collector, "127.0.0.1:7071");
  EXPECT_EQ(got->settings.http, "127.0.0.1:7072");
  EXPECT_EQ(got->settings.shm_dir, "/dev/shm/fathom");
}

TEST_F(SettingsLoaderTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const std::string file = File("collector: file:1\nnode: file\nshm_dir: /file\nlog-level: warn\n");
  environment_ = {{"FATHOM_COLLECTOR", "env:2"}, {"FATHOM_NODE", "env"}};
  const auto got = Load({"--config", file, "--collector", "flag:3"});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->settings.collector, "flag:3");
  EXPECT_EQ(got->settings.node, "env");
  EXPECT_EQ(got->settings.shm_dir, "/file");
  EXPECT_EQ(got->settings.log_level, "warn");
}

TEST_F(SettingsLoaderTest, AnUnknownKeyNamesTheNearest) {
  EXPECT_THAT(Error({"--config", File("colector: a:1\n")}), HasSubstr("'collector'"));
  EXPECT_THAT(Error({"--shm-dri", "/x"}), HasSubstr("'shm-dir'"));
}

TEST_F(SettingsLoaderTest, BadValuesNameTheSetting) {
  EXPECT_THAT(Error({"--max-rings", "many"}), HasSubstr("max-rings"));
  EXPECT_THAT(Error({"--collector", "nowhere"}), HasSubstr("--collector"));
  EXPECT_THAT(Error({"--http", "127.0.0.1:99999"}), HasSubstr("--http"));
  EXPECT_THAT(Error({"--log-level", "loud"}), HasSubstr("log-level"));
  environment_["FATHOM_LINGER_S"] = "-1";
  EXPECT_THAT(Error({}), HasSubstr("linger-s"));
}

TEST_F(SettingsLoaderTest, FilesThatAreNoMapsAreRefused) {
  EXPECT_FALSE(Load({"--config", File("- a\n- b\n")}).ok());
  EXPECT_FALSE(Load({"--config", File("a: [b\n")}).ok());
  EXPECT_FALSE(Load({"--config", "/nonexistent.yaml"}).ok());
  EXPECT_TRUE(Load({"--config", File("")}).ok());
}

TEST_F(SettingsLoaderTest, AnOpenBindNeedsToBeMeant) {
  EXPECT_THAT(Error({"--http", "0.0.0.0:7072"}), HasSubstr("--insecure"));
  EXPECT_TRUE(Load({"--http", "0.0.0.0:7072", "--insecure"}).ok());
  EXPECT_THAT(Error({"--http", "0.0.0.0:7072", "--http-cert", "/a"}),
              HasSubstr("--http-client-ca"));
  EXPECT_THAT(Error({"--http-client-ca", "/nowhere.ca"}), HasSubstr("--http-cert"));
  EXPECT_TRUE(Load({"--http", "[::1]:7072"}).ok());
  EXPECT_TRUE(Load({"--http", ""}).ok());
}

TEST_F(SettingsLoaderTest, PrintedSettingsCanBeReadBack) {
  const auto got = Load({"--node", "n7", "--linger-s", "1.5", "--shared"});
  ASSERT_TRUE(got.ok());
  const auto again = Load({"--config", File(PrintSettings(got->settings))});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->settings.node, "n7");
  EXPECT_EQ(again->settings.linger_s, 1.5);
  EXPECT_TRUE(again->settings.shared);
  EXPECT_EQ(PrintSettings(again->settings), PrintSettings(got->settings));
}

TEST_F(SettingsLoaderTest, KnowsWhatIsAskedFor) {
  EXPECT_EQ(Load({"--check-config"})->what, Invocation::What::kCheck);
  EXPECT_EQ(Load({"--print-config"})->what, Invocation::What::kPrint);
  EXPECT_EQ(Load({"--version"})->what, Invocation::What::kVersion);
  const auto help = Load({"--help"});
  EXPECT_EQ(help->what, Invocation::What::kHelp);
  EXPECT_THAT(help->text, HasSubstr("--shm-dir"));
  EXPECT_THAT(help->text, testing::Not(HasSubstr("parent-death")));
  EXPECT_TRUE(Load({"--parent-death-signal"})->settings.parent_death_signal);
}

}  // namespace
}  // namespace fathom::agent
