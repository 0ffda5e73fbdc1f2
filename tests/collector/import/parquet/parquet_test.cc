// Tables that pyarrow wrote in several encodings, and the same bytes broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "collector/import/parquet/run_decoder.h"
#include "collector/import/parquet/table_reader.h"
#include "collector/import/parquet/thrift_reader.h"

namespace fathom::collector::parquet {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kWanted = {"step", "optype", "start_ts", "absent"};
constexpr TableLimits kLimits{1 << 20, 1100};
constexpr std::size_t kRows = 300;

std::string Bytes(const std::string& name) {
  const char* source = std::getenv("FATHOM_SOURCE_DIR");
  std::ifstream in(std::string(source == nullptr ? "." : source) +
                   "/tests/collector/import/parquet/tables/" + name + ".parquet");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

absl::Status ReadNothing(const std::string& bytes) {
  return ReadTable(bytes, kWanted, kLimits, [](const RowBlock&) { return absl::OkStatus(); });
}

class TableTest : public testing::TestWithParam<const char*> {};

TEST_P(TableTest, EveryValueIsThere) {
  const std::string name = GetParam();
  std::size_t row = 0;
  const absl::Status read = ReadTable(Bytes(name), kWanted, kLimits, [&](const RowBlock& block) {
    EXPECT_EQ(block.columns[3].kind, ColumnKind::kAbsent);
    for (std::size_t i = 0; i < block.rows; ++i, ++row) {
      const bool null = name != "required" && row % 7 == 3;
      EXPECT_EQ(block.columns[0].present[i], null ? 0 : 1) << row;
      EXPECT_EQ(block.columns[0].integers[i], null ? 0 : static_cast<std::int64_t>(row));
      EXPECT_EQ(block.columns[1].dictionary[block.columns[1].words[i]],
                "kind" + std::to_string(row % 3));
      EXPECT_EQ(block.columns[2].reals[i], static_cast<double>(row) / 4);
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(row, kRows);
}

INSTANTIATE_TEST_SUITE_P(Encodings, TableTest,
                         testing::Values("snappy_dictionary", "plain_none", "gzip_v2",
                                         "zstd_small_types", "row_groups", "required"),
                         [](const auto& table) { return std::string(table.param); });

TEST(ParquetTest, WhatIsNotReadIsNamedWithItsPlace) {
  EXPECT_THAT(std::string(ReadNothing(Bytes("nested")).message()),
              HasSubstr("column step is nested"));
  EXPECT_THAT(std::string(ReadNothing(Bytes("delta")).message()),
              testing::MatchesRegex("column step, page at byte [0-9]+: encoding 5 is not read.*"));
  EXPECT_THAT(std::string(ReadNothing(Bytes("lz4")).message()),
              testing::MatchesRegex("column step, page at byte [0-9]+: compression . is not.*"));
}

TEST(ParquetTest, ColumnsNotAskedForMayHoldAnything) {
  EXPECT_TRUE(ReadTable(Bytes("delta"), {"start_ts"}, kLimits, [](const RowBlock& block) {
                return block.columns[0].rows() == kRows ? absl::OkStatus()
                                                        : absl::InternalError("rows");
              }).ok());
}

TEST(ParquetTest, ACutFileSaysSo) {
  const std::string whole = Bytes("snappy_dictionary");
  EXPECT_THAT(std::string(ReadNothing(whole.substr(0, whole.size() / 2)).message()),
              HasSubstr("cut off"));
  EXPECT_THAT(std::string(ReadNothing("PAR").message()), HasSubstr("no Parquet file"));
}

TEST(ParquetTest, RowsAreLimited) {
  const absl::Status read = ReadTable(Bytes("row_groups"), kWanted, {100, 1100},
                                      [](const RowBlock&) { return absl::OkStatus(); });
  EXPECT_EQ(read.code(), absl::StatusCode::kResourceExhausted) << read;
}

TEST(ParquetTest, AnErrorOfTheSinkEndsTheReading) {
  int blocks = 0;
  const absl::Status read = ReadTable(Bytes("row_groups"), kWanted, kLimits, [&](const RowBlock&) {
    return ++blocks == 2 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(read.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(blocks, 2);
}

// Every byte flipped in turn, and a thousand random wounds: an answer or an error, never a crash.
TEST(ParquetTest, BrokenBytesAreSurvived) {
  for (const char* name : {"snappy_dictionary", "gzip_v2", "row_groups"}) {
    const std::string whole = Bytes(name);
    std::mt19937 random(11);
    std::size_t refused = 0;
    for (std::size_t i = 0; i < whole.size(); i += 3) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ (1 << (random() % 8)));
      refused += ReadNothing(broken).ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 0U);
  }
}

TEST(RunDecoderTest, RunsAndPacksMix) {
  std::vector<std::uint32_t> out;
  // A run of 4 × 5, then one group of 8 values 0 … 7 of 3 bits.
  const std::string bytes = {8, 5, 3, '\x88', '\xc6', '\xfa'};
  ASSERT_TRUE(DecodeRuns(bytes, 3, 12, out));
  EXPECT_THAT(out, testing::ElementsAre(5, 5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_FALSE(DecodeRuns(bytes, 3, 13, out));
  EXPECT_FALSE(DecodeRuns(bytes, 33, 1, out));
  EXPECT_FALSE(DecodeRuns({"\0\5", 2}, 3, 1, out));  // a run of none would never end
}

TEST(ThriftReaderTest, LengthsBeyondTheBytesAreRefused) {
  ThriftReader binary({"\xff\xff\xff\xff\x07", 5});
  EXPECT_TRUE(binary.ReadBinary().empty());
  EXPECT_FALSE(binary.ok());
  ThriftReader list({"\xf5\xff\xff\xff\x7f", 5});
  EXPECT_EQ(list.ReadList().size, 0U);
  EXPECT_FALSE(list.ok());
}

TEST(ThriftReaderTest, DeepNestingIsRefused) {
  const std::string nested(200, '\x1c');
  ThriftReader deep(nested);
  deep.Skip(ThriftType::kStruct);
  EXPECT_FALSE(deep.ok());
}

}  // namespace
}  // namespace fathom::collector::parquet
