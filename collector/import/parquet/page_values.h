// The values in the bytes of a page: levels, PLAIN values, dictionary indices.
//
// Used by column_reader.cc. Thread-safety: pure functions. Errors: InvalidArgument, Unimplemented,
// without a place. Cost: O(values). Multi-byte values are little-endian, as on the machines this
// runs on.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_VALUES_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/import/parquet/footer.h"
#include "collector/import/parquet/page.h"

namespace fathom::collector::parquet {

// Values without the nulls; only the member of the column's type is filled.
struct Values {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string_view> texts;  // into the page
};

// Which of the page's values are there (1) and not null (0), and the bytes behind the levels.
struct Levels {
  std::vector<std::uint8_t> present;
  std::size_t count = 0;  // of those that are there
  std::string_view rest;
};

absl::StatusOr<Levels> ReadLevels(const Page& page, bool optional);

// `count` values, appended. A type that is not read is Unimplemented.
absl::Status ReadPlain(std::string_view bytes, PhysicalType type, std::size_t count, Values& out);

// `count` indices below `size`.
absl::StatusOr<std::vector<std::uint32_t>> ReadIndices(std::string_view bytes, std::size_t count,
                                                       std::size_t size);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_VALUES_H_
