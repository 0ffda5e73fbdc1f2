// The types of NCCL's public API, as far as calls pass through them.
//
// Used by daemon/tracer/interpose/nccl. The tracer is built where there is no nccl.h, and works
// with libraries of other versions than the headers at hand; tests/daemon/tracer/nccl compares
// every signature with the real header.
//
// Model: enumerations are passed as int, handles as void*, as the C ABI does. NcclConfig is the
// head of ncclConfig_t: its `size` tells how much of it the caller's version has; it only grows at
// its end. No private structure of NCCL is known here.
// Source: nccl.h 2.18 to 2.32. Thread-safety: types.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_ABI_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_ABI_H_

#include <cstddef>
#include <cstdint>

#include "proto/types/data_type.h"

namespace fathom::tracer::nccl {

using Comm = void*;
using Stream = void*;

inline constexpr int kSuccess = 0;
inline constexpr int kInternalError = 3;
inline constexpr int kInProgress = 7;
inline constexpr int kShrinkAbort =
    1;  // NCCL_SHRINK_ABORT: first stops what the parent has in flight
inline constexpr int kNoColor = -1;

struct UniqueId {
  char bytes[128];
};

struct NcclConfig {
  std::size_t size;
  std::uint32_t magic;
  std::uint32_t version;
  std::int32_t before_name[4];
  const char* net_name;
  std::int32_t split_share;
  std::int32_t traffic_class;
  const char* comm_name;  // from 2.27
};
static_assert(offsetof(NcclConfig, net_name) == 32 && offsetof(NcclConfig, comm_name) == 48);

inline constexpr std::uint32_t kConfigMagic = 0xcafebeef;

// The name a user gave the communicator; null where there is none, or no room for one.
inline const char* NameOf(const NcclConfig* config) {
  if (config == nullptr || config->magic != kConfigMagic) return nullptr;
  return config->size >= sizeof(NcclConfig) ? config->comm_name : nullptr;
}

// By ncclDataType_t.
struct ElementType {
  DataType type;
  std::uint8_t bytes;  // 0: not known
};

inline ElementType ElementTypeOf(int nccl_type) {
  static constexpr ElementType kTypes[] = {
      {DataType::kInt8, 1},     {DataType::kUint8, 1},      {DataType::kInt32, 4},
      {DataType::kUint32, 4},   {DataType::kInt64, 8},      {DataType::kUint64, 8},
      {DataType::kFloat16, 2},  {DataType::kFloat32, 4},    {DataType::kFloat64, 8},
      {DataType::kBFloat16, 2}, {DataType::kFloat8E4M3, 1}, {DataType::kFloat8E5M2, 1}};
  constexpr int kCount = sizeof(kTypes) / sizeof(kTypes[0]);
  if (nccl_type < 0 || nccl_type >= kCount) return {DataType::kUnknown, 0};
  return kTypes[nccl_type];
}

}  // namespace fathom::tracer::nccl

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_NCCL_ABI_H_
