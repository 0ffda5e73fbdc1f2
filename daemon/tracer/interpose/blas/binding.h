// Which copy of a function of this folder a caller is bound to: one piece of code for all shims.
//
// Used by the shims of this folder, whose libraries have versions of their names (libcublas), so
// that the caller's own scope counts first. Thread-safety, errors, cost: caller_binding.h.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_BINDING_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_BINDING_H_

#include "daemon/tracer/interpose/caller_binding.h"

namespace fathom::tracer::blas {

void* BindingOf(CallerBinding* binding, const char* name, void* caller);

}  // namespace fathom::tracer::blas

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_BLAS_BINDING_H_
