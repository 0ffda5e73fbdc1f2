// Rule odd_path: is the network of one rank, or one path, slow in a job that has no other past?
// docs/rules/link_slow.md.
//
// Used by engine/diagnose for jobs that are not slow against their own past, where the account
// charges nobody, and by collector/evaluate, which asks it whether such a job is to be looked into.
//
// Model: a slow path of a ring holds up all ranks alike, so that no rank's own time tells of it.
// What the transport counted in the last kPathStretch (RankFacts::flows, `since`) does: paths that
// carry as many bytes are compared with the fastest of them, as link_slow compares those of a young
// job. A path that was faster before is left to the job's past. What it costs is the time that the
// slowest path was busy beyond the fastest, as a share of the stretch, and no more than the rank
// that waits least is blocked.
//
// Abstains (nullopt) as link_slow does, where paths carry different amounts, and where less than
// AccountLimits::alone_cost of an iteration would be won. Supported at most: paths may be longer by
// design.
//
// Units: seconds. Thread-safety: pure. Cost: O(paths log paths + ranks × iterations).
// Source: ours; the comparison is that of link_slow.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_PATH_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_PATH_H_

#include <optional>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

// How much of the past flows are compared in: some ten tellings of an agent.
inline constexpr Nanos kPathStretch{20'000'000'000};

// From when on flows are to be told (hardware/tell/path_flows). Requires: a window.
WallNs PathStretchOf(const JobView& view);

[[nodiscard]] std::optional<Verdict> FindOddPath(const JobView& view,
                                                 const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_ODD_PATH_H_
