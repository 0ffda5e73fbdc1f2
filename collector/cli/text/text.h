// Putting strings together and taking them apart, on std::string_view.
//
// Used all over collector/cli. (Debian builds Abseil with a string_view of its own, to which a
// std::string_view does not convert; so its string functions stay out of this folder.)
// Thread-safety: pure functions. Errors: none. Cost: O(characters).
#ifndef FATHOM_COLLECTOR_CLI_TEXT_TEXT_H_
#define FATHOM_COLLECTOR_CLI_TEXT_TEXT_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace fathom::cli {

// A piece of a text: a string of any kind, or an integer in decimal. Lives for one expression.
class TextPiece {
 public:
  TextPiece(const char* text) : view_(text) {}         // NOLINT
  TextPiece(const std::string& text) : view_(text) {}  // NOLINT
  TextPiece(std::string_view text) : view_(text) {}    // NOLINT
  template <std::same_as<absl::string_view> View>
  requires(!std::same_as<absl::string_view, std::string_view>) TextPiece(View text)
      : view_(text.data(), text.size()) {}  // NOLINT
  template <std::integral Integer>
  TextPiece(Integer number) {  // NOLINT
    const auto end = std::to_chars(digits_, digits_ + sizeof(digits_), number).ptr;
    view_ = std::string_view(digits_, static_cast<std::size_t>(end - digits_));
  }
  TextPiece(const TextPiece&) = delete;
  TextPiece& operator=(const TextPiece&) = delete;

  std::string_view view() const { return view_; }

 private:
  char digits_[24];
  std::string_view view_;
};

template <typename... Pieces>
void AppendTo(std::string* out, const Pieces&... pieces) {
  (out->append(TextPiece(pieces).view()), ...);
}

template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  AppendTo(&out, pieces...);
  return out;
}

// The parts between any of `separators`, empty ones left out.
std::vector<std::string_view> SplitWords(std::string_view text, std::string_view separators);

std::string Join(const std::vector<std::string>& parts, std::string_view between);
std::string LowerCase(std::string_view text);
std::string_view StripBlanks(std::string_view text);

// All of `text` as a decimal number, whole or with a fraction.
template <typename Number>
bool ReadNumber(std::string_view text, Number* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool IsAsciiAlnum(char c);
std::string Message(const absl::Status& status);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_TEXT_TEXT_H_
