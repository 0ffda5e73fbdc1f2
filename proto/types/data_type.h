// Element types of communication ops. Numbers are part of the ABI: never renumbered, only added.
// std only.
#ifndef FATHOM_PROTO_TYPES_DATA_TYPE_H_
#define FATHOM_PROTO_TYPES_DATA_TYPE_H_

#include <cstdint>
#include <string_view>

namespace fathom {

enum class DataType : std::uint8_t {
  kUnknown = 0,
  kInt8 = 1,
  kUint8 = 2,
  kInt32 = 3,
  kUint32 = 4,
  kInt64 = 5,
  kUint64 = 6,
  kFloat16 = 7,
  kFloat32 = 8,
  kFloat64 = 9,
  kBFloat16 = 10,
  kFloat8E4M3 = 11,
  kFloat8E5M2 = 12,
};
inline constexpr std::uint8_t kDataTypeCount = 13;

constexpr std::string_view DataTypeName(DataType type) {
  constexpr std::string_view kNames[kDataTypeCount] = {
      "unknown", "int8",    "uint8",   "int32",    "uint32",      "int64",      "uint64",
      "float16", "float32", "float64", "bfloat16", "float8_e4m3", "float8_e5m2"};
  const auto i = static_cast<std::uint8_t>(type);
  return i < kDataTypeCount ? kNames[i] : kNames[0];
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_DATA_TYPE_H_
