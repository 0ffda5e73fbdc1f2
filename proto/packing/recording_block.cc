#include "proto/packing/recording_block.h"

#include <cstring>

#include "proto/packing/zstd_frame.h"
#include "proto/types/recording_format.h"

namespace fathom {

std::string PackRecordingBlock(std::string_view raw) {
  std::string out(kRecordingHeaderBytes, '\0');
  if (!AppendFrame(raw, out)) return "";
  const auto stored = static_cast<std::uint32_t>(out.size() - kRecordingHeaderBytes);
  const RecordingHeader header = ToHeader({stored, static_cast<std::uint32_t>(raw.size())});
  std::memcpy(out.data(), header.data(), header.size());
  return out;
}

}  // namespace fathom
