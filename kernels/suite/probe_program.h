// What the programs that run probes have in common: numbers of their options, their lines, their
// exit code, and how they are stopped.
//
// Used by suite/main and cuda/suite/main. Thread-safety: of a program with one thread.
#ifndef FATHOM_KERNELS_SUITE_PROBE_PROGRAM_H_
#define FATHOM_KERNELS_SUITE_PROBE_PROGRAM_H_

#include <string>

#include "kernels/measure/figure.h"

namespace fathom::kernels {

// False unless the whole text is a number above 0 and at most `most`.
bool ReadNumber(const char* text, double most, double& value);

// Written at once: who reads it may wait for it.
void PrintLine(const std::string& line);

// Exit code after a probe that ended so: 2 it was faulty or killed, 1 stopped, else as before.
int Worse(int code, Outcome outcome);

// SIGTERM and SIGINT call `on_stop`; a reader that is gone ends nothing. `with_parent`: the end of
// the parent is a SIGTERM.
void StopBySignals(void (*on_stop)(int), bool with_parent);

}  // namespace fathom::kernels

#endif  // FATHOM_KERNELS_SUITE_PROBE_PROGRAM_H_
