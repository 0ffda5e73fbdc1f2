#include "daemon/tracer/core/host/text.h"

#include <string.h>

namespace fathom::tracer {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// True for the second and later bytes of a character in UTF-8.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

bool CopyText(char* to, std::size_t size, const char* from) {
  const std::size_t length = from == nullptr ? 0 : strnlen(from, size);
  std::size_t kept = length < size ? length : size - 1;
  while (kept > 0 && kept < length && IsContinuation(from[kept])) --kept;
  if (kept > 0) memcpy(to, from, kept);
  memset(to + kept, 0, size - kept);
  return kept == length;
}

bool AppendText(char* to, std::size_t size, const char* from) {
  const std::size_t used = strnlen(to, size - 1);
  return CopyText(to + used, size - used, from);
}

bool AppendNumber(char* to, std::size_t size, std::uint64_t value) {
  char digits[21] = {};
  char* at = digits + sizeof(digits) - 1;
  do {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return AppendText(to, size, at);
}

bool ParseUint(const char* text, std::uint32_t max, std::uint32_t* out) {
  if (text == nullptr || *text == '\0') return false;
  std::uint64_t value = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    if (value > max) return false;
  }
  *out = static_cast<std::uint32_t>(value);
  return true;
}

void KeepNameBytes(char* text) {
  for (; *text != '\0'; ++text) {
    if (!IsNameByte(*text)) *text = '_';
  }
}

bool IsName(const char* text) {
  if (*text == '\0') return false;
  for (; *text != '\0'; ++text) {
    if (!IsNameByte(*text)) return false;
  }
  return true;
}

}  // namespace fathom::tracer
