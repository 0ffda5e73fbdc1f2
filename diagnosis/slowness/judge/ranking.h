// Which device is at fault, most likely first: ranks, nodes and communicators by posterior odds
// over all slow iterations.
//
// Used by engine/diagnose on slow jobs, after the rules have charged and the ledger has gathered.
// Verdicts have tests of their own (slowness/judge/judge); the list is what to look at when there
// is none, and what comes next when there is one. docs/rules/ranking.md.
//
// Model: every device has a prior by its kind. A rank's evidence is in how many slow iterations it
// shows, against how often it did before. A node gathers that of its ranks: those that do not show
// speak against it as loud as the others for it, and n users tell as much as the root of n
// witnesses, since those of one device do not err independently. A node stands for its ranks only
// where two or more of them show. What is as likely guilty as not (odds of 1) or less is left out.
//
// Thread-safety: pure. Cost: O(ranks + groups) of the ledger.
// Source: Holmes (NSDI'25), maximum a posteriori with a topology-aware decay; formulas are ours.
#ifndef FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_RANKING_H_
#define FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_RANKING_H_

#include <string>
#include <vector>

#include "diagnosis/evidence/ledger.h"
#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

struct RankedDevice {
  EntityType type = EntityType::kRank;
  std::vector<RankId> ranks;  // its users
  std::string node;           // of a rank or host; may be empty
  double posterior_odds = 0;  // that it is at fault, against that it is not
  double share = 0;  // median, of the slow iterations' excess; of a host, its largest user's
};

// Empty: too little evidence against anybody.
std::vector<RankedDevice> RankDevices(const JobView& view, const Ledger& ledger,
                                      const DiagnosisConfig& config);

// "rank 3 on node-07", "node node-07", "the communicator of ranks 0 to 3".
std::string DeviceInWords(const RankedDevice& device);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_SLOWNESS_JUDGE_RANKING_H_
