#include "daemon/tracer/interpose/gloo/buffer_size.h"

#include <atomic>

#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {
namespace {

using GetNumel = int (*)(const void* tensor, std::int64_t* numel);
using GetDtype = int (*)(const void* tensor, std::int32_t* dtype);

std::atomic<void*> get_numel{nullptr};
std::atomic<void*> get_dtype{nullptr};

struct ScalarType {
  std::uint8_t bytes;
  DataType data_type;
};

// By c10::ScalarType. 0 bytes: quantised and sub-byte types, whose size this table does not tell.
constexpr ScalarType kScalarTypes[] = {
    {1, DataType::kUint8},       // 0 Byte
    {1, DataType::kInt8},        // 1 Char
    {2, DataType::kUnknown},     // 2 Short
    {4, DataType::kInt32},       // 3 Int
    {8, DataType::kInt64},       // 4 Long
    {2, DataType::kFloat16},     // 5 Half
    {4, DataType::kFloat32},     // 6 Float
    {8, DataType::kFloat64},     // 7 Double
    {4, DataType::kUnknown},     // 8 ComplexHalf
    {8, DataType::kUnknown},     // 9 ComplexFloat
    {16, DataType::kUnknown},    // 10 ComplexDouble
    {1, DataType::kUint8},       // 11 Bool
    {0, DataType::kUnknown},     // 12 QInt8
    {0, DataType::kUnknown},     // 13 QUInt8
    {0, DataType::kUnknown},     // 14 QInt32
    {2, DataType::kBFloat16},    // 15 BFloat16
    {0, DataType::kUnknown},     // 16 QUInt4x2
    {0, DataType::kUnknown},     // 17 QUInt2x4
    {0, DataType::kUnknown},     // 18 Bits1x8
    {0, DataType::kUnknown},     // 19 Bits2x4
    {0, DataType::kUnknown},     // 20 Bits4x2
    {1, DataType::kUnknown},     // 21 Bits8
    {2, DataType::kUnknown},     // 22 Bits16
    {1, DataType::kFloat8E5M2},  // 23 Float8_e5m2
    {1, DataType::kFloat8E4M3},  // 24 Float8_e4m3fn
    {1, DataType::kUnknown},     // 25 Float8_e5m2fnuz
    {1, DataType::kUnknown},     // 26 Float8_e4m3fnuz
    {2, DataType::kUnknown},     // 27 UInt16
    {4, DataType::kUint32},      // 28 UInt32
    {8, DataType::kUint64},      // 29 UInt64
};
constexpr std::int32_t kScalarTypeCount = sizeof(kScalarTypes) / sizeof(kScalarTypes[0]);

// std::vector of libstdc++.
struct ListView {
  const char* begin;
  const char* end;
};
constexpr std::size_t kTensorBytes = sizeof(void*);
constexpr std::size_t kListBytes = 3 * sizeof(void*);

bool Count(const ListView& list, std::size_t element_bytes, std::size_t* count) {
  const auto bytes =
      reinterpret_cast<std::uint64_t>(list.end) - reinterpret_cast<std::uint64_t>(list.begin);
  *count = bytes / element_bytes;
  return list.end >= list.begin && bytes % element_bytes == 0 && *count <= kMaxTensors;
}

constexpr BufferSize kUnknown;
constexpr BufferSize kEmpty{static_cast<std::uint64_t>(DataType::kUnknown), 0};

// One copy: most calls have one tensor.
[[gnu::noinline]] BufferSize SizeOfTensor(const void* tensor) {
  const auto numel_of = reinterpret_cast<GetNumel>(get_numel.load(std::memory_order_relaxed));
  const auto dtype_of = reinterpret_cast<GetDtype>(get_dtype.load(std::memory_order_acquire));
  if (dtype_of == nullptr) return kUnknown;
  std::int64_t numel = 0;
  std::int32_t dtype = -1;
  if (numel_of(tensor, &numel) != 0 || dtype_of(tensor, &dtype) != 0) return kUnknown;
  if (numel < 0 || dtype < 0 || dtype >= kScalarTypeCount) return kUnknown;
  const ScalarType& type = kScalarTypes[dtype];
  if (type.bytes == 0) return kUnknown;
  return {static_cast<std::uint64_t>(type.data_type),
          static_cast<std::uint64_t>(numel) * type.bytes};
}

// Requires: `sum` is known.
BufferSize Together(const BufferSize& sum, const BufferSize& more) {
  if (!more.known()) return kUnknown;
  const bool alike = sum.type == more.type;
  return {alike ? sum.type : kEmpty.type, sum.bytes + more.bytes};
}

// Of a list whose elements take kBytes each.
template <std::size_t kBytes, BufferSize (*kSizeOf)(const void*)>
[[gnu::always_inline]] inline BufferSize SizeOfAll(const void* address) {
  const auto* list = static_cast<const ListView*>(address);
  std::size_t count = 0;
  if (!Count(*list, kBytes, &count)) return kUnknown;
  if (count == 0) return kEmpty;
  if (count == 1) return kSizeOf(list->begin);
  BufferSize sum = kSizeOf(list->begin);
  for (std::size_t i = 1; i < count && sum.known(); ++i) {
    sum = Together(sum, kSizeOf(list->begin + i * kBytes));
  }
  return sum;
}

[[gnu::always_inline]] inline BufferSize SizeOfList(const void* address) {
  return SizeOfAll<kTensorBytes, SizeOfTensor>(address);
}

[[gnu::noinline]] BufferSize SizeOfLists(const void* address) {
  return SizeOfAll<kListBytes, SizeOfList>(address);
}

}  // namespace

void ResolveTensorFunctions(void* library_code) {
  if (get_dtype.load(std::memory_order_acquire) != nullptr) return;
  void* numel = FindBeside(library_code, "aoti_torch_get_numel");
  void* dtype = FindBeside(library_code, "aoti_torch_get_dtype");
  if (numel == nullptr || dtype == nullptr) return;
  get_numel.store(numel, std::memory_order_relaxed);
  get_dtype.store(dtype, std::memory_order_release);
}

BufferSize MeasureBuffer(BufferForm form, const void* address) {
  switch (form) {
    case BufferForm::kNone:
      return kEmpty;
    case BufferForm::kTensor:
      return SizeOfTensor(address);
    case BufferForm::kList:
      return SizeOfList(address);
    case BufferForm::kListOfLists:
      return SizeOfLists(address);
    default:
      return kUnknown;
  }
}

}  // namespace fathom::tracer
