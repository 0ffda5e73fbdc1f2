// Unpacks one page: none, Snappy, gzip or zstd.
//
// Used by page.cc. Thread-safety: pure function. Errors: InvalidArgument (packed bytes that are
// broken or give another size than said), Unimplemented (another codec, by its number in
// parquet.thrift). Cost: one copy of the unpacked page; Snappy and zstd run at above 500 MB/s.
#ifndef FATHOM_COLLECTOR_IMPORT_PARQUET_CODEC_H_
#define FATHOM_COLLECTOR_IMPORT_PARQUET_CODEC_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "collector/import/parquet/footer.h"

namespace fathom::collector::parquet {

// Appends the unpacked bytes to `out`. Requires: the caller has bounded `size`.
absl::Status Unpack(Codec codec, std::string_view packed, std::size_t size, std::string& out);

}  // namespace fathom::collector::parquet

#endif  // FATHOM_COLLECTOR_IMPORT_PARQUET_CODEC_H_
