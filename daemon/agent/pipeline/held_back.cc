#include "daemon/agent/pipeline/held_back.h"

#include <algorithm>

namespace fathom::agent {

void HeldBack::Throttled(std::int64_t time_ns, std::int64_t throttled_ns) {
  const bool first = !throttled_ns_.has_value();
  const std::int64_t rise = first ? 0 : throttled_ns - *throttled_ns_;
  throttled_ns_ = throttled_ns;
  if (first) risen_ns_ = time_ns;
  if (rise <= 0) return;
  credit_ns_ = std::min(rise, time_ns - risen_ns_);
  risen_ns_ = time_ns;
  ++rises_;
  AddHold(time_ns - credit_ns_, time_ns);
}

void HeldBack::Stopped(std::int64_t begin_ns, std::int64_t end_ns) { AddHold(begin_ns, end_ns); }

void HeldBack::AddHold(std::int64_t begin_ns, std::int64_t end_ns) {
  if (!holds_.empty()) begin_ns = std::max(begin_ns, holds_.back().end_ns);
  if (begin_ns >= end_ns) return;
  if (!holds_.empty() && holds_.back().end_ns == begin_ns) {
    holds_.back().end_ns = end_ns;
    holds_.back().sum_ns += end_ns - begin_ns;
    return;
  }
  const std::int64_t before = holds_.empty() ? 0 : holds_.back().sum_ns;
  holds_.push_back({begin_ns, end_ns, before + end_ns - begin_ns});
  if (holds_.size() > kMaxHolds) holds_.pop_front();
}

std::int64_t HeldBack::HeldUntil(std::int64_t time_ns) const {
  const auto after = std::partition_point(holds_.begin(), holds_.end(),
                                          [&](const Hold& hold) { return hold.end_ns <= time_ns; });
  if (after == holds_.end()) return holds_.empty() ? 0 : holds_.back().sum_ns;
  const std::int64_t before = after->sum_ns - (after->end_ns - after->begin_ns);
  return before + std::max<std::int64_t>(0, time_ns - after->begin_ns);
}

std::int64_t HeldBack::Arrival(std::int64_t time_ns, std::int64_t end_ns) const {
  if (holds_.empty() || time_ns == 0 || end_ns <= time_ns) return time_ns;
  return time_ns + HeldUntil(end_ns) - HeldUntil(time_ns);
}

std::int64_t HeldBack::Without(std::uint32_t id, std::int64_t time_ns, std::int64_t runqueue_ns) {
  const auto [at, fresh] = threads_.try_emplace(id);
  Thread& thread = at->second;
  if (fresh) thread = {runqueue_ns, 0, 0, time_ns, rises_};
  if (thread.rise != rises_) {
    thread.rise = rises_;
    thread.credit_ns = credit_ns_;
  }
  if (time_ns - risen_ns_ > kLastsNs) thread.credit_ns = 0;
  const std::int64_t growth = std::max<std::int64_t>(0, runqueue_ns - thread.runqueue_ns);
  const std::int64_t held = std::min(growth, thread.credit_ns);
  thread.credit_ns -= held;
  thread.held_ns += held;
  thread.runqueue_ns = runqueue_ns;
  thread.asked_ns = time_ns;
  const std::int64_t left = runqueue_ns - thread.held_ns;
  if (time_ns - forgotten_ns_ > kForgetNs) {
    forgotten_ns_ = time_ns;
    std::erase_if(threads_,
                  [&](const auto& each) { return time_ns - each.second.asked_ns > kForgetNs; });
  }
  return left;
}

std::int64_t HeldBack::Growth(std::uint32_t id, std::int64_t runqueue_ns) const {
  const auto at = threads_.find(id);
  return at == threads_.end() ? 0 : runqueue_ns - at->second.runqueue_ns;
}

}  // namespace fathom::agent
