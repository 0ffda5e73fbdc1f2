#include "collector/import/nccl/op_record.h"

#include <utility>

namespace fathom::collector::nccl {

CollectiveKind KindOfFunction(std::string_view name) {
  constexpr std::pair<std::string_view, CollectiveKind> kNames[] = {
      {"AllReduce", CollectiveKind::kAllReduce},
      {"AllGather", CollectiveKind::kAllGather},
      {"ReduceScatter", CollectiveKind::kReduceScatter},
      {"Broadcast", CollectiveKind::kBroadcast},
      {"Reduce", CollectiveKind::kReduce},
      {"AlltoAll", CollectiveKind::kAllToAll},
      {"Gather", CollectiveKind::kGather},
      {"Scatter", CollectiveKind::kScatter},
      {"Send", CollectiveKind::kSend},
      {"Recv", CollectiveKind::kRecv},
  };
  for (const auto& [text, kind] : kNames) {
    if (name == text) return kind;
  }
  return CollectiveKind::kUnknown;
}

std::uint64_t BytesOfType(std::string_view name) {
  if (name.ends_with("e4m3") || name.ends_with("e5m2")) return 1;
  if (name.ends_with("64")) return 8;
  if (name.ends_with("32")) return 4;
  if (name.ends_with("16")) return 2;
  return name.ends_with("nt8") ? 1 : 0;
}

}  // namespace fathom::collector::nccl
