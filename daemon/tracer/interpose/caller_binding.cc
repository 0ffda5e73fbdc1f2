#include "daemon/tracer/interpose/caller_binding.h"

#include <errno.h>
#include <link.h>

#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {
namespace {

std::atomic<bool> binding_now{false};

struct ObjectRange {
  std::uintptr_t address;
  std::uintptr_t begin;
  std::uintptr_t bytes;
};

int HoldsAddress(dl_phdr_info* info, std::size_t, void* data) {
  auto* range = static_cast<ObjectRange*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || range->address - begin >= segment.p_memsz) continue;
    range->begin = begin;
    range->bytes = segment.p_memsz;
    return 1;
  }
  return 0;
}

bool AllTheSame(const CallerBinding& binding) {
  for (const CallerBinding::Place& place : binding.places) {
    if (place.found != binding.places[0].found) return false;
  }
  return true;
}

void Add(CallerBinding* binding, const ObjectRange& range, void* found) {
  // Nobody waits: a fork may have copied the lock while another thread had it.
  if (binding_now.exchange(true, std::memory_order_acquire)) return;
  const std::uint32_t used = binding->used.load(std::memory_order_relaxed);
  if (used < CallerBinding::kPlaces) {
    binding->places[used] = {range.begin, range.bytes, found};
    binding->used.store(used + 1, std::memory_order_release);
  }
  binding_now.store(false, std::memory_order_release);
}

}  // namespace

void* BindCaller(CallerBinding* binding, const char* name, void* caller, FirstScope first) {
  if (binding->used.load(std::memory_order_acquire) == CallerBinding::kPlaces &&
      AllTheSame(*binding)) {
    return binding->places[0].found;
  }
  const int saved = errno;
  void* found = FindForCaller(name, caller, first);
  if (found == nullptr) CountMissing();
  ObjectRange range = {reinterpret_cast<std::uintptr_t>(caller), 0, 0};
  // Code outside every library (generated at run time) has no range: it is looked up each time.
  const bool in_object = dl_iterate_phdr(HoldsAddress, &range) != 0;
  if (found != nullptr && in_object) Add(binding, range, found);
  errno = saved;
  return found;
}

}  // namespace fathom::tracer
