// The CSV files of `fathom analyze --tables`, against lines worked out by hand.
#include "collector/export/tables/table_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace fathom::collector {
namespace {

using diagnosis::JobTables;

std::string TextOf(const JobTables& tables, const std::string& file) {
  for (const auto& [name, text] : TableTexts(tables)) {
    if (name == file) return text;
  }
  return "there is no " + file;
}

// Without the line of the columns.
std::string RowsIn(const JobTables& tables, const std::string& file) {
  const std::string text = TextOf(tables, file);
  return text.substr(text.find('\n') + 1);
}

TEST(TableFilesTest, AJobWithoutAnythingHasAllFilesWithTheirColumnsAlone) {
  const auto texts = TableTexts({});
  ASSERT_EQ(texts.size(), 11u);
  for (const auto& [name, text] : texts) {
    EXPECT_TRUE(name.ends_with(".csv")) << name;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << name << ": one line";
    EXPECT_GT(text.size(), 10u) << name;
  }
}

TEST(TableFilesTest, EveryRowHasAsManyFieldsAsThereAreColumns) {
  JobTables tables;
  tables.totals.emplace_back();
  tables.iterations.emplace_back();
  tables.path.emplace_back();
  tables.functions.emplace_back();
  auto& row = tables.collectives.emplace_back();
  row.bytes = 8;
  row.bus_bandwidth = row.bandwidth = 1;
  row.transfer = 1;
  auto& rank = tables.ranks.emplace_back();
  rank.idle.emplace_back();
  rank.kernels.emplace_back();
  rank.launches.emplace_back();
  rank.copies.emplace_back();
  for (const auto& [name, text] : TableTexts(tables)) {
    std::istringstream lines(text);
    std::string columns, fields;
    std::getline(lines, columns);
    ASSERT_TRUE(std::getline(lines, fields)) << name << " has no row";
    EXPECT_EQ(std::count(columns.begin(), columns.end(), ','),
              std::count(fields.begin(), fields.end(), ','))
        << name << ": " << fields;
  }
}

TEST(TableFilesTest, TotalsOfARankAreSecondsAndItsOverlapARatio) {
  JobTables tables;
  auto& rank = tables.totals.emplace_back();
  rank.rank = RankId(3);
  rank.node = "n1";
  rank.compute = Nanos(1'500'000'000);
  rank.non_compute = Nanos(1);
  rank.idle = Nanos(0);
  rank.communication = Nanos(250'000'000);
  rank.wait = Nanos(-5'000'000);
  rank.overlap_ratio = 2.0 / 3;
  rank.late = Nanos(3'600'000'000'000);
  EXPECT_EQ(RowsIn(tables, "ranks.csv"),
            "3,n1,1.500000000,0.000000001,0.000000000,0.250000000,-0.005000000,0.666667,"
            "3600.000000000\n");
}

TEST(TableFilesTest, NamesThatWouldBreakALineAreQuotedAndOthersAreNot) {
  const std::map<std::string, std::string> names = {
      {"gemm", "gemm"},
      {"", ""},
      {"a b;c\td'e", "a b;c\td'e"},
      {"void k<int, float>(T*)", "\"void k<int, float>(T*)\""},
      {"say \"hi\"", "\"say \"\"hi\"\"\""},
      {"\"", "\"\"\"\""},
      {"two\nlines", "\"two\nlines\""},
      {"cr\r", "\"cr\r\""},
      {",", "\",\""},
      {"\xC3\xA9\xE2\x82\xAC", "\xC3\xA9\xE2\x82\xAC"}};
  for (const auto& [name, written] : names) {
    JobTables tables;
    auto& rank = tables.ranks.emplace_back();
    rank.rank = RankId(1);
    rank.kernels.push_back({"compute", name, 4, 2.0, 0.25, 1.0, 0.125});
    EXPECT_EQ(RowsIn(tables, "kernels.csv"), "1,compute," + written +
                                                 ",4,2.000000000,0.500000000,0.250000000,"
                                                 "1.000000000,0.125000000\n");
  }
}

TEST(TableFilesTest, WhatNeverRanDividesByNothing) {
  JobTables tables;
  auto& rank = tables.ranks.emplace_back();
  rank.rank = RankId(0);
  rank.kernels.push_back({"copy", "memcpy", 0, 0, 0, 0, 0});
  rank.copies.push_back({"HtoD", 0, 4096, 0});
  rank.breakdown.span = 1;
  rank.breakdown.overlap = 0;
  EXPECT_EQ(RowsIn(tables, "kernels.csv"),
            "0,copy,memcpy,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000000000\n");
  EXPECT_EQ(RowsIn(tables, "copies.csv"), "0,HtoD,0,4096,0.000000000,0.000000\n");
  EXPECT_EQ(RowsIn(tables, "overlap.csv"),
            "0,1.000000000,0.000000000,0.000000000,0.000000000,0.000000000,0.000000\n");
}

TEST(TableFilesTest, RatesAndSharesOfADevice) {
  JobTables tables;
  auto& rank = tables.ranks.emplace_back();
  rank.rank = RankId(7);
  rank.breakdown = {10, 6, 0, 0, 4, 0.5, 3};
  rank.idle.push_back({20, 0.5, 0.25, 0.125});
  rank.launches.push_back({20, 1000, 0.000005, 0.00001, 0.000009, 0.0002, 1.5, 12});
  rank.copies.push_back({"DtoH", 3, 3'000'000'000, 1.5});
  EXPECT_EQ(RowsIn(tables, "overlap.csv"),
            "7,10.000000000,6.000000000,4.000000000,0.500000000,3.000000000,0.750000\n");
  EXPECT_EQ(RowsIn(tables, "idle.csv"), "7,20,0.500000000,0.250000000,0.125000000\n");
  EXPECT_EQ(RowsIn(tables, "launches.csv"),
            "7,20,1000,0.000005000,0.000010000,0.000009000,0.000200000,1.500000,12\n");
  EXPECT_EQ(RowsIn(tables, "copies.csv"), "7,DtoH,3,3000000000,1.500000000,2000000000.000000\n");
}

TEST(TableFilesTest, ThePathTellsLocalTimeFromCommunication) {
  JobTables tables;
  auto& local = tables.path.emplace_back();
  local.iteration = Iteration(5);
  local.rank = RankId(2);
  local.kind = CollectiveKind::kAllReduce;
  local.seconds = 0.5;
  local.longest = "load,batch";
  local.longest_s = 0.25;
  auto& op = tables.path.emplace_back();
  op.iteration = Iteration(5);
  op.step = 1;
  op.rank = RankId(2);
  op.communication = true;
  op.kind = CollectiveKind::kAllReduce;
  op.group = "dp";
  op.seconds = 0.125;
  const std::string kind(CollectiveKindName(CollectiveKind::kAllReduce));
  EXPECT_EQ(RowsIn(tables, "critical_path.csv"),
            "5,0,2,local,,,0.500000000," + kind + ",\"load,batch\",0.250000000\n" +
                "5,1,2,communication," + kind + ",dp,0.125000000,,,0.000000000\n");
}

TEST(TableFilesTest, ACollectiveWithoutANumberLeavesItsFieldEmpty) {
  JobTables tables;
  auto& row = tables.collectives.emplace_back();
  row.group = "g";
  row.kind = CollectiveKind::kAllReduce;
  row.bytes = 1024;
  row.iteration = Iteration(9);
  row.last_rank = RankId(1);
  row.members = 4;
  const std::string kind(CollectiveKindName(row.kind));
  const std::string rest = "," + kind +
                           ",1024,9,1,0.000000000,0.000000000,4,0.000000000,0.000000000,0.000000,"
                           "0.000000,1.000000\n";
  EXPECT_EQ(RowsIn(tables, "collectives.csv"), "g," + rest);
  row.sequence = Sequence(0);
  EXPECT_EQ(RowsIn(tables, "collectives.csv"), "g,0" + rest) << "0 is a number";
}

TEST(TableFilesTest, WritesTheFilesAndSaysWhereItCannot) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("fathom-tables-" + std::to_string(getpid()));
  JobTables tables;
  tables.totals.emplace_back().node = "n\"1";
  ASSERT_TRUE(WriteTables(tables, folder / "made" / "here").ok());
  ASSERT_TRUE(WriteTables(tables, folder / "made" / "here").ok()) << "over the old ones";
  std::ostringstream text;
  text << std::ifstream(folder / "made/here/ranks.csv").rdbuf();
  EXPECT_EQ(text.str(), TextOf(tables, "ranks.csv"));
  std::ofstream(folder / "file") << "in the way";
  const absl::Status status = WriteTables(tables, folder / "file" / "x");
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_NE(status.message().find("file/x"), status.message().npos) << status;
  std::filesystem::create_directories(folder / "blocked" / "idle.csv");
  const absl::Status blocked = WriteTables(tables, folder / "blocked");
  EXPECT_TRUE(absl::IsUnavailable(blocked));
  EXPECT_NE(blocked.message().find("idle.csv"), blocked.message().npos) << blocked;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fathom::collector
