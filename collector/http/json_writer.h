// Writes JSON text straight into a string: no tree, no header-only library.
//
// Used by collector/http for the API's own objects (messages go through export/report.h), by
// export/html, notify and cordon. Commas and quotes are its business; balancing Begin and End is
// the caller's. What comes out is always UTF-8: bytes that are not become U+FFFD, so that whatever
// a node, a person or a server said can be read again.
// Thread-safety: thread-compatible. Errors: none; a number that is not finite becomes null.
// Cost: amortised O(1) a value.
#ifndef FATHOM_COLLECTOR_HTTP_JSON_WRITER_H_
#define FATHOM_COLLECTOR_HTTP_JSON_WRITER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fathom::collector {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);
  JsonWriter& Value(bool flag) { return Raw(flag ? "true" : "false"); }
  template <std::integral T>
  JsonWriter& Value(T number) {
    return Raw(std::to_string(number));
  }
  JsonWriter& Null() { return Raw("null"); }
  // Requires: `json` is a whole value.
  JsonWriter& Raw(std::string_view json);

  template <typename T>
  JsonWriter& Field(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }

  std::string Take() { return std::move(out_); }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Comma();
  void Quote(std::string_view text);

  std::string out_;
  bool first_ = true;  // no comma before the next value
};

// At most `most` bytes of `text`, cut at the border of a character.
std::string CutText(const std::string& text, std::size_t most);

// {"error": text}
std::string ErrorJson(std::string_view text);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_JSON_WRITER_H_
