// The agent's version, as the build names it.
//
// Used by main, agent and metrics. FATHOM_VERSION comes from the project's CMakeLists.txt.
// Thread-safety: a constant.
#ifndef FATHOM_DAEMON_AGENT_VERSION_H_
#define FATHOM_DAEMON_AGENT_VERSION_H_

namespace fathom::agent {

#ifdef FATHOM_VERSION
inline constexpr char kVersion[] = FATHOM_VERSION;
#else
inline constexpr char kVersion[] = "unversioned";
#endif

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_VERSION_H_
