// The charges of all irregular iterations, gathered per entity.
//
// Filled by engine/diagnose from the findings of the rules; read by slowness/judge/judge.
//
// Model: every irregular iteration has an excess: its time beyond the expected. A rank's share of
// it is its own excess (or what of it lay on the chain, if more) over the iteration's. A rank
// "shows" in an iteration where its share reaches explains_share. An iteration in which it spent as
// much at a place that has no baseline says nothing of it, neither way.
//
// Units: seconds. Thread-safety: plain values. Cost: O(charges).
#ifndef FATHOM_DIAGNOSIS_EVIDENCE_LEDGER_H_
#define FATHOM_DIAGNOSIS_EVIDENCE_LEDGER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "diagnosis/evidence/charge.h"
#include "diagnosis/evidence/own_onset.h"
#include "diagnosis/evidence/rule.h"

namespace fathom::diagnosis {

struct RankAccount {
  RankId rank;
  std::vector<double> own;         // own excess, an entry an iteration
  std::vector<double> path;        // of that, on the chain that ends the iteration
  std::vector<double> share;       // of the iteration's excess
  std::size_t judged = 0;          // iterations that say something of it
  std::size_t shows = 0;           // of these, in which the share reaches explains_share
  std::size_t baseline_shows = 0;  // baseline iterations in which its excess was as large
  Excess typical;                  // medians of the parts
  double path_typical = 0;
  double held_up = 0;                // median time beyond the usual that it waited for others
  double waited_for = 0;             // median of what others waited for it, beyond the usual
  std::set<GroupId> groups_waiting;  // on whose ops they waited
  std::optional<OwnOnset> onset;     // where it began later than the job
};

struct GroupAccount {
  GroupId group;
  std::vector<double> seconds;  // transfer beyond the usual
  std::size_t shows = 0;        // iterations in which it reaches mostly_share
  double typical = 0;
};

struct Ledger {
  std::size_t iterations = 0;  // irregular ones with rows
  std::size_t baseline_iterations = 0;
  double excess = 0;  // median of what they took beyond the expected
  double expected = 0;
  std::vector<RankAccount> ranks;
  std::vector<GroupAccount> groups;
  std::size_t groups_show = 0;  // iterations in which all groups together reach mostly_share
};

Ledger GatherEvidence(const Case& c, const Findings& findings);

// Irregular iterations with rows, to judge anybody by.
inline bool EnoughIterations(const Case& c, const Ledger& ledger) {
  return ledger.iterations >= static_cast<std::size_t>(c.config.min_irregular);
}

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_EVIDENCE_LEDGER_H_
