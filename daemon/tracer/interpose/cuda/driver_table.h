// The hooked functions of the CUDA driver as a table: by which names they are asked for, and what
// stands behind each wrapper.
//
// Filled by driver_shims.cc, searched by driver_lookup.cc on cold paths.
//
// Model: a wrapper's `real` is set once, by whoever first learns it: an answer of dlsym or of
// cuGetProcAddress, or the loader's search on the first call by name. A wrapper never stands for a
// second, different function.
// Thread-safety: thread-safe. Ownership: static.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_TABLE_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_TABLE_H_

#include <cstdint>

#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {

struct DriverHook {
  const char* asked_name;  // for cuGetProcAddress
  int since;               // CUDA version whose signature this is, e.g. 12000
  bool per_thread;         // the variant for per-thread default streams
  void* wrapper;
  RealSymbol real;  // name: for dlsym and the linker
};

// All hooks, cuGetProcAddress itself included.
struct DriverHooks {
  DriverHook* first;
  std::size_t count;
};
DriverHooks AllDriverHooks();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_TABLE_H_
