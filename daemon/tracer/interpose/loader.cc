#include "daemon/tracer/interpose/loader.h"

#include <dlfcn.h>
#include <errno.h>

namespace fathom::tracer {

std::atomic<DlsymFunction> real_dlsym{nullptr};
std::atomic<DlsymFunction> next_dlsym{nullptr};

// dlvsym is the one way to a dlsym behind us that does not itself go through dlsym.
DlsymFunction FindDlsym() {
  // Its first version, which later ones of the C library have too, comes first: a look-up that
  // fails allocates, and a malloc that is itself looking for the real one would come back here.
#if defined(__x86_64__)
  static constexpr const char* kVersions[] = {"GLIBC_2.2.5", "GLIBC_2.34"};
#else
  static constexpr const char* kVersions[] = {"GLIBC_2.17", "GLIBC_2.34"};
#endif
  const int saved = errno;
  for (const char* version : kVersions) {
    if (void* found = dlvsym(RTLD_NEXT, "dlsym", version); found != nullptr) {
      const auto real = reinterpret_cast<DlsymFunction>(found);
      // dlvsym passes over a library that gives its dlsym no version.
      const auto next = reinterpret_cast<DlsymFunction>(real(RTLD_NEXT, "dlsym"));
      next_dlsym.store(next != nullptr ? next : real, std::memory_order_release);
      real_dlsym.store(real, std::memory_order_release);
      break;
    }
    dlerror();
  }
  errno = saved;
  return real_dlsym.load(std::memory_order_acquire);
}

}  // namespace fathom::tracer
