// All pages of one column chunk → a Column.
//
// Used by table_reader.cc. Reads pages of version 1 and 2; PLAIN, PLAIN_DICTIONARY and
// RLE_DICTIONARY values of int32, int64, float, double and byte arrays; levels of optional columns.
//
// Thread-safety: pure function. Errors: InvalidArgument, Unimplemented (an encoding or type that is
// not read), ResourceExhausted; each names the column and the byte of the page in the file.
// Cost: O(values). Memory: the column and one page.
// Source: the apache/parquet-format repository, Encodings.md.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_READER_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_READER_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/import/parquet/column.h"
#include "collector/import/parquet/footer.h"

namespace fathom::collector::parquet {

// Requires: `leaf` is flat, `chunk` lies inside `file`, and its count of values was bounded.
absl::StatusOr<Column> ReadColumn(std::string_view file, const LeafColumn& leaf,
                                  const ColumnChunk& chunk, std::uint64_t inflate_ratio);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_COLUMN_READER_H_
