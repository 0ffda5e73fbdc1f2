#include "daemon/tracer/core/products.h"

#include "daemon/abi/products.h"
#include "daemon/tracer/core/device_calls.h"

namespace fathom::tracer {
namespace {

constexpr std::uint32_t kMost = ~std::uint32_t{0};

std::uint32_t Cut(std::int64_t ns) {
  if (ns < 0) return 0;
  return ns < kMost ? static_cast<std::uint32_t>(ns) : kMost;
}

void Write(const TracerState& state, const abi::Products& products, std::uint8_t flags,
           std::int64_t now_ns) {
  abi::EventRecord record = {};
  record.time_ns = now_ns;
  record.thread_id = thread_state.thread_id;
  record.record_kind = static_cast<std::uint8_t>(abi::RecordKind::kProducts);
  record.flags = flags;
  record.group_slot = abi::kNoGroupSlot;
  record.peer = abi::kNoPeer;
  PackProducts(products, record);
  AppendRecord(state.region, record);
}

// One record a class; the first of them takes the stretch along.
void WriteSums(const TracerState& state, std::atomic<std::uint64_t> (&sums)[kFlopClasses],
               abi::Products stretch, std::uint8_t flags, std::int64_t now_ns) {
  for (std::size_t i = 0; i < kFlopClasses; ++i) {
    if (sums[i].load(std::memory_order_relaxed) == 0) continue;
    stretch.flop_class = static_cast<FlopClass>(i);
    stretch.flop = sums[i].exchange(0, std::memory_order_relaxed);
    Write(state, stretch, flags, now_ns);
    stretch = {};
  }
  if (stretch.count != 0) Write(state, stretch, flags, now_ns);
}

void CountCall(const TracerState& state) {
  if (++thread_state.device.calls >= kFlushCalls) [[unlikely]]
    WriteDeviceCallsNow(state);
}

}  // namespace

void NoteProduct(const TracerState& state, FlopClass flop_class, std::uint64_t flop,
                 std::int64_t begin_ns) {
  const std::int64_t now_ns = NowNs();
  ProductThread& thread = thread_state.products;
  if (thread.count != 0 && begin_ns - thread.end_ns >= abi::kStretchGapNs) [[unlikely]]
    WriteDeviceCalls(state, begin_ns);
  state.host_flop[static_cast<std::size_t>(flop_class)].fetch_add(flop, std::memory_order_relaxed);
  if (thread.count == 0) thread.begin_ns = begin_ns;
  thread.end_ns = now_ns;
  thread.busy_ns += now_ns - begin_ns;
  ++thread.count;
  ++thread.uncounted;
  CountCall(state);
}

void NoteDeviceProduct(const TracerState& state, FlopClass flop_class, std::uint64_t flop) {
  if (thread_state.device.capturing != 0) return;  // it runs with its graph, whenever that does
  state.device_flop[static_cast<std::size_t>(flop_class)].fetch_add(flop,
                                                                    std::memory_order_relaxed);
  ++thread_state.products.uncounted;
  CountCall(state);
}

void WriteProducts(const TracerState& state, std::int64_t now_ns) {
  ProductThread& thread = thread_state.products;
  abi::Products stretch;
  stretch.count = thread.count;
  stretch.busy_ns = Cut(thread.busy_ns);
  if (thread.count != 0) {
    stretch.since_begin_ns = Cut(now_ns - thread.begin_ns);
    stretch.since_end_ns = Cut(now_ns - thread.end_ns);
  }
  thread.count = 0;
  thread.busy_ns = 0;
  thread.uncounted = 0;
  WriteSums(state, state.host_flop, stretch, 0, now_ns);
  WriteSums(state, state.device_flop, {}, abi::kFlagDevice, now_ns);
}

}  // namespace fathom::tracer
