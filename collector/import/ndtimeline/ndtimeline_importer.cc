#include "collector/import/ndtimeline/ndtimeline_importer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "collector/import/ndtimeline/schedule_job.h"
#include "collector/import/ndtimeline/trace_rows.h"
#include "collector/import/parquet/footer.h"
#include "collector/import/parquet/table_reader.h"
#include "collector/import/reading/input_file.h"

namespace fathom::collector::ndtimeline {
namespace {

absl::Status ReadOne(const std::string& path, const ImportLimits& limits, TraceRows& rows) {
  const auto bytes = ReadWhole(path, limits);
  if (!bytes.ok()) return bytes.status();
  const absl::Status read =
      parquet::ReadTable(*bytes, ColumnNames(), {limits.table_rows, limits.inflate_ratio},
                         [&](const parquet::RowBlock& block) { return rows.Add(path, block); });
  if (read.ok()) return read;
  return absl::Status(read.code(), absl::StrCat(path, ": ", std::string(read.message())));
}

}  // namespace

bool NdtimelineImporter::Recognises(std::string_view, std::string_view head) const {
  return head.starts_with(parquet::kMagic);
}

absl::Status NdtimelineImporter::Read(const std::vector<std::string>& paths,
                                      const ImportLimits& limits, Recording& recording) const {
  TraceRows rows(limits.ranks);
  absl::Status first_error;
  for (const std::string& path : paths) {
    const absl::Status read = ReadOne(path, limits, rows);
    if (read.ok()) continue;
    recording.notes.push_back(std::string(read.message()));
    if (first_error.ok()) first_error = read;
  }
  if (rows.empty()) {
    if (!first_error.ok()) return first_error;
    return absl::InvalidArgumentError(absl::StrCat(paths.front(), ": no ops of a training job"));
  }
  std::vector<std::string> notes;
  auto trace = rows.Build(notes);
  if (!trace.ok()) return trace.status();
  for (const std::string& note : notes) {
    recording.notes.push_back(absl::StrCat(paths.front(), ": ", note));
  }
  PutSchedule(*std::move(trace), recording);
  return absl::OkStatus();
}

}  // namespace fathom::collector::ndtimeline
