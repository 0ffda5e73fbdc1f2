// One page of a column chunk: its header, and its bytes unpacked.
//
// Used by column_reader.cc. Model: a chunk is [dictionary page] data page …; each is a Thrift
// header followed by bytes. Version 1 packs levels and values together, version 2 leaves the levels
// plain in front.
//
// Thread-safety: pure functions. Errors: InvalidArgument, Unimplemented, ResourceExhausted, without
// a place: the caller knows column and offset. Cost: O(page).
// Source: the apache/parquet-format repository, parquet.thrift, PageHeader.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/import/parquet/footer.h"

namespace fathom::collector::parquet {

// Numbers of parquet.thrift.
enum class PageKind : std::int32_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

enum class Encoding : std::int32_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kRleDictionary = 8,
};

struct PageHeader {
  PageKind kind = PageKind::kData;
  std::uint64_t unpacked = 0;  // bytes
  std::uint64_t packed = 0;    // bytes that follow the header
  std::uint64_t values = 0;
  Encoding encoding = Encoding::kPlain;
  Encoding level_encoding = Encoding::kRle;
  std::uint64_t definition_bytes = 0;  // of version 2
  std::uint64_t repetition_bytes = 0;  // of version 2
  bool is_packed = true;               // of version 2
};

struct Page {
  PageHeader header;
  std::string bytes;     // unpacked; levels first
  std::size_t size = 0;  // header and page in the chunk
};

// The page at the front of `chunk`. `inflate_ratio`: more than so many bytes out of one is refused
// for pages of more than 16 MiB.
absl::StatusOr<Page> ReadPage(std::string_view chunk, Codec codec, std::uint64_t inflate_ratio);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_PAGE_H_
