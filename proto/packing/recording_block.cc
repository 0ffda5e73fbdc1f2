#include "proto/packing/recording_block.h"

#include <zstd.h>

#include <cstring>
#include <memory>

#include "proto/types/recording_format.h"

namespace fathom {
namespace {

constexpr int kLevel = 3;  // zstd's own default

}  // namespace

std::string PackRecordingBlock(std::string_view raw) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  if (context == nullptr) return "";
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(kRecordingHeaderBytes + ZSTD_compressBound(raw.size()), '\0');
  const std::size_t stored =
      ZSTD_compress2(context.get(), out.data() + kRecordingHeaderBytes,
                     out.size() - kRecordingHeaderBytes, raw.data(), raw.size());
  if (ZSTD_isError(stored) != 0) return "";
  out.resize(kRecordingHeaderBytes + stored);
  const RecordingHeader header =
      ToHeader({static_cast<std::uint32_t>(stored), static_cast<std::uint32_t>(raw.size())});
  std::memcpy(out.data(), header.data(), header.size());
  return out;
}

}  // namespace fathom
