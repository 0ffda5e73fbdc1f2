#include "daemon/tracer/cupti/library.h"

#include <dlfcn.h>

#include <atomic>

#include "daemon/tracer/interpose/loader.h"

namespace fathom::tracer {
namespace {

// Sonames of CUDA 13, 12 and 11; the last is a link that only development packages have.
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.0",
                                  "libcupti.so"};

CuptiLibrary library;
std::atomic<bool> complete{false};

void* OpenCupti() {
  for (const int flags : {RTLD_LAZY | RTLD_NOLOAD, RTLD_LAZY | RTLD_LOCAL}) {
    for (const char* name : kNames) {
      if (void* handle = dlopen(name, flags); handle != nullptr) return handle;
    }
  }
  return nullptr;
}

template <typename Function>
bool Get(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(LookUp(handle, name));
  return *function != nullptr;
}

bool GetAll(void* handle) {
  bool all = true;
#define FATHOM_CUPTI_GET(name, parameters) all = Get(handle, #name, &library.name) && all;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_CUPTI_GET)
#undef FATHOM_CUPTI_GET
  all = Get(RTLD_DEFAULT, "free", &library.free) && all;
  return all;
}

}  // namespace

const CuptiLibrary* FindCupti() {
  if (complete.load(std::memory_order_acquire)) return &library;
  void* handle = OpenCupti();
  const bool found = handle != nullptr && GetAll(handle);
  dlerror();
  if (!found) return nullptr;
  complete.store(true, std::memory_order_release);
  return &library;
}

}  // namespace fathom::tracer
