// The rows of NDTimeline tables → a ScheduleTrace.
//
// Used by ndtimeline_importer, which adds one row block after the other, of one file or several.
// docs/formats/ndtimeline.md has the columns.
//
// Model: a row is an op of a worker (dp_rank, stage) in a step. Rows are gathered, then Build()
// sorts them, numbers what has no seq_id, moves the start of each step to 0, and says what it left
// out. Left out and counted: kinds of op that are not known, rows without a number they need, a row
// that is there twice, a second rank of a worker.
//
// Units: seconds. Thread-safety: none; one thread. Errors: InvalidArgument (a column that is needed
// is missing or of another type; files of two jobs), ResourceExhausted (more workers than
// limits.ranks). Cost: O(rows log rows). Memory: 64 bytes a row.
#ifndef FATHOM_COLLECTOR_IMPORT_NDTIMELINE_TRACE_ROWS_H_
#define FATHOM_COLLECTOR_IMPORT_NDTIMELINE_TRACE_ROWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/import/parquet/table_reader.h"
#include "diagnosis/model/schedule_trace.h"

namespace fathom::collector::ndtimeline {

// The names to ask a table for; a block holds them in this order.
const std::vector<std::string>& ColumnNames();

class TraceRows {
 public:
  explicit TraceRows(std::uint32_t most_ranks) : most_ranks_(most_ranks) {}

  // `file`: for messages. All blocks of a file come one after the other.
  absl::Status Add(const std::string& file, const parquet::RowBlock& block);

  bool empty() const { return rows_.empty(); }

  // The trace of all rows so far, and a note for each thing left out. The rows are given up.
  absl::StatusOr<diagnosis::ScheduleTrace> Build(std::vector<std::string>& notes);

 private:
  struct Row {
    std::int64_t step = 0;
    std::int32_t replica = 0;
    std::int32_t stage = 0;
    std::uint32_t rank = 0;
    bool numbered = false;
    std::uint32_t file = 0;
    diagnosis::ScheduledOp op;
  };

  bool Take(const parquet::RowBlock& block, std::size_t i, Row& row) const;
  static bool Before(const Row& a, const Row& b);
  void NumberOps();
  absl::Status PutWorkers(diagnosis::ScheduleTrace& trace, std::vector<std::string>& notes);
  absl::Status DropCopies(std::vector<std::string>& notes);
  void PutOps(diagnosis::ScheduleTrace& trace) const;

  const std::uint32_t most_ranks_;
  std::vector<std::string> files_;
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> unknown_kinds_;  // rows of each
  std::size_t incomplete_ = 0;
};

}  // namespace fathom::collector::ndtimeline

#endif  // FATHOM_COLLECTOR_IMPORT_NDTIMELINE_TRACE_ROWS_H_
