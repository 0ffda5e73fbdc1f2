#include "collector/http/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace fathom::collector {
namespace {

bool Within(unsigned char byte, unsigned char least, unsigned char most) {
  return byte >= least && byte <= most;
}

// Bytes of the character of UTF-8 that `text` begins with; 0 if it begins with none. RFC 3629,
// section 4: no overlong forms, no surrogates, nothing above U+10FFFF. Requires: text not empty.
std::size_t CharacterLength(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = Within(lead, 0xC2, 0xDF)   ? 2
                             : Within(lead, 0xE0, 0xEF) ? 3
                             : Within(lead, 0xF0, 0xF4) ? 4
                                                        : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!Within(at(1), least, most)) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!Within(at(i), 0x80, 0xBF)) return 0;
  }
  return length;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

}  // namespace

void JsonWriter::Comma() {
  if (!first_) out_.push_back(',');
  first_ = false;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Comma();
  out_.push_back(bracket);
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Comma();
  Quote(name);
  out_.push_back(':');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Comma();
  Quote(text);
  return *this;
}

JsonWriter& JsonWriter::Value(double number) {
  if (!std::isfinite(number)) return Null();
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return Raw(std::string_view(text, static_cast<std::size_t>(end - text)));
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Comma();
  out_.append(json);
  return *this;
}

void JsonWriter::Quote(std::string_view text) {
  out_.push_back('"');
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    const char c = text.front();
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t whole = CharacterLength(text);
    length = std::max<std::size_t>(whole, 1);
    if (whole == 0) {
      out_.append(kReplacement);
    } else if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out_.append(escaped);
    } else {
      out_.append(text.substr(0, length));
    }
  }
  out_.push_back('"');
}

std::string CutText(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::string ErrorJson(std::string_view text) {
  JsonWriter json;
  json.BeginObject().Field("error", text).EndObject();
  return json.Take();
}

}  // namespace fathom::collector
