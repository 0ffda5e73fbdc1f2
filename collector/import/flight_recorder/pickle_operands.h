// The operands of pickle opcodes: fixed numbers, counted bytes and lines of text.
//
// Used by unpickler.cc. Every read is checked against the bytes that are there; OutOfRange means
// that the file ended inside the operand. Thread-safety: single-threaded.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_PICKLE_OPERANDS_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_PICKLE_OPERANDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fathom::collector::flight_recorder {

class PickleCursor {
 public:
  explicit PickleCursor(std::string_view bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }
  std::uint8_t Byte() { return static_cast<std::uint8_t>(bytes_[at_++]); }  // Requires: !done().

  absl::StatusOr<std::uint64_t> Unsigned(std::size_t width);  // little endian; width ≤ 8
  absl::StatusOr<std::string_view> Take(std::uint64_t count);
  absl::StatusOr<std::string_view> Counted(std::size_t width);  // length of that width, then bytes
  absl::StatusOr<std::string_view> Line();                      // without its '\n'

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// A number that may not fit: then `integer` is absent and `real` approximates it.
struct PickledNumber {
  std::optional<std::int64_t> integer;
  double real = 0;
};

PickledNumber DecodeLong(std::string_view little_endian);  // two's complement
[[nodiscard]] std::optional<PickledNumber> DecodeDecimal(std::string_view line);  // of INT and LONG
[[nodiscard]] std::optional<double> DecodeReal(std::string_view line);            // of FLOAT
double DecodeBinFloat(std::string_view eight);  // big endian; Requires: size 8
[[nodiscard]] std::optional<std::string> DecodeQuoted(std::string_view line);         // of STRING
[[nodiscard]] std::optional<std::string> DecodeUnicodeEscape(std::string_view line);  // of UNICODE

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_PICKLE_OPERANDS_H_
