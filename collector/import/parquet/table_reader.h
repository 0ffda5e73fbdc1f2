// Named columns of a Parquet file, one row group at a time.
//
// Used by importers whose source is a table (ndtimeline). A small reader of what trace tables need,
// instead of libarrow and libparquet: docs/design/0006-parquet.md says why.
//
// Model: the file is held whole; a row group is decoded, handed over, and forgotten. Columns that
// were not asked for are not looked at, whatever they hold. A column that was asked for and is not
// there has kind kAbsent.
//
// Thread-safety: pure function. Errors: InvalidArgument (broken), Unimplemented (nested columns, an
// encoding, codec or type that is not read), ResourceExhausted (rows), each with column and offset.
// Cost: O(values asked for). Memory: the wanted columns of one row group.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_TABLE_READER_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_TABLE_READER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/import/parquet/column.h"

namespace fathom::collector::parquet {

struct TableLimits {
  std::uint64_t rows = 0;           // of the whole file
  std::uint64_t inflate_ratio = 0;  // of a page
};

// Columns in the order in which they were asked for, all of `rows` values or absent.
struct RowBlock {
  std::size_t rows = 0;
  std::vector<Column> columns;
};

// Calls `sink` for each row group, in order. Stops at the first error, also of the sink.
absl::Status ReadTable(std::string_view file, const std::vector<std::string>& wanted,
                       const TableLimits& limits,
                       const std::function<absl::Status(const RowBlock&)>& sink);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_TABLE_READER_H_
