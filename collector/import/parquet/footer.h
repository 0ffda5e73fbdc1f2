// The footer of a Parquet file: which columns, in which row groups, at which bytes.
//
//   "PAR1"  column chunks …  footer (Thrift)  its length, 4 bytes little-endian  "PAR1"
//
// Used by table_reader.cc. Only what a reader of flat columns needs is kept. A chunk is a run of
// pages of one column in one row group.
//
// Thread-safety: plain values, pure functions. Errors: InvalidArgument with the offset in the file.
// Cost: O(footer). Source: the apache/parquet-format repository, parquet.thrift.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_FOOTER_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_FOOTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fathom::collector::parquet {

inline constexpr std::string_view kMagic = "PAR1";

// Numbers of parquet.thrift.
enum class PhysicalType : std::int32_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};

enum class Codec : std::int32_t { kNone = 0, kSnappy = 1, kGzip = 2, kZstd = 6 };

struct LeafColumn {
  std::string name;  // path, joined by '.'
  PhysicalType type = PhysicalType::kInt32;
  bool optional = false;  // values may be null
  bool flat = true;       // neither repeated nor inside another column
};

struct ColumnChunk {
  std::string column;
  PhysicalType type = PhysicalType::kInt32;
  Codec codec = Codec::kNone;
  std::int64_t values = 0;
  std::uint64_t begin = 0;  // its first byte, of the dictionary page where there is one
  std::uint64_t bytes = 0;  // as stored
};

struct RowGroup {
  std::int64_t rows = 0;
  std::vector<ColumnChunk> chunks;
};

struct Footer {
  std::int64_t rows = 0;
  std::vector<LeafColumn> columns;
  std::vector<RowGroup> groups;
};

// Requires: nothing; `file` is the whole file. All chunks lie inside it.
absl::StatusOr<Footer> ReadFooter(std::string_view file);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_FOOTER_H_
