// Results and the machine as lines of JSON, the form in which fathom-probe hands them on.
//
// Used by suite/child_run and suite/main. Read as fathom.v1.ProbeLine (proto/fathom/v1/probe.proto,
// proto-JSON with original field names) by the agent and by `fathom probe`.
//
// Thread-safety: pure functions. Errors: a number that JSON cannot write becomes 0; bytes that are
// no printable ASCII become '?'.
#ifndef FATHOM_KERNELS_SUITE_RESULT_LINE_H_
#define FATHOM_KERNELS_SUITE_RESULT_LINE_H_

#include <cstdint>
#include <string>

#include "kernels/measure/figure.h"
#include "kernels/measure/machine.h"

namespace fathom::kernels {

// "done", "faulty", …
const char* OutcomeName(Outcome outcome);

// A string of JSON.
std::string Quoted(const std::string& text);

std::string LineOf(const ProbeResult& result);
std::string LineOf(const Machine& machine);
std::string ListeningLine(std::uint16_t port);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_SUITE_RESULT_LINE_H_
