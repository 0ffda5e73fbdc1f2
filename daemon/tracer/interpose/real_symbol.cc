#include "daemon/tracer/interpose/real_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "daemon/tracer/core/host/text.h"
#include "daemon/tracer/core/tracer_state.h"
#include "daemon/tracer/interpose/loader.h"

namespace fathom::tracer {
namespace {

constexpr std::size_t kPathBytes = 4096;

void* ObjectBase(void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// True if `found` lies in a library that is not ours and not first in the global scope.
bool IsReal(void* found, const char* name) {
  if (found == nullptr || found == LookUp(RTLD_DEFAULT, name)) return false;
  return ObjectBase(found) != ObjectBase(reinterpret_cast<void*>(&FindReal));
}

void* FindInFile(const char* path, const char* name) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = LookUp(handle, name);
  if (IsReal(found, name)) return found;  // the handle stays: what we call must not be unloaded
  dlclose(handle);
  return nullptr;
}

// Behind us in the global scope. What a program added to it by dlopen it may take away again.
void* FindNext(const char* name) {
  void* found = LookUp(RTLD_NEXT, name);
  if (found != nullptr) KeepMapped(found);
  return found;
}

// The n-th object of the process. Its name is copied: the list may change once it is let go.
struct NthObject {
  std::size_t left;
  char path[kPathBytes];
};

int CopyNth(dl_phdr_info* info, std::size_t, void* data) {
  auto* nth = static_cast<NthObject*>(data);
  if (nth->left-- > 0) return 0;
  CopyText(nth->path, sizeof(nth->path), info->dlpi_name);
  return 1;
}

void* FindAnywhere(const char* name) {
  NthObject nth;
  for (std::size_t n = 0;; ++n) {
    nth.left = n;
    if (dl_iterate_phdr(CopyNth, &nth) == 0) return nullptr;
    if (nth.path[0] == '\0') continue;
    if (void* found = FindInFile(nth.path, name); found != nullptr) return found;
  }
}

}  // namespace

void KeepMapped(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  // Never closed. What cannot be said of it must not be the next error that the host reads.
  if (dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) == nullptr) dlerror();
}

void* FindBeside(void* address, const char* name) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return FindInFile(info.dli_fname, name);
}

void* FindForCaller(const char* name, void* caller, FirstScope first) {
  void* found = first == FirstScope::kGlobal ? FindNext(name) : nullptr;
  if (found == nullptr) found = FindBeside(caller, name);
  if (found == nullptr && first == FirstScope::kCallers) found = FindNext(name);
  if (found == nullptr) found = FindAnywhere(name);
  dlerror();  // ours must not be the next one the host reads
  return found;
}

void CountMissing() {
  TracerState* state = OnState(AfterFork::kIgnore);
  if (state != nullptr) CountDrop(state->region, abi::DropReason::kSymbolMissing);
}

void* FindReal(RealSymbol* symbol, void* caller) {
  const int saved = errno;
  void* found = FindForCaller(symbol->name, caller, FirstScope::kGlobal);
  if (found != nullptr) {
    symbol->found.store(found, std::memory_order_release);
  } else {
    CountMissing();
  }
  errno = saved;
  return found;
}

}  // namespace fathom::tracer
