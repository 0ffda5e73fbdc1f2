#include "daemon/agent/session/hardware_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "daemon/agent/source/hardware/connection_source.h"
#include "daemon/agent/source/hardware/core_source.h"
#include "daemon/agent/source/hardware/limit_source.h"
#include "daemon/agent/source/hardware/nvml_source.h"
#include "daemon/agent/source/hardware/system_sources.h"

namespace fathom::agent {
namespace {

// What collectors before 0.2 refuse (hardware.proto).
bool IsLater(const Reading& reading) {
  return reading.kind > DeviceKind::kProcess || reading.metric > HardwareMetric::kHeldBack;
}

// The last one if it is of the reading, else a new one.
v1::HardwareDevice& DeviceOf(const Reading& reading,
                             google::protobuf::RepeatedPtrField<v1::HardwareDevice>& devices) {
  const auto kind = static_cast<std::uint32_t>(reading.kind);
  const int last = devices.size() - 1;
  if (last >= 0 && devices[last].kind() == kind && devices[last].name() == reading.device) {
    return devices[last];
  }
  v1::HardwareDevice& device = *devices.Add();
  device.set_kind(kind);
  device.set_name(reading.device);
  return device;
}

void Put(const ReadingBoard::News& news, v1::NodeHardware& out) {
  for (const Reading& reading : news.readings) {
    auto& devices = IsLater(reading) ? *out.mutable_later() : *out.mutable_devices();
    v1::HardwareReading& told = *DeviceOf(reading, devices).add_readings();
    told.set_metric(static_cast<std::uint32_t>(reading.metric));
    told.set_value(reading.value);
    told.set_note(reading.note);
  }
  out.set_whole(news.whole);
}

}  // namespace

HardwareWatch::HardwareWatch(const Parts& parts) {
  std::vector<std::unique_ptr<HardwareSource>> sources = MakeSystemSources(parts.roots, parts.now);
  const auto traced = [shared = shared_] {
    const service::MutexLock lock(shared->mutex);
    return shared->traced;
  };
  sources.push_back(std::make_unique<LimitSource>(parts.roots, traced, parts.now));
  sources.push_back(std::make_unique<CoreSource>(parts.roots, traced));
  sources.push_back(std::make_unique<ConnectionSource>(parts.roots, traced, parts.now));
  sources.push_back(std::make_unique<NvmlSource>(
      NvmlSource::Parts{.roots = parts.roots, .traced = traced, .library = parts.nvml}));
  runner_ = std::make_unique<SourceRunner>(std::move(sources), parts.now, parts.pace);
}

void HardwareWatch::Traced(std::set<std::uint32_t> processes) {
  const service::MutexLock lock(shared_->mutex);
  shared_->traced = std::move(processes);
}

bool HardwareWatch::NoteStates(const std::vector<SourceState>& states) {
  bool changed = told_.size() != states.size();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (i < told_.size() && told_[i].SaysTheSame(states[i])) continue;
    changed = true;
    const SourceState& state = states[i];
    if (state.state == "failed" || state.state == "hangs") {
      spdlog::warn("hardware source {} {}: {}", state.name, state.state, state.reason);
    } else if (state.state != "starts") {
      spdlog::info("hardware source {} is {}{}{}", state.name, state.state,
                   state.reason.empty() ? "" : ": ", state.reason);
    }
  }
  if (changed) told_ = states;
  return changed;
}

std::optional<v1::NodeHardware> HardwareWatch::Look(MonoNs now, WallNs now_wall,
                                                    std::uint64_t lost) {
  if (std::exchange(lost_, lost) != lost) board_.TellAll();
  board_.Put(runner_->Take());
  const ReadingBoard::News news = board_.Take(now);
  const std::vector<SourceState> states = runner_->States();
  const bool changed = NoteStates(states);
  if (news.readings.empty() && !changed) return std::nullopt;
  v1::NodeHardware out;
  out.set_sampled_wall_ns(now_wall.ns);
  Put(news, out);
  if (!changed && !news.whole) return out;
  for (const SourceState& state : states) {
    v1::HardwareSource& source = *out.add_sources();
    source.set_name(state.name);
    source.set_state(state.state);
    source.set_reason(state.reason);
  }
  return out;
}

}  // namespace fathom::agent
