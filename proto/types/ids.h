// The identities that fathom speaks of, as distinct types that do not convert into one another.
//
// Used by every part (std only, so the tracer may include it). Each is a thin value: compare, hash,
// print through .value.
//
//   RankId     global rank in the job, 0 … world−1, as the framework numbers it.
//   GroupId    identity of a communicator that is equal on all its members. See GroupKey in
//              daemon/agent/pipeline for how it is made; 0 means "not known".
//   Sequence   position of an op on one communicator, counted at the API in call order, from 0.
//              Equal on all members for the same collective instance. kNoSequence for ops that have
//              none (point-to-point).
//   Iteration  ordinal of a training step, from 0, as counted by fathom (not the user's own
//   counter).
//
// Thread-safety: values. Cost: none.
#ifndef FATHOM_PROTO_TYPES_IDS_H_
#define FATHOM_PROTO_TYPES_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace fathom {

// A number with an identity. Requires: Tag is unique to the id.
template <typename Tag, typename T>
struct Id {
  T value{};

  constexpr Id() = default;
  constexpr explicit Id(T v) : value(v) {}
  friend constexpr auto operator<=>(const Id&, const Id&) = default;

  template <typename H>
  friend H AbslHashValue(H h, const Id& id) {
    return H::combine(std::move(h), id.value);
  }
};

using RankId = Id<struct RankIdTag, std::uint32_t>;
using GroupId = Id<struct GroupIdTag, std::uint64_t>;
using Sequence = Id<struct SequenceTag, std::uint64_t>;
using Iteration = Id<struct IterationTag, std::int64_t>;

inline constexpr Sequence kNoSequence{~std::uint64_t{0}};
inline constexpr RankId kNoRank{~std::uint32_t{0}};

}  // namespace fathom

template <typename Tag, typename T>
struct std::hash<fathom::Id<Tag, T>> {
  std::size_t operator()(const fathom::Id<Tag, T>& id) const noexcept {
    return std::hash<T>{}(id.value);
  }
};

#endif  // FATHOM_PROTO_TYPES_IDS_H_
