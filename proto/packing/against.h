// What a value is told against: the one before it, of all or of the same key.
//
// Used by proto/packing/pack_ops and unpack_ops, so that both expect the same. Differences wrap, so
// that every 64-bit value has one. Thread-safety: thread-compatible. Cost: one look-up by key.
#ifndef FATHOM_PROTO_PACKING_AGAINST_H_
#define FATHOM_PROTO_PACKING_AGAINST_H_

#include <cstdint>
#include <unordered_map>
#include <utility>

namespace fathom {

class Against {
 public:
  std::int64_t Difference(std::uint64_t value) {
    return static_cast<std::int64_t>(value - std::exchange(last_, value));
  }
  std::uint64_t Value(std::int64_t difference) {
    return last_ += static_cast<std::uint64_t>(difference);
  }

 private:
  std::uint64_t last_ = 0;
};

// One of each for a rank's part; a new part begins with a new one.
struct PartHistory {
  Against op_id, iteration, enter, mark_begin, mark_iteration;
  std::unordered_map<std::uint64_t, Against> sequence;       // by group
  std::unordered_map<std::uint32_t, Against> cpu, runqueue;  // by thread
};

// A time told against another one; 0 is kept for times that are not known.
inline std::uint64_t ToOffset(std::int64_t time, std::int64_t base) {
  const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(time) -
                                                    static_cast<std::uint64_t>(base));
  return ((static_cast<std::uint64_t>(difference) << 1) ^
          static_cast<std::uint64_t>(difference >> 63)) +
         1;
}

// Requires: offset > 0.
inline std::int64_t FromOffset(std::uint64_t offset, std::int64_t base) {
  const std::uint64_t zigzag = offset - 1;
  const std::uint64_t difference = (zigzag >> 1) ^ (~(zigzag & 1) + 1);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + difference);
}

}  // namespace fathom

#endif  // FATHOM_PROTO_PACKING_AGAINST_H_
