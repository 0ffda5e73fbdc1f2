// dlsym, for the libraries that look the CUDA driver's functions up instead of linking it.
//
// What it answers depends on who calls for RTLD_DEFAULT and RTLD_NEXT: those calls, and all that do
// not ask for the driver's names, jump on to the next dlsym as if they had gone there
// (a sibling call: the return address stays the caller's). tests/daemon/tracer/cuda hold this.
#include <dlfcn.h>

#include "daemon/tracer/interpose/cuda/driver_lookup.h"
#include "daemon/tracer/interpose/loader.h"

namespace fathom::tracer {
namespace {

[[gnu::noinline]] void* LookUpDriver(DlsymFunction look, void* handle, const char* name) {
  return WrapSymbol(name, look(handle, name));
}

// "cu" and a capital: the driver's names, and few others.
bool MayBeDriver(const char* name) {
  return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

}  // namespace

__attribute__((visibility("default"))) void* Dlsym(void* handle, const char* name) __asm__("dlsym");
void* Dlsym(void* handle, const char* name) {
  const DlsymFunction look = NextDlsym();
  if (look == nullptr) return nullptr;
  const bool of_a_library = handle != RTLD_DEFAULT && handle != RTLD_NEXT;
  if (of_a_library && name != nullptr && MayBeDriver(name)) {
    return LookUpDriver(look, handle, name);
  }
  return look(handle, name);
}

}  // namespace fathom::tracer
