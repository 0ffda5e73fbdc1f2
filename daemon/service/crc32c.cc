#include "daemon/service/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace fathom::service {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t n = 1; n < 8; ++n) {
      const std::uint32_t before = tables[n - 1][byte];
      tables[n][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t crc = ~before;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t n = 0; n < 8; ++n) crc ^= kTables[7 - n][(word >> (8 * n)) & 0xff];
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(*at)) & 0xff];
  }
  return ~crc;
}

}  // namespace fathom::service
