// One look at the stack of a process, whichever tool took it.
//
// Made by stack_reader, inside_stack and native_stack, kept by stack_sampler. Thread-safety: plain
// value.
#ifndef FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READING_H_
#define FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READING_H_

#include <string>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::agent {

struct StackReading {
  std::vector<std::string> frames;  // innermost first: "function (file:line)", "function (file)"
  std::string source;               // "py-spy", "in-process", "native"
  Nanos pause;  // the thread was stopped, or Python's lock held, for so long; 0: neither
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_SOURCE_STACK_STACK_READING_H_
