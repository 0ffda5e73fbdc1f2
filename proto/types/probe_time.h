// How long an ordered probe may take: its set, and the program that runs it.
//
// Used by daemon/agent/probe, which ends the program then, and by collector/agents, which waits a
// little longer.
//
// Units: seconds. Thread-safety: pure functions. Errors: none.
#ifndef FATHOM_PROTO_TYPES_PROBE_TIME_H_
#define FATHOM_PROTO_TYPES_PROBE_TIME_H_

namespace fathom {

// Of the sets, with their start-up and all GPUs.
inline constexpr double kProbeFastSeconds = 120;
inline constexpr double kProbeFullSeconds = 900;

// `asked`: by who orders it; 0: by the set.
constexpr double ProbeSeconds(bool full, double asked) {
  if (asked > 0) return asked;
  return full ? kProbeFullSeconds : kProbeFastSeconds;
}

// A probe that hangs is killed by the program itself; this is for the program.
constexpr double ProbeProgramSeconds(double probe_seconds) { return 3 * probe_seconds + 60; }

}  // namespace fathom

#endif  // FATHOM_PROTO_TYPES_PROBE_TIME_H_
