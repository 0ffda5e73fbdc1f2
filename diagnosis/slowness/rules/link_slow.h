// Rule link_slow: which link of a group whose communication has become slow?
// docs/rules/link_slow.md.
//
// Used by slowness/judge/judge, once communication_slow has named the group, and by odd_path.
//
// Model: for every path (sender, receiver) the time per byte since the slowness against the time
// per byte before it, from what the transport counted (RankFacts::flows). The excess in seconds,
// less the smallest of the group, is what the path has of its own: load on the network lengthens
// all. A device that is slow shows on the paths at both its sides, for the confirmations of what
// comes in wait behind what goes out; so ends are compared by the mean excess of their paths, and
// where one path alone stands out, that path is named. Of a job that was young when it became slow
// no time before is known: its paths are compared with the fastest of them, where all lie between
// nodes or all within one.
//
// Abstains (nullopt) with fewer than three paths, where nothing is slower by link_factor, or where
// no end and no path has link_contrast times the excess of the next.
//
// Units: seconds. Thread-safety: pure. Cost: O(paths log paths).
// Source: the comparison of rows and columns of C4 (docs/rules/link_slow.md), for sparse rings.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_RULES_LINK_SLOW_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_RULES_LINK_SLOW_H_

#include <optional>
#include <vector>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"
#include "diagnosis/watch/watch.h"

namespace fathom::diagnosis {

struct PathTime {
  RankId src;
  RankId dst;
  double before_s_per_mb = 0;  // 0: it carried too little then
  double since_s_per_mb = 0;
  double usual_s_per_mb = 0;  // what it should take: before; else what the fastest path takes
  double since_mb = 0;        // what it carried since
  double excess_s = 0;        // beyond its usual time per byte, less the smallest of the group
  bool within_host = false;   // as of PathFlow
};

struct SlowNetwork {
  RankId end = kNoRank;         // whose device all slow paths share; kNoRank: only one path is slow
  std::vector<PathTime> paths;  // most excess first
  bool young = false;           // no time before is known
};

[[nodiscard]] std::optional<SlowNetwork> FindSlowNetwork(const JobView& view,
                                                         const std::vector<RankId>& members,
                                                         const DiagnosisConfig& config);

// The same with all paths compared with the fastest of them, whatever was before. As nothing before
// confirms that it was ever faster, the slowest must be slow by link_factor twice over.
[[nodiscard]] std::optional<SlowNetwork> FindOddNetwork(const JobView& view,
                                                        const std::vector<RankId>& members,
                                                        const DiagnosisConfig& config);

// Whether the transport is known to carry what these ranks send each other, and has not told enough
// of it since the slowness to be sure that no path stands out, or nothing yet in a job that has
// just begun: a few seconds later it may tell which path it is.
[[nodiscard]] bool NetworkMayTellSoon(const JobView& view, const std::vector<RankId>& members,
                                      const Suspicion& suspicion, const DiagnosisConfig& config);

// Turns the verdict on a group into one on the network of a rank or on a link. Requires: `verdict`
// is one on communication.
void NameSlowNetwork(const JobView& view, const SlowNetwork& network, Verdict& verdict);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_RULES_LINK_SLOW_H_
