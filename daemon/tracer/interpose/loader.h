// The C library's own dlsym, past the one that libfathom exports (cuda/dlsym.cc).
//
// Used by every part of the tracer that looks a name up. Requires of the caller: to be in
// libfathom, because RTLD_NEXT and RTLD_DEFAULT depend on who calls.
// Thread-safety: thread-safe. Errors: null where the C library has no dlsym of a version known
// here. Cost: one load once known.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_

#include <atomic>

namespace fathom::tracer {

using DlsymFunction = void* (*)(void* handle, const char* name);

extern std::atomic<DlsymFunction> real_dlsym;
DlsymFunction FindDlsym();

inline DlsymFunction RealDlsym() {
  DlsymFunction found = real_dlsym.load(std::memory_order_acquire);
  return found != nullptr ? found : FindDlsym();
}

inline void* LookUp(void* handle, const char* name) {
  const DlsymFunction look = RealDlsym();
  return look == nullptr ? nullptr : look(handle, name);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_
