// Every threshold is documented: docs/rules/config.md names the setting of each field of
// DiagnosisConfig.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fathom::diagnosis {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(std::filesystem::path(FATHOM_ROOT) / path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ConfigDocTest, NamesEveryThreshold) {
  const std::string header = Read("diagnosis/engine/config.h");
  const std::string page = Read("docs/rules/config.md");
  const std::regex field(R"(\n  (double|std::\w+|Nanos) (\w+)(?: =|\{))");
  int fields = 0;
  for (std::sregex_iterator it(header.begin(), header.end(), field), end; it != end; ++it) {
    const std::string setting = (*it)[2].str() + ((*it)[1] == "Nanos" ? "_s" : "");
    EXPECT_THAT(page, ::testing::HasSubstr("| `" + setting + "`"));
    ++fields;
  }
  EXPECT_GE(fields, 30);
}

}  // namespace
}  // namespace fathom::diagnosis
