#include "proto/packing/zstd_frame.h"

#include <zstd.h>

#include <memory>

namespace fathom {
namespace {

constexpr int kLevel = 3;  // zstd's own default

}  // namespace

bool AppendFrame(std::string_view raw, std::string& out) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  if (context == nullptr) return false;
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t before = out.size();
  const std::size_t most = ZSTD_compressBound(raw.size());
  out.resize(before + most);
  const std::size_t stored =
      ZSTD_compress2(context.get(), out.data() + before, most, raw.data(), raw.size());
  const bool done = ZSTD_isError(stored) == 0;
  out.resize(before + (done ? stored : 0));
  return done;
}

}  // namespace fathom
