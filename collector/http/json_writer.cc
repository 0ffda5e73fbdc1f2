#include "collector/http/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "daemon/service/utf8.h"

namespace fathom::collector {
namespace {

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
    const std::size_t whole = service::CharacterLength(text);
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
