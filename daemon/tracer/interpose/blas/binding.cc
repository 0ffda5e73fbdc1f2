#include "daemon/tracer/interpose/blas/binding.h"

namespace fathom::tracer::blas {

void* BindingOf(CallerBinding* binding, const char* name, void* caller) {
  return BoundFor(binding, name, caller, FirstScope::kCallers);
}

}  // namespace fathom::tracer::blas
