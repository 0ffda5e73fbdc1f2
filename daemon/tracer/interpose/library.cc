// The end of the library's life in a process. There is no start: see core/activation.h.
#include "daemon/tracer/core/activation.h"

__attribute__((destructor)) static void OnExit() { fathom::tracer::Deactivate(); }
