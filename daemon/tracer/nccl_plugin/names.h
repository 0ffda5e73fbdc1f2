// The words by which NCCL's profiler names functions and element types.
//
// Used by plugin.cc. Thread-safety: pure. Errors: an unknown word is kUnknown, 0 bytes.
// Source: NCCL's ncclFuncToString and ncclDatatypeToString as its plugins document them.
#ifndef FATHOM_DAEMON_TRACER_NCCL_PLUGIN_NAMES_H_
#define FATHOM_DAEMON_TRACER_NCCL_PLUGIN_NAMES_H_

#include <string.h>

#include <cstdint>

#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::tracer::nccl_plugin {

struct ElementName {
  DataType type;
  std::uint8_t bytes;  // 0: not known
};

inline CollectiveKind KindOfName(const char* name) {
  struct Word {
    const char* name;
    CollectiveKind kind;
  };
  constexpr Word kWords[] = {{"AllReduce", CollectiveKind::kAllReduce},
                             {"AllGather", CollectiveKind::kAllGather},
                             {"ReduceScatter", CollectiveKind::kReduceScatter},
                             {"Broadcast", CollectiveKind::kBroadcast},
                             {"Reduce", CollectiveKind::kReduce},
                             {"Send", CollectiveKind::kSend},
                             {"Recv", CollectiveKind::kRecv},
                             {"AlltoAll", CollectiveKind::kAllToAll},
                             {"Gather", CollectiveKind::kGather},
                             {"Scatter", CollectiveKind::kScatter}};
  for (const Word& word : kWords) {
    if (name != nullptr && strcmp(name, word.name) == 0) return word.kind;
  }
  return CollectiveKind::kUnknown;
}

inline bool HasRoot(CollectiveKind kind) {
  return kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}

inline ElementName ElementOfName(const char* name) {
  struct Word {
    const char* name;
    ElementName element;
  };
  constexpr Word kWords[] = {{"Int8", {DataType::kInt8, 1}},
                             {"Uint8", {DataType::kUint8, 1}},
                             {"Int32", {DataType::kInt32, 4}},
                             {"Uint32", {DataType::kUint32, 4}},
                             {"Int64", {DataType::kInt64, 8}},
                             {"Uint64", {DataType::kUint64, 8}},
                             {"Float16", {DataType::kFloat16, 2}},
                             {"Float32", {DataType::kFloat32, 4}},
                             {"Float64", {DataType::kFloat64, 8}},
                             {"Bfloat16", {DataType::kBFloat16, 2}},
                             {"Float8e4m3", {DataType::kFloat8E4M3, 1}},
                             {"Float8e5m2", {DataType::kFloat8E5M2, 1}}};
  if (name != nullptr && strncmp(name, "nccl", 4) == 0) name += 4;
  for (const Word& word : kWords) {
    if (name != nullptr && strcmp(name, word.name) == 0) return word.element;
  }
  return {DataType::kUnknown, 0};
}

}  // namespace fathom::tracer::nccl_plugin

#endif  // FATHOM_DAEMON_TRACER_NCCL_PLUGIN_NAMES_H_
