// Every threshold is documented: docs/rules/config.md has a row for each field of DiagnosisConfig,
// with its default and where that comes from, and docs/rules/sensitivity.md what becomes of the
// verdicts where it is moved. Those on slowness are no more than thirty.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
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

// Name of the setting and default as the header has them, nanoseconds in seconds.
std::map<std::string, double> Thresholds() {
  const std::string header = Read("diagnosis/model/config.h");
  const std::regex field(R"(\n  (double|std::\w+|Nanos) (\w+)(?: = |\{)([0-9.e'-]+))");
  std::map<std::string, double> found;
  for (std::sregex_iterator it(header.begin(), header.end(), field), end; it != end; ++it) {
    const bool time = (*it)[1] == "Nanos";
    const std::string digits = std::regex_replace((*it)[3].str(), std::regex("'"), "");
    double value = 0;
    EXPECT_TRUE(absl::SimpleAtod(digits, &value)) << (*it)[2];
    found[(*it)[2].str() + (time ? "_s" : "")] = time ? value / 1e9 : value;
  }
  return found;
}

// Cells of the rows that begin with a `name`, without it.
std::map<std::string, std::vector<std::string>> RowsOf(const std::string& page) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(Read(page), '\n'))) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells = absl::StrSplit(line, '|');
    for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
    const std::string name = cells[1].substr(1, cells[1].size() - 2);
    rows.emplace(name, std::vector<std::string>(cells.begin() + 2, cells.end() - 1));
  }
  return rows;
}

void ExpectDefault(const std::vector<std::string>& row, double value) {
  double told = 0;
  ASSERT_FALSE(row.empty());
  EXPECT_TRUE(absl::SimpleAtod(row[0], &told)) << row[0];
  EXPECT_DOUBLE_EQ(told, value);
}

TEST(ConfigDocTest, EveryThresholdHasItsDefaultAndItsReason) {
  const auto rows = RowsOf("docs/rules/config.md");
  const auto thresholds = Thresholds();
  EXPECT_GE(thresholds.size(), 40U);
  for (const auto& [name, value] : thresholds) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(rows.contains(name));
    const auto& row = rows.at(name);
    ExpectDefault(row, value);
    ASSERT_EQ(row.size(), 3U);
    EXPECT_NE(row[2], "") << "where does the default come from?";
  }
}

// Slowness is judged by few: one more wants a reason that none of these gives.
TEST(ConfigDocTest, ThresholdsOfSlownessAreFew) {
  const std::string page = Read("docs/rules/config.md");
  const std::size_t from = page.find("## Stalls and hangs"), to = page.find("\n## ", from);
  ASSERT_NE(to, std::string::npos);
  std::size_t of_hangs = 0;
  for (const auto& [name, value] : Thresholds()) {
    const std::size_t at = page.find("| `" + name + "` |");
    of_hangs += at > from && at < to;
  }
  EXPECT_GE(of_hangs, 20U);
  EXPECT_LE(Thresholds().size() - of_hangs, 30U);
}

TEST(ConfigDocTest, EveryThresholdIsInTheTableOfSensitivity) {
  const auto rows = RowsOf("docs/rules/sensitivity.md");
  for (const auto& [name, value] : Thresholds()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(rows.contains(name))
        << "tests/truth/sensitivity --thresholds " << name << " --page docs/rules/sensitivity.md";
    ExpectDefault(rows.at(name), value);
  }
}

}  // namespace
}  // namespace fathom::diagnosis
