// The dlsym behind the one that libfathom exports (cuda/dlsym.cc).
//
// RealDlsym is the C library's own, for every part of the tracer that looks a name up. Requires of
// the caller: to be in libfathom, because RTLD_NEXT and RTLD_DEFAULT depend on who calls. NextDlsym
// is what a program would have called without us: where another library behind us brings a dlsym
// (those that share out a GPU do), it is that one, for calls of the program alone.
// Thread-safety: thread-safe. Errors: null where the C library has no dlsym of a version known
// here. Cost: one load once known.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_

#include <atomic>

namespace fathom::tracer {

using DlsymFunction = void* (*)(void* handle, const char* name);

extern std::atomic<DlsymFunction> real_dlsym;
extern std::atomic<DlsymFunction> next_dlsym;
DlsymFunction FindDlsym();

inline DlsymFunction RealDlsym() {
  DlsymFunction found = real_dlsym.load(std::memory_order_acquire);
  return found != nullptr ? found : FindDlsym();
}

inline DlsymFunction NextDlsym() {
  DlsymFunction found = next_dlsym.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  FindDlsym();
  return next_dlsym.load(std::memory_order_acquire);
}

inline void* LookUp(void* handle, const char* name) {
  const DlsymFunction look = RealDlsym();
  return look == nullptr ? nullptr : look(handle, name);
}

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_LOADER_H_
