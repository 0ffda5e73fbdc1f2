// One block of a recording, as it lies in its file: header and compressed bytes.
//
// Used by daemon/agent/recorder and collector/ops; the layout is proto/types/recording_format.h,
// the format docs/formats/recording.md.
// Thread-safety: pure function. Errors: an empty string where the compressor has no memory.
// Cost: zstd level 3, some 200 MB/s.
#ifndef FATHOM_PROTO_PACKING_RECORDING_BLOCK_H_
#define FATHOM_PROTO_PACKING_RECORDING_BLOCK_H_

#include <string>
#include <string_view>

namespace fathom {

// `raw`: a fathom.v1.RecordingBlock. Requires: raw.size() <= kMaxRecordingBlockBytes.
std::string PackRecordingBlock(std::string_view raw);

}  // namespace fathom

#endif  // FATHOM_PROTO_PACKING_RECORDING_BLOCK_H_
