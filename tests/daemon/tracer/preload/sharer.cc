// An interposer that brings a dlsym and functions of the CUDA driver, as libraries do that share a
// GPU out: it says so when its function is called. Preloaded before and after the tracer by
// laws_test.py.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

namespace {

using Dlsym = void* (*)(void*, const char*);
using StreamSync = int (*)(void*);

StreamSync real_sync = nullptr;

Dlsym RealDlsym() { return reinterpret_cast<Dlsym>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5")); }

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int cuStreamSynchronize(void* stream) {
  puts("shared");
  return real_sync == nullptr ? 500 : real_sync(stream);
}

__attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) noexcept {
  void* found = RealDlsym()(handle, name);
  const bool of_a_library = handle != RTLD_DEFAULT && handle != RTLD_NEXT;
  if (found == nullptr || !of_a_library || strcmp(name, "cuStreamSynchronize") != 0) return found;
  real_sync = reinterpret_cast<StreamSync>(found);
  return reinterpret_cast<void*>(&cuStreamSynchronize);
}
}
