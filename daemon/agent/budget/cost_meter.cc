#include "daemon/agent/budget/cost_meter.h"

#include <algorithm>
#include <utility>

namespace fathom::agent {

const char* NameOf(WorkPart part) {
  constexpr std::array<const char*, kWorkParts> kNames = {
      "rest", "polling", "records", "threads", "workers", "summaries", "health", "ops", "rows"};
  return kNames[static_cast<std::size_t>(part)];
}

void CostMeter::Change(WorkPart to) {
  const std::int64_t now = clock_();
  if (since_ns_ >= 0) At(in_).cpu_ns += std::max<std::int64_t>(0, now - since_ns_);
  since_ns_ = now;
  in_ = to;
}

CostMeter::In::In(CostMeter* meter, WorkPart part)
    : meter_(meter), around_(meter == nullptr ? WorkPart::kNone : meter->in_) {
  if (meter_ == nullptr) return;
  meter_->Change(part);
  ++meter_->At(part).runs;
}

CostMeter::In::~In() {
  if (meter_ != nullptr) meter_->Change(around_);
}

PartCosts CostMeter::Take() {
  Change(in_);
  return std::exchange(costs_, PartCosts{});
}

}  // namespace fathom::agent
