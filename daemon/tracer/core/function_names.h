// Names of the functions that the Python hook times: marks carry a number, the region the names.
//
// Called by daemon/tracer/python/entry.cc (Register) and by activation.cc (Publish).
//
// Model: the names belong to the process image and are only added to, so a forked child knows its
// parent's and numbers stay what they are; each region holds a copy. Thread-safety: thread-safe;
// two threads that register one name at the same moment may give it two numbers. Errors: no number
// where the table (abi::kFunctionNames) is full. Cost: cold.
#ifndef FATHOM_DAEMON_TRACER_CORE_FUNCTION_NAMES_H_
#define FATHOM_DAEMON_TRACER_CORE_FUNCTION_NAMES_H_

#include <cstdint>

#include "daemon/abi/ring_layout.h"

namespace fathom::tracer {

inline constexpr std::uint32_t kNoFunction = ~std::uint32_t{0};

// The number of `name`, cut to what a slot holds. Requires: name is not null.
std::uint32_t RegisterFunction(const char* name);

// Copies all names into a region that was just made.
void PublishFunctions(abi::ControlBlock& control);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_FUNCTION_NAMES_H_
