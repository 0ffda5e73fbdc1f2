// The version this binary was built as.
//
// Used by the greeting of agents, --version and fathom_build_info. FATHOM_VERSION comes from the
// build (the project's version). Thread-safety: a constant.
#ifndef FATHOM_COLLECTOR_PROCESS_VERSION_H_
#define FATHOM_COLLECTOR_PROCESS_VERSION_H_

namespace fathom::collector {

inline constexpr char kVersion[] = FATHOM_VERSION;

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROCESS_VERSION_H_
