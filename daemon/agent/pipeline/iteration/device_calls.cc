#include "daemon/agent/pipeline/iteration/device_calls.h"

#include <algorithm>

#include "daemon/abi/device_calls.h"
#include "proto/types/bounds.h"

namespace fathom::agent {
namespace {

constexpr double kNewest = 0.2;  // weight of a stretch in the running mean

}  // namespace

void DeviceCallSums::Take(const abi::EventRecord& record) {
  switch (static_cast<abi::RecordKind>(record.record_kind)) {
    case abi::RecordKind::kDeviceCalls:
      return TakeCalls(record);
    case abi::RecordKind::kSyncStart:
      if (waits_since_.size() >= kMaxThreads) waits_since_.clear();
      waits_since_[record.thread_id] = record.time_ns;
      return;
    default:
      return TakeEndOfWait(record);
  }
}

void DeviceCallSums::TakeCalls(const abi::EventRecord& record) {
  const abi::DeviceCalls calls = abi::UnpackDeviceCalls(record);
  const std::uint64_t launches = std::uint64_t{calls.launches} + calls.graphs;
  const std::uint64_t all = launches + calls.copies + calls.memsets + calls.events + calls.waits;
  const bool stalled = calls.longest_ns >= abi::kStallNs;
  const std::uint32_t told = stalled ? std::min(calls.longest_ns, calls.sampled_ns) : 0;
  const int timed = calls.sampled - (stalled ? 1 : 0);
  if (timed > 0) {
    const double mean = static_cast<double>(calls.sampled_ns - told) / timed;
    mean_ns_ = mean_ns_ == 0 ? mean : mean_ns_ + kNewest * (mean - mean_ns_);
  }
  totals_.launches += launches;
  totals_.graphs += calls.graphs;
  totals_.stream_waits += calls.waits;
  const double lasted = mean_ns_ * static_cast<double>(all);
  AddBounded(totals_.launch_ns,
             static_cast<std::int64_t>(std::min(lasted, static_cast<double>(kFarMonoNs))));
}

void DeviceCallSums::TakeEndOfWait(const abi::EventRecord& record) {
  const auto since = waits_since_.find(record.thread_id);
  if (since == waits_since_.end()) return;
  const std::int64_t lasted = std::max<std::int64_t>(0, record.time_ns - since->second);
  waits_since_.erase(since);
  const bool launch = record.extra == static_cast<std::uint64_t>(abi::SyncKind::kLaunch);
  AddBounded(launch ? totals_.launch_ns : totals_.waiting_ns, lasted);
  if (!launch) ++totals_.syncs;
}

}  // namespace fathom::agent
