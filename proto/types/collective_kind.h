// The kinds of op, how ranks can delay one another in each, and their names.
//
// The numbers are part of the shared-memory ABI and of the wire: never renumbered, only added.
// std only. Thread-safety: values.
#ifndef FATHOM_PROTO_TYPES_COLLECTIVE_KIND_H_
#define FATHOM_PROTO_TYPES_COLLECTIVE_KIND_H_

#include <cstdint>
#include <string_view>

namespace fathom {

enum class CollectiveKind : std::uint8_t {
  kUnknown = 0,
  kAllReduce = 1,
  kAllGather = 2,
  kReduceScatter = 3,
  kBroadcast = 4,
  kReduce = 5,
  kAllToAll = 6,
  kGather = 7,
  kScatter = 8,
  kBarrier = 9,
  kSend = 10,
  kRecv = 11,
  kStep = 12,  // no communication: the end of an optimizer's step, in a job of one rank
};
inline constexpr std::uint8_t kCollectiveKindCount = 13;

constexpr bool IsPointToPoint(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv;
}

// True where every member can delay every member, so that all leave together: the kinds for which
// duration alone tells who came last (docs/rules/arrival.md).
constexpr bool IsSynchronising(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBarrier:
      return true;
    default:
      return false;
  }
}

constexpr std::string_view CollectiveKindName(CollectiveKind kind) {
  constexpr std::string_view kNames[kCollectiveKindCount] = {
      "unknown", "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
      "gather",  "scatter",    "barrier",    "send",           "recv",      "step"};
  const auto i = static_cast<std::uint8_t>(kind);
  return i < kCollectiveKindCount ? kNames[i] : kNames[0];
}

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_COLLECTIVE_KIND_H_
