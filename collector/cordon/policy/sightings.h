// Which verdicts have been seen without a gap, for how long, and how often: the second look.
//
// Owned by Policy; memory only, so that after a restart every verdict has to be seen anew. Ages are
// of the own monotonic clock: neither a jump of a wall clock nor the collector's idea of time
// makes a verdict older.
// Thread-safety: thread-compatible. Cost: O(verdicts) a look.
#ifndef FATHOM_COLLECTOR_CORDON_POLICY_SIGHTINGS_H_
#define FATHOM_COLLECTOR_CORDON_POLICY_SIGHTINGS_H_

#include <map>
#include <string>

#include "collector/cordon/policy/facts.h"
#include "collector/cordon/policy/limits.h"
#include "proto/types/time_units.h"

namespace fathom::cordon {

class Sightings {
 public:
  // Takes in one answer of the collector. Requires: view.verdicts_known.
  void Look(const View& view, const Limits& limits, MonoNs now);

  // Seen open and established now, for min_age_s, twice and second_look_s apart.
  bool Confirmed(const VerdictFact& verdict, const Limits& limits, MonoNs now) const;
  // For how long it has been seen taken back by fathom itself ("superseded …", "no longer
  // supported"); zero: it has not.
  Nanos TakenBackFor(const std::string& episode, MonoNs now) const;

 private:
  struct Seen {
    MonoNs first, last;
    int looks = 0;
    std::string node;
  };
  std::map<std::string, Seen> open_;
  std::map<std::string, MonoNs> taken_back_;
};

// fathom changed its mind, as opposed to the job having ended or recovered, which a node that is
// held back would bring about by itself.
bool TakenBack(const VerdictFact& verdict);

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_POLICY_SIGHTINGS_H_
