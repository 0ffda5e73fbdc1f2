// Which bytes are a character of UTF-8.
//
// Used by LogLines and by the collector's JsonWriter; each puts something else where none is.
// Header only. Thread-safety: pure. Errors: none. Cost: at most four bytes are looked at.
// Source: RFC 3629, section 4: no overlong forms, no surrogates, nothing above U+10FFFF.
#ifndef FATHOM_DAEMON_SERVICE_UTF8_H_
#define FATHOM_DAEMON_SERVICE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace fathom::service {

// Bytes of the character that `text` begins with; 0 if it begins with none. Requires: text not
// empty.
inline std::size_t CharacterLength(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto within = [](unsigned char byte, unsigned char least, unsigned char most) {
    return byte >= least && byte <= most;
  };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = within(lead, 0xC2, 0xDF)   ? 2
                             : within(lead, 0xE0, 0xEF) ? 3
                             : within(lead, 0xF0, 0xF4) ? 4
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!within(at(1), least, most)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!within(at(i), 0x80, 0xBF)) return 0;
  }
  return length;
}

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_UTF8_H_
