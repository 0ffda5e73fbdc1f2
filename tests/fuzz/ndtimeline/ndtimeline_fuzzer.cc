// Any bytes as an NDTimeline table, taken all the way into a replay.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/import/ndtimeline/schedule_job.h"
#include "collector/import/ndtimeline/trace_rows.h"
#include "collector/import/parquet/table_reader.h"
#include "diagnosis/schedule/what_if.h"

namespace nd = fathom::collector::ndtimeline;
namespace parquet = fathom::collector::parquet;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr parquet::TableLimits kLimits{1 << 14, 1100};
  constexpr std::uint32_t kMostRanks = 1 << 10;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  nd::TraceRows rows(kMostRanks);
  const absl::Status read =
      parquet::ReadTable(bytes, nd::ColumnNames(), kLimits,
                         [&](const parquet::RowBlock& block) { return rows.Add("fuzz", block); });
  if (!read.ok() && rows.empty()) return 0;
  std::vector<std::string> notes;
  auto trace = rows.Build(notes);
  if (!trace.ok() || trace->empty()) return 0;
  fathom::collector::Recording recording;
  nd::PutSchedule(*trace, recording);
  std::string missing;
  const auto replay = fathom::diagnosis::Replay::Of(*trace, missing);
  if (replay) fathom::diagnosis::WhatIfOf(*trace, *replay);
  return 0;
}
