// Parquet's mix of runs and bit-packed values: levels and dictionary indices.
//
//   run   varint(count << 1)          value in ceil(width / 8) bytes
//   pack  varint(groups << 1 | 1)     groups × 8 values of `width` bits, lowest bits first
//
// Used by page_values.cc. Thread-safety: pure function. Errors: false where the bytes end before
// `count` values, or the width is above 32. Cost: O(count).
// Source: the apache/parquet-format repository, Encodings.md, "RLE / bit-packing hybrid".
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_RUN_DECODER_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_RUN_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fathom::collector::parquet {

// Fills `out` with `count` values of `width` bits. Requires: the caller has bounded `count`.
[[nodiscard]] bool DecodeRuns(std::string_view bytes, unsigned width, std::size_t count,
                              std::vector<std::uint32_t>& out);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_RUN_DECODER_H_
