#include "daemon/tracer/interpose/nccl/awaited.h"

#include <sched.h>

#include "daemon/tracer/core/host/text.h"

namespace fathom::tracer::nccl {
namespace {

struct Place {
  std::uint32_t epoch;      // 0: free; a forked child's places are its parent's
  std::uint32_t thread_id;  // of the group it stands in; 0: in none
  Comm* made;
  Comm parent;
  Birth birth;
  char user_name[abi::kNameBytes];
};
constinit Place places[kMaxAwaited];

// Who has the table: an epoch. What a parent's thread held when it forked is free to the child.
constinit std::atomic<std::uint32_t> holder{0};

class Held {
 public:
  explicit Held(std::uint32_t epoch) {
    std::uint32_t seen = 0;
    while (!holder.compare_exchange_weak(seen, epoch, std::memory_order_acquire)) {
      if (seen == epoch) {
        sched_yield();
        seen = 0;
      }
    }
  }
  ~Held() { holder.store(0, std::memory_order_release); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

void Free(Place& place) {
  place.epoch = 0;
  awaited_count.fetch_sub(1, std::memory_order_relaxed);
}

// Takes one that `is_meant` out of the table.
template <typename IsMeant>
bool TakeOne(const TracerState& state, IsMeant is_meant, Place* out) {
  const Held held(state.epoch);
  for (Place& place : places) {
    if (place.epoch != state.epoch || !is_meant(place)) continue;
    *out = place;
    Free(place);
    return true;
  }
  return false;
}

// The address, once NCCL has written it.
Comm Told(const Place& place) { return __atomic_load_n(place.made, __ATOMIC_ACQUIRE); }

void Announce(TracerState& state, Place& place, Comm made) {
  place.birth.user_name = place.user_name;
  NoteMade(state, made, place.birth, true);
}

// Those of this thread's group: from here on their parents say when they are made.
void LeaveToParents(const TracerState& state) {
  const Held held(state.epoch);
  for (Place& place : places) {
    if (place.epoch != state.epoch || place.thread_id != thread_state.thread_id) continue;
    place.thread_id = 0;
    if (place.parent == nullptr) Free(place);
  }
}

}  // namespace

constinit std::atomic<std::uint32_t> awaited_count{0};

void Await(const TracerState& state, Comm* made, Comm parent, bool in_group, const Birth& birth) {
  const Held held(state.epoch);
  for (Place& place : places) {
    if (place.epoch == state.epoch) continue;
    if (place.epoch == 0) awaited_count.fetch_add(1, std::memory_order_relaxed);
    place = {state.epoch, in_group ? thread_state.thread_id : 0, made, parent, birth, {}};
    CopyText(place.user_name, sizeof(place.user_name), birth.user_name);
    return;
  }
}

void EndAwaitedGroup(TracerState& state, bool well, bool in_progress) {
  if (in_progress) return LeaveToParents(state);
  const std::uint32_t thread = thread_state.thread_id;
  Place place;
  while (TakeOne(
      state, [&](const Place& one) { return one.thread_id == thread; }, &place)) {
    Comm made = well ? Told(place) : nullptr;
    if (made != nullptr) Announce(state, place, made);
  }
}

void TakeAwaitedOf(TracerState& state, Comm parent) {
  const auto is_made = [&](const Place& one) {
    return one.parent == parent && one.thread_id == 0 && Told(one) != nullptr;
  };
  Place place;
  while (TakeOne(state, is_made, &place)) Announce(state, place, Told(place));
}

void ForgetAwaitedOf(const TracerState& state, Comm parent) {
  Place place;
  while (TakeOne(
      state, [&](const Place& one) { return one.parent == parent; }, &place)) {
  }
}

}  // namespace fathom::tracer::nccl
