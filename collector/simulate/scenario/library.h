// The scenarios that come with the program: the files of tests/scenarios, by name.
//
// Used by `fathom simulate NAME` and `--list`. The texts are made part of the binary by
// collector/simulate/CMakeLists.txt. Thread-safety: pure functions.
#ifndef FATHOM_COLLECTOR_SIMULATE_SCENARIO_LIBRARY_H_
#define FATHOM_COLLECTOR_SIMULATE_SCENARIO_LIBRARY_H_

#include <span>

namespace fathom::simulate {

struct LibraryEntry {
  const char* name;
  const char* text;
};

// By name.
std::span<const LibraryEntry> ScenarioLibrary();

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_SCENARIO_LIBRARY_H_
