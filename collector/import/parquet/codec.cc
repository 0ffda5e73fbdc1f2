#include "collector/import/parquet/codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "absl/strings/str_cat.h"

namespace fathom::collector::parquet {
namespace {

bool UnpackSnappy(std::string_view packed, std::size_t size, char* to) {
  std::size_t said = 0;
  return snappy::GetUncompressedLength(packed.data(), packed.size(), &said) && said == size &&
         snappy::RawUncompress(packed.data(), packed.size(), to);
}

bool UnpackGzip(std::string_view packed, std::size_t size, char* to) {
  constexpr int kZlibOrGzip = 15 + 32;
  z_stream stream = {};
  if (inflateInit2(&stream, kZlibOrGzip) != Z_OK) return false;
  // zlib's type for input is not const, and it does not write to it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(size);
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.total_out == size;
}

bool UnpackZstd(std::string_view packed, std::size_t size, char* to) {
  return ZSTD_decompress(to, size, packed.data(), packed.size()) == size;
}

}  // namespace

absl::Status Unpack(Codec codec, std::string_view packed, std::size_t size, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + size);
  char* to = out.data() + before;
  bool unpacked = false;
  switch (codec) {
    case Codec::kNone:
      unpacked = packed.size() == size;
      if (unpacked) packed.copy(to, size);
      break;
    case Codec::kSnappy:
      unpacked = UnpackSnappy(packed, size, to);
      break;
    case Codec::kGzip:
      unpacked = UnpackGzip(packed, size, to);
      break;
    case Codec::kZstd:
      unpacked = UnpackZstd(packed, size, to);
      break;
    default:
      return absl::UnimplementedError(absl::StrCat(
          "compression ", static_cast<int>(codec),
          " is not read (known: none, snappy, gzip, zstd); write it with one of them"));
  }
  if (unpacked) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(packed.size(), " packed bytes do not give the ", size, " bytes announced"));
}

}  // namespace fathom::collector::parquet
