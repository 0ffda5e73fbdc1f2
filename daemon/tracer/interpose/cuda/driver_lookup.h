// Answers those who ask for functions of the CUDA driver by name: dlsym and cuGetProcAddress.
//
// Called by dlsym.cc and by the wrappers of cuGetProcAddress. The CUDA runtime, linked into
// libraries or not, gets all of its driver functions in this way, so what is wrapped here sees the
// launches of every runtime in the process.
//
// Model: the real answer is asked for first, always. It is replaced by a wrapper only when it is
// certain which function it is:
//   dlsym            the symbol's own name says it;
//   cuGetProcAddress the same function has several signatures, chosen by version and flags, and a
//                    newer driver may know newer ones. So the driver is asked again, for the
//                    version and flags that a wrapper stands for: if that is the same address, the
//                    signature is known. If no wrapper's is, the caller gets the real address.
// A name that leads to a second address (two drivers in one process) is left alone too.
// Thread-safety: thread-safe. Errors: none of its own; results of the real lookups are passed on.
// Cost: cold; one string compare a hook, a further lookup for a name that is hooked.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_LOOKUP_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_LOOKUP_H_

#include <cstdint>

namespace fathom::tracer {

// cuGetProcAddress as in CUDA 11.3, and as since CUDA 12.0.
using GetProcAddress = int (*)(const char* name, void** function, int version, std::uint64_t flags);
using GetProcAddressV2 = int (*)(const char* name, void** function, int version,
                                 std::uint64_t flags, int* status);

// Either of the two; null if the driver does not know the function.
class Ask {
 public:
  explicit Ask(GetProcAddress v1) : v1_(v1) {}
  explicit Ask(GetProcAddressV2 v2) : v2_(v2) {}
  void* operator()(const char* name, int version, std::uint64_t flags) const;

 private:
  GetProcAddress v1_ = nullptr;
  GetProcAddressV2 v2_ = nullptr;
};
inline Ask AskV1(GetProcAddress ask) { return Ask(ask); }
inline Ask AskV2(GetProcAddressV2 ask) { return Ask(ask); }

// Replaces *function by its wrapper where that is certain. Requires: it is what `ask` answered.
void WrapAnswer(const Ask& ask, const char* name, void** function);

// What dlsym should answer for `symbol`, found at `found`: its wrapper or `found`.
void* WrapSymbol(const char* symbol, void* found);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_CUDA_DRIVER_LOOKUP_H_
