// The functions of CUPTI that a window needs, found in the process or in the toolkit at run time.
//
// Used by activity_window.cc. Types are spelt as the machine sees them; tests/daemon/tracer/cuda
// compare each with the header. libcupti is looked for among the libraries of the process first
// (PyTorch brings one), then by its name; it is never linked.
// Thread-safety: Find is cold and idempotent. Errors: null: no libcupti, or one that lacks a
// function.
#ifndef FATHOM_DAEMON_TRACER_CUPTI_LIBRARY_H_
#define FATHOM_DAEMON_TRACER_CUPTI_LIBRARY_H_

#include <cstddef>
#include <cstdint>

namespace fathom::tracer {

using CuptiBufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes,
                                      std::size_t* max_records);
using CuptiBufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                                      std::size_t bytes, std::size_t valid_bytes);
using CuptiCallback = void (*)(void* user, int domain, std::uint32_t id, const void* data);

// name, parameters
#define FATHOM_CUPTI_FUNCTIONS(X)                                                                \
  X(cuptiGetVersion, (std::uint32_t * version))                                                  \
  X(cuptiGetTimestamp, (std::uint64_t * timestamp))                                              \
  X(cuptiSubscribe, (void** subscriber, CuptiCallback callback, void* user))                     \
  X(cuptiUnsubscribe, (void* subscriber))                                                        \
  X(cuptiEnableDomain, (std::uint32_t enable, void* subscriber, int domain))                     \
  X(cuptiActivityRegisterCallbacks, (CuptiBufferRequested requested, CuptiBufferCompleted done)) \
  X(cuptiActivityEnable, (int kind))                                                             \
  X(cuptiActivityDisable, (int kind))                                                            \
  X(cuptiActivityFlushAll, (std::uint32_t flag))                                                 \
  X(cuptiActivityGetNextRecord, (std::uint8_t * buffer, std::size_t valid_bytes, void** record)) \
  X(cuptiFinalize, (void))

struct CuptiLibrary {
#define FATHOM_CUPTI_MEMBER(name, parameters) int(*name) parameters;
  FATHOM_CUPTI_FUNCTIONS(FATHOM_CUPTI_MEMBER)
#undef FATHOM_CUPTI_MEMBER
  // The process's, for what CUPTI allocated and hands over; the tracer has no heap of its own.
  void (*free)(void* at);
};

const CuptiLibrary* FindCupti();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CUPTI_LIBRARY_H_
