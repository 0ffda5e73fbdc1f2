#include "diagnosis/model/short_id.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace fathom::diagnosis {

std::string ShortId(char kind, std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return absl::StrFormat("%c%012x", kind, hash >> 16);
}

}  // namespace fathom::diagnosis
