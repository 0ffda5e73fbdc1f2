// A zstd frame with a checksum, as recordings and blocks of ops hold them.
//
// Used by pack_ops and recording_block. Thread-safety: pure function. Errors: false without memory.
#ifndef FATHOM_PROTO_PACKING_ZSTD_FRAME_H_
#define FATHOM_PROTO_PACKING_ZSTD_FRAME_H_

#include <string>
#include <string_view>

namespace fathom {

// Appends `raw`, compressed, to `out`, which stays as it was where that fails.
bool AppendFrame(std::string_view raw, std::string& out);

}  // namespace fathom

#endif  // FATHOM_PROTO_PACKING_ZSTD_FRAME_H_
