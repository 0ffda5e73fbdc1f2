#include "daemon/agent/pipeline/iteration/products.h"

#include <algorithm>

#include "daemon/abi/products.h"

namespace fathom::agent {

void ProductLog::Take(const abi::EventRecord& record) {
  const abi::Products told = abi::UnpackProducts(record);
  ProductStretch stretch;
  stretch.told_ns = record.time_ns;
  stretch.begin_ns = record.time_ns - told.since_begin_ns;
  stretch.end_ns = std::max(stretch.begin_ns, record.time_ns - std::int64_t{told.since_end_ns});
  stretch.busy_ns = std::min<std::int64_t>(told.busy_ns, stretch.end_ns - stretch.begin_ns);
  stretch.flop = static_cast<double>(told.flop);
  stretch.thread_id = record.thread_id;
  stretch.flop_class = told.flop_class;
  stretch.on_device = (record.flags & abi::kFlagDevice) != 0;
  on_device_ = on_device_ || stretch.on_device;
  if (stretches_.size() >= kMost) stretches_.pop_front();
  stretches_.push_back(stretch);
}

void ProductLog::ForgetBefore(std::int64_t time_ns) {
  while (!stretches_.empty() && stretches_.front().told_ns < time_ns) stretches_.pop_front();
}

FlopByClass ProductLog::Flop(std::int64_t after_ns, std::int64_t upto_ns) const {
  FlopByClass sum{};
  for (const ProductStretch& each : stretches_) {
    if (each.told_ns <= after_ns || each.told_ns > upto_ns) continue;
    if (each.on_device == on_device_) sum[static_cast<std::size_t>(each.flop_class)] += each.flop;
  }
  return sum;
}

}  // namespace fathom::agent
