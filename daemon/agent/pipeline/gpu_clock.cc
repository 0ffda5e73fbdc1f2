#include "daemon/agent/pipeline/gpu_clock.h"

#include <algorithm>

namespace fathom::agent {
namespace {

// Drift between two clocks of one machine within a span; less is not a contradiction.
constexpr std::int64_t kToleranceNs = 2'000'000;

std::int64_t Offset(std::int64_t host_ns, std::uint64_t gpu_ns) {
  return host_ns - static_cast<std::int64_t>(gpu_ns);
}

}  // namespace

void GpuClock::Restart() {
  newest_ = before_ = kNone;
  lower_ = -kNone;
}

void GpuClock::NoteEnd(std::int64_t heard_ns, std::uint64_t gpu_ns) {
  if (gpu_ns == 0) return;
  const std::int64_t bound = Offset(heard_ns, gpu_ns);
  if (lower_ != -kNone && bound < lower_ - kToleranceNs) Restart();
  if (heard_ns - span_begin_ > kSpanNs) {
    before_ = newest_;
    newest_ = kNone;
    span_begin_ = heard_ns;
  }
  newest_ = std::min(newest_, bound);
}

void GpuClock::NoteStart(std::int64_t entered_ns, std::uint64_t gpu_ns) {
  if (gpu_ns == 0 || entered_ns == 0) return;
  const std::int64_t bound = Offset(entered_ns, gpu_ns);
  if (known() && bound > Upper() + kToleranceNs) Restart();
  lower_ = std::max(lower_, bound);
}

std::int64_t GpuClock::ToHost(std::uint64_t gpu_ns) const {
  if (gpu_ns == 0 || !known()) return 0;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(gpu_ns) + Upper());
}

std::int64_t GpuClock::slack_ns() const {
  return known() && lower_ != -kNone ? std::max<std::int64_t>(0, Upper() - lower_) : 0;
}

}  // namespace fathom::agent
