#include "collector/import/flight_recorder/pickle_operands.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "absl/strings/charconv.h"

namespace fathom::collector::flight_recorder {
namespace {

absl::Status Cut() { return absl::OutOfRangeError("the file ends here"); }

std::optional<std::uint32_t> Hex(std::string_view digits) {
  std::uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

void AppendUtf8(std::uint32_t c, std::string& to) {
  if (c < 0x80) {
    to += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr std::uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  to += static_cast<char>(kLead[more] | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) to += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
}

// What follows a backslash in a quoted string; `rest` is moved past it.
bool AppendEscape(std::string_view& rest, std::string& to) {
  if (rest.empty()) return false;
  constexpr std::string_view kNames = "\\'\"nrtabfv0";
  constexpr std::string_view kValues{"\\'\"\n\r\t\a\b\f\v\0", 11};
  const char c = rest.front();
  if (c == 'x') {
    const auto value = rest.size() >= 3 ? Hex(rest.substr(1, 2)) : std::nullopt;
    if (!value) return false;
    to += static_cast<char>(*value);
    rest.remove_prefix(3);
    return true;
  }
  const std::size_t known = kNames.find(c);
  if (known == std::string_view::npos) return false;
  to += kValues[known];
  rest.remove_prefix(1);
  return true;
}

}  // namespace

absl::StatusOr<std::string_view> PickleCursor::Take(std::uint64_t count) {
  if (count > bytes_.size() - at_) return Cut();
  const std::string_view taken = bytes_.substr(at_, count);
  at_ += count;
  return taken;
}

absl::StatusOr<std::uint64_t> PickleCursor::Unsigned(std::size_t width) {
  const auto bytes = Take(width);
  if (!bytes.ok()) return bytes.status();
  std::uint64_t value = 0;
  for (std::size_t i = width; i > 0; --i) {
    value = (value << 8) | static_cast<unsigned char>((*bytes)[i - 1]);
  }
  return value;
}

absl::StatusOr<std::string_view> PickleCursor::Counted(std::size_t width) {
  const auto count = Unsigned(width);
  if (!count.ok()) return count.status();
  return Take(*count);
}

absl::StatusOr<std::string_view> PickleCursor::Line() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return Cut();
  const std::string_view line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

PickledNumber DecodeLong(std::string_view bytes) {
  if (bytes.empty()) return {0, 0};
  const bool negative = (bytes.back() & 0x80) != 0;
  if (bytes.size() <= 8) {
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = (value << 8) | static_cast<unsigned char>(bytes[i - 1]);
    }
    return {static_cast<std::int64_t>(value),
            static_cast<double>(static_cast<std::int64_t>(value))};
  }
  double real = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    const auto digit = static_cast<unsigned char>(bytes[i - 1]);
    real = real * 256 + (negative ? 255 - digit : digit);
  }
  return {std::nullopt, negative ? -real - 1 : real};
}

std::optional<PickledNumber> DecodeDecimal(std::string_view line) {
  if (line.ends_with("L")) line.remove_suffix(1);
  std::int64_t value = 0;
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, value);
  if (error == std::errc() && stop == end) return PickledNumber{value, static_cast<double>(value)};
  const bool digits = !line.empty() && std::all_of(line.begin() + (line[0] == '-'), line.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (error != std::errc::result_out_of_range || !digits) return std::nullopt;
  const auto real = DecodeReal(line);
  if (!real) return std::nullopt;
  return PickledNumber{std::nullopt, *real};
}

std::optional<double> DecodeReal(std::string_view line) {
  double value = 0;
  const char* end = line.data() + line.size();
  const auto result = absl::from_chars(line.data(), end, value);
  if (result.ec == std::errc::invalid_argument || result.ptr != end) return std::nullopt;
  return value;
}

double DecodeBinFloat(std::string_view eight) {
  std::uint64_t bits = 0;
  for (const char c : eight) bits = (bits << 8) | static_cast<unsigned char>(c);
  return std::bit_cast<double>(bits);
}

std::optional<std::string> DecodeQuoted(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back()) return std::nullopt;
  if (line.front() != '\'' && line.front() != '"') return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string text;
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c != '\\') {
      text += c;
    } else if (!AppendEscape(line, text)) {
      return std::nullopt;
    }
  }
  return text;
}

std::optional<std::string> DecodeUnicodeEscape(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const bool escape = line.size() >= 2 && line[0] == '\\' && (line[1] == 'u' || line[1] == 'U');
    if (!escape) {
      AppendUtf8(static_cast<unsigned char>(line.front()), text);
      line.remove_prefix(1);
      continue;
    }
    const std::size_t digits = line[1] == 'u' ? 4 : 8;
    if (line.size() < 2 + digits) return std::nullopt;
    const auto value = Hex(line.substr(2, digits));
    if (!value || *value > 0x10FFFF) return std::nullopt;
    AppendUtf8(*value, text);
    line.remove_prefix(2 + digits);
  }
  return text;
}

}  // namespace fathom::collector::flight_recorder
