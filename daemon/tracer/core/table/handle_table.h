// A fixed table from a live handle of the host's (a graph, what was made of it) to a number.
//
// Used by graph_ops.cc, off the hot path but for one look a graph launch.
//
// Model: open addressing over all places, so it is full only when it holds kPlaces handles: on
// ranks that do the same it gets full at the same handle. A place whose handle went keeps kGone, so
// what lies behind is still found.
// Thread-safety: thread-safe. A handle is found only between its Insert and its Remove, and the
// host orders these. Zero-filled memory is an empty table. Errors: Insert refuses when full.
// Cost: one cache line while it is mostly empty.
#ifndef FATHOM_DAEMON_TRACER_CORE_TABLE_HANDLE_TABLE_H_
#define FATHOM_DAEMON_TRACER_CORE_TABLE_HANDLE_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

class HandleTable {
 public:
  static constexpr std::size_t kPlaces = 4096;

  // Ties `handle` to `number`, in place of what it was tied to. False if there is no place.
  // Requires: handle > 1; number not 0.
  bool Insert(std::uint64_t handle, std::uint32_t number) {
    Place* place = Find(handle);
    for (std::size_t i = 0; place == nullptr && i < kPlaces; ++i) {
      Place& candidate = At(handle, i);
      std::uint64_t seen = candidate.handle.load(std::memory_order_relaxed);
      if (seen <= kGone &&
          candidate.handle.compare_exchange_strong(seen, handle, std::memory_order_relaxed)) {
        place = &candidate;
      }
    }
    if (place == nullptr) return false;
    place->number.store(number, std::memory_order_release);
    return true;
  }

  // 0 if it is not tied.
  std::uint32_t Lookup(std::uint64_t handle) {
    const Place* place = Find(handle);
    return place == nullptr ? 0 : place->number.load(std::memory_order_acquire);
  }

  // Unties `handle`; what it was tied to, or 0.
  std::uint32_t Remove(std::uint64_t handle) {
    Place* place = Find(handle);
    if (place == nullptr) return 0;
    const std::uint32_t number = place->number.exchange(0, std::memory_order_acq_rel);
    place->handle.store(kGone, std::memory_order_relaxed);
    return number;
  }

 private:
  static constexpr std::uint64_t kGone = 1;

  struct Place {
    std::atomic<std::uint64_t> handle;  // 0: never used
    std::atomic<std::uint32_t> number;
  };

  // Fibonacci hashing: heap addresses differ in their middle bits.
  Place& At(std::uint64_t handle, std::size_t step) {
    return places_[((handle * 0x9e3779b97f4a7c15ULL >> 52) + step) % kPlaces];
  }

  Place* Find(std::uint64_t handle) {
    for (std::size_t i = 0; i < kPlaces; ++i) {
      Place& place = At(handle, i);
      const std::uint64_t seen = place.handle.load(std::memory_order_relaxed);
      if (seen == handle) return &place;
      if (seen == 0) break;
    }
    return nullptr;
  }

  Place places_[kPlaces];
  static_assert(kPlaces == 4096, "the shift by 52 leaves 12 bits");
};

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_TABLE_HANDLE_TABLE_H_
