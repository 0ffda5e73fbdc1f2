#include "daemon/tracer/core/device_calls.h"

#include "daemon/tracer/core/products.h"

namespace fathom::tracer {
namespace {

using abi::RecordKind;

constexpr std::uint32_t kMaxNs = ~std::uint32_t{0};

abi::EventRecord RecordAt(RecordKind kind, std::int64_t time_ns) {
  abi::EventRecord record = {};
  record.time_ns = time_ns;
  record.thread_id = thread_state.thread_id;
  record.record_kind = static_cast<std::uint8_t>(kind);
  record.group_slot = abi::kNoGroupSlot;
  record.peer = abi::kNoPeer;
  record.sequence = abi::kNoSequence64;
  return record;
}

abi::SyncKind KindOf(DeviceCall call) {
  switch (call) {
    case DeviceCall::kSyncDevice:
      return abi::SyncKind::kDevice;
    case DeviceCall::kSyncStream:
      return abi::SyncKind::kStream;
    case DeviceCall::kSyncEvent:
      return abi::SyncKind::kEvent;
    case DeviceCall::kBlockingCopy:
      return abi::SyncKind::kCopy;
    default:
      return abi::SyncKind::kLaunch;
  }
}

void WriteSync(const TracerState& state, RecordKind kind, abi::SyncKind what,
               std::int64_t time_ns) {
  abi::EventRecord record = RecordAt(kind, time_ns);
  record.extra = static_cast<std::uint64_t>(what);
  AppendRecord(state.region, record);
}

// Marsaglia's xorshift, 32 bits (2003): a state of 0 would stay 0.
std::uint32_t NextRandom(std::uint32_t state) {
  if (state == 0) state = 0x9e3779b9U ^ thread_state.thread_id;
  if (state == 0) state = 1;
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ state << 5;
}

std::uint32_t AddNs(std::uint32_t sum, std::int64_t ns) {
  return ns < kMaxNs - sum ? sum + static_cast<std::uint32_t>(ns) : kMaxNs;
}

}  // namespace

void WriteDeviceCalls(const TracerState& state, std::int64_t now_ns) {
  DeviceThread& device = thread_state.device;
  const std::uint32_t products = thread_state.products.uncounted;
  if (products != 0) WriteProducts(state, now_ns);
  if (device.calls > products) {
    abi::EventRecord record = RecordAt(RecordKind::kDeviceCalls, now_ns);
    PackDeviceCalls(device.sum, record);
    AppendRecord(state.region, record);
  }
  device.sum = {};
  device.calls = 0;
  device.since_ns = 0;
}

void WriteDeviceCallsNow(const TracerState& state) { WriteDeviceCalls(state, NowNs()); }

void NoteSample(const TracerState& state, std::int64_t begin_ns) {
  DeviceThread& device = thread_state.device;
  const std::int64_t now_ns = NowNs();
  const std::int64_t took_ns = now_ns - begin_ns;
  device.random = NextRandom(device.random);
  device.to_sample = 1 + (device.random >> 8 & kSampleMask);
  device.sum.sampled_ns = AddNs(device.sum.sampled_ns, took_ns);
  if (took_ns > device.sum.longest_ns) device.sum.longest_ns = AddNs(0, took_ns);
  ++device.sum.sampled;
  if (device.since_ns == 0) device.since_ns = now_ns;
  const bool stalled = took_ns >= abi::kStallNs;
  if (device.calls != 0 && (stalled || now_ns - device.since_ns >= kFlushNs)) {
    WriteDeviceCalls(state, stalled ? begin_ns : now_ns);
  }
  if (!stalled) return;
  WriteSync(state, RecordKind::kSyncStart, abi::SyncKind::kLaunch, begin_ns);
  WriteSync(state, RecordKind::kSyncEnd, abi::SyncKind::kLaunch, now_ns);
}

void BeginSync(const TracerState& state, DeviceCall call) {
  const std::int64_t now_ns = NowNs();
  FlushDeviceCalls(state, now_ns);
  WriteSync(state, RecordKind::kSyncStart, KindOf(call), now_ns);
}

void EndSync(const TracerState& state, DeviceCall call) {
  if (state.epoch != thread_state.epoch) return;  // the call forked, and this is the child
  WriteSync(state, RecordKind::kSyncEnd, KindOf(call), NowNs());
}

}  // namespace fathom::tracer
