#include "collector/import/parquet/run_decoder.h"

#include <algorithm>

namespace fathom::collector::parquet {
namespace {

constexpr unsigned kWidest = 32;
constexpr unsigned kByteBits = 8;
constexpr std::uint64_t kGroupValues = 8;

bool ReadHeader(std::string_view& bytes, std::uint64_t& header) {
  header = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    header |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

bool ReadRun(std::string_view& bytes, unsigned width, std::uint64_t length, std::size_t count,
             std::vector<std::uint32_t>& out) {
  const unsigned size = (width + kByteBits - 1) / kByteBits;
  if (bytes.size() < size) return false;
  std::uint32_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])) << (i * kByteBits);
  }
  bytes.remove_prefix(size);
  const auto room = static_cast<std::uint64_t>(count - out.size());
  out.insert(out.end(), std::min(length, room), value);
  return true;
}

// The last group may be cut short where the values end.
bool ReadPack(std::string_view& bytes, unsigned width, std::uint64_t groups, std::size_t count,
              std::vector<std::uint32_t>& out) {
  const std::uint64_t room = count - out.size();
  const std::uint64_t values =
      groups > room / kGroupValues ? room : std::min(room, groups * kGroupValues);
  if (width > 0 && values > bytes.size() * std::uint64_t{kByteBits} / width) return false;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  std::uint64_t buffer = 0;
  unsigned have = 0;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < values; ++i) {
    for (; have < width; have += kByteBits) {
      buffer |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[at++])) << have;
    }
    out.push_back(static_cast<std::uint32_t>(buffer & mask));
    buffer >>= width;
    have -= width;
  }
  const std::uint64_t packed = std::min<std::uint64_t>(bytes.size(), groups) * width;
  bytes.remove_prefix(std::min<std::uint64_t>(bytes.size(), packed));
  return true;
}

}  // namespace

bool DecodeRuns(std::string_view bytes, unsigned width, std::size_t count,
                std::vector<std::uint32_t>& out) {
  out.clear();
  if (width > kWidest) return false;
  out.reserve(count);
  while (out.size() < count) {
    std::uint64_t header = 0;
    if (!ReadHeader(bytes, header) || header >> 1 == 0) return false;
    const bool read = (header & 1) == 0 ? ReadRun(bytes, width, header >> 1, count, out)
                                        : ReadPack(bytes, width, header >> 1, count, out);
    if (!read) return false;
  }
  return true;
}

}  // namespace fathom::collector::parquet
