#include "daemon/agent/pipeline/iteration/rhythm.h"

#include <algorithm>

namespace fathom::agent {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

}  // namespace

void Rhythm::BeginAnew(std::int64_t enter_ns) {
  slots_ = {};
  first_ = last_ = enter_ns;
  taken_ = 1;
  longest_ = 0;
}

void Rhythm::Take(std::int64_t enter_ns) {
  const std::int64_t pause = std::max<std::int64_t>(0, enter_ns - last_);
  if (taken_ == 0 || (!known_ && pause > std::max(last_ - first_, kSecondNs))) {
    return BeginAnew(enter_ns);
  }
  last_ = std::max(last_, enter_ns);
  const std::int64_t second = last_ / kSecondNs;
  Slot& slot = slots_[static_cast<std::size_t>(second) % kSlots];
  if (slot.second != second) slot = {second, 0};
  slot.longest = std::max(slot.longest, pause);
  known_ = known_ || (taken_ >= kOps && last_ - first_ >= kSpanNs);
  longest_ = std::max(longest_, pause);
  if (++taken_ % kHistoryOps == 0) {
    longest_before_ = longest_;
    longest_ = 0;
  }
}

std::int64_t Rhythm::Recent() const {
  if (!known_) return 0;
  const std::int64_t oldest = last_ / kSecondNs - static_cast<std::int64_t>(kSlots);
  std::int64_t longest = 0;
  for (const Slot& slot : slots_) {
    if (slot.second > oldest) longest = std::max(longest, slot.longest);
  }
  return longest;
}

std::int64_t Rhythm::History() const {
  return known_ ? std::max({longest_, longest_before_, Recent()}) : 0;
}

}  // namespace fathom::agent
