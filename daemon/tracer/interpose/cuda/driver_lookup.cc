#include "daemon/tracer/interpose/cuda/driver_lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tracer/core/host/settings.h"
#include "daemon/tracer/interpose/cuda/driver_table.h"

namespace fathom::tracer {
namespace {

constexpr std::uint64_t kPlainStreams = 0;      // CU_GET_PROC_ADDRESS_DEFAULT
constexpr std::uint64_t kPerThreadStreams = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

const char* Environment(const char* name) { return getenv(name); }

// Lookups come before the tracer is turned on (a library asks as it is loaded), so what the
// environment forbids is read here, once.
bool MayWrap() {
  enum : int { kUnknown, kYes, kNo };
  static constinit std::atomic<int> known{kUnknown};
  int may = known.load(std::memory_order_relaxed);
  if (may == kUnknown) {
    const Settings settings = ReadSettings(Environment);
    may = !settings.disabled && (settings.sources & abi::kSourceCuda) != 0 ? kYes : kNo;
    known.store(may, std::memory_order_relaxed);
  }
  return may == kYes;
}

// Makes `hook` stand for `found`; false if it stands for something else already. A driver whose own
// table was bound to our exports answers with the wrapper itself: that is left to the first call.
bool StandFor(DriverHook& hook, void* found) {
  if (found == hook.wrapper) return true;
  void* before = nullptr;
  if (!hook.real.found.compare_exchange_strong(before, found, std::memory_order_acq_rel)) {
    return before == found;
  }
  KeepMapped(found);  // who only looks whether there is a driver closes it again
  return true;
}

}  // namespace

void* Ask::operator()(const char* name, int version, std::uint64_t flags) const {
  void* found = nullptr;
  const int result = v2_ != nullptr ? v2_(name, &found, version, flags, nullptr)
                                    : v1_(name, &found, version, flags);
  return result == 0 ? found : nullptr;
}

void WrapAnswer(const Ask& ask, const char* name, void** function) {
  if (name == nullptr || function == nullptr || *function == nullptr || !MayWrap()) return;
  const int saved = errno;
  const DriverHooks hooks = AllDriverHooks();
  for (std::size_t i = 0; i < hooks.count; ++i) {
    DriverHook& hook = hooks.first[i];
    if (strcmp(hook.asked_name, name) != 0) continue;
    const std::uint64_t flags = hook.per_thread ? kPerThreadStreams : kPlainStreams;
    if (ask(name, hook.since, flags) != *function || !StandFor(hook, *function)) continue;
    *function = hook.wrapper;
    break;
  }
  errno = saved;
}

void* WrapSymbol(const char* symbol, void* found) {
  if (found == nullptr || !MayWrap()) return found;
  const DriverHooks hooks = AllDriverHooks();
  for (std::size_t i = 0; i < hooks.count; ++i) {
    DriverHook& hook = hooks.first[i];
    if (strcmp(hook.real.name, symbol) != 0) continue;
    return StandFor(hook, found) ? hook.wrapper : found;
  }
  return found;
}

}  // namespace fathom::tracer
