#include "collector/http/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace fathom::collector {

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
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out_.append(escaped);
    } else {
      out_.push_back(c);
    }
  }
  out_.push_back('"');
}

std::string ErrorJson(std::string_view text) {
  JsonWriter json;
  json.BeginObject().Field("error", text).EndObject();
  return json.Take();
}

}  // namespace fathom::collector
