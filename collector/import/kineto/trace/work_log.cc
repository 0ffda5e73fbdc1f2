#include "collector/import/kineto/trace/work_log.h"

#include <algorithm>
#include <utility>

namespace fathom::collector::kineto {
namespace {

// "Memcpy DtoH (Device -> Pinned)" → "Memcpy DtoH"; "Memset (Device)" → "Memset".
std::string_view CopyKind(std::string_view name) {
  return name.substr(0, std::min(name.find(" ("), name.size()));
}

}  // namespace

std::uint32_t WorkLog::NameOf(std::string_view name) {
  const auto known = name_ids_.find(absl::string_view(name.data(), name.size()));
  if (known != name_ids_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(work_.names.size());
  work_.names.emplace_back(name);
  name_ids_.emplace(std::string(name), id);
  return id;
}

std::uint16_t WorkLog::StreamOf(std::int64_t stream) {
  const auto known = std::find(work_.streams.begin(), work_.streams.end(), stream);
  const auto index = static_cast<std::size_t>(known - work_.streams.begin());
  // More streams than that are an error of the trace; they share the last.
  constexpr std::size_t kStreams = 4096;
  if (index == kStreams) return static_cast<std::uint16_t>(kStreams - 1);
  if (known == work_.streams.end()) work_.streams.push_back(stream);
  return static_cast<std::uint16_t>(index);
}

void WorkLog::AddCopy(const TraceEvent& event, std::int64_t bytes) {
  diagnosis::CopyBytes& sum = work_.copies[std::string(CopyKind(event.name))];
  if (bytes < 0) return;
  ++sum.count;
  sum.bytes += static_cast<std::uint64_t>(bytes);
  sum.ns += static_cast<double>(event.duration);
}

void WorkLog::AddDevice(diagnosis::WorkKind kind, std::uint32_t name, const TraceEvent& event,
                        const EventArgs& args) {
  if (work_.device.empty() && !whole_) ops_by_thread_.clear();
  diagnosis::DeviceWork one;
  one.begin = event.begin;
  one.end = event.end();
  one.name = name;
  one.stream = StreamOf(args.stream != kAbsent ? args.stream : event.thread);
  one.kind = kind;
  work_.device.push_back(one);
  correlations_.push_back(args.LaunchId());
  if (kind == diagnosis::WorkKind::kCopy) AddCopy(event, args.bytes);
}

void WorkLog::AddHostOp(const TraceEvent& event) {
  if (!work_.device.empty() && !whole_) return;
  ops_by_thread_[event.thread].push_back({event.begin, event.end(), NameOf(event.name)});
}

diagnosis::RankWork WorkLog::Take(const Launches& launches, std::int64_t training_thread) {
  for (std::size_t i = 0; i < correlations_.size(); ++i) {
    if (correlations_[i] == kAbsent) continue;
    const auto launch = launches.find(correlations_[i]);
    if (launch == launches.end()) continue;
    work_.device[i].launch_begin = launch->second.begin;
    work_.device[i].launch_end = launch->second.end;
  }
  const auto ops = ops_by_thread_.find(training_thread);
  if (ops != ops_by_thread_.end()) work_.host_ops = std::move(ops->second);
  ops_by_thread_.clear();
  return std::move(work_);
}

}  // namespace fathom::collector::kineto
