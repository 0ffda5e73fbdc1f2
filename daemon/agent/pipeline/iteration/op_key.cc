#include "daemon/agent/pipeline/iteration/op_key.h"

namespace fathom::agent {
namespace {

// At most so many bytes an all-to-all tells how much another will bring, and carries no data.
constexpr std::uint64_t kCounts = 4096;

// A step of splitmix64 (Steele, Lea, Flood 2014), used as a mixing function.
std::uint64_t Mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) + 0x9e3779b97f4a7c15;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

// What of its size makes an op another one.
std::uint64_t SizeOf(const OpRow& row) {
  return row.kind == CollectiveKind::kAllToAll ? std::uint64_t{row.bytes > kCounts} : row.bytes;
}

}  // namespace

OpKey KeyOf(const OpRow& row, GroupId group, std::uint32_t group_size, bool alone) {
  OpKey key;
  key.sizeless = Mix(group.value, static_cast<std::uint64_t>(row.kind) << 40 |
                                      static_cast<std::uint64_t>(row.data_type) << 32 | row.peer);
  key.exact = Mix(key.sizeless, SizeOf(row));
  key.from_outside = Mix(Mix(group_size, static_cast<std::uint64_t>(row.kind) << 8 |
                                             static_cast<std::uint64_t>(row.data_type)),
                         SizeOf(row));
  key.group = group;
  key.group_size = group_size;
  key.bytes = row.bytes;
  key.time_ns = row.enter_ns;
  key.numbered =
      row.sequence != abi::kNoSequence64 && !IsPointToPoint(row.kind) && (group_size >= 2 || alone);
  key.message = IsPointToPoint(row.kind) && group_size >= 2;
  key.receive = key.message && row.kind == CollectiveKind::kRecv;
  key.step = row.kind == CollectiveKind::kStep;
  key.synchronising = IsSynchronising(row.kind);
  return key;
}

}  // namespace fathom::agent
