// An entity that takes longer than those that do the same: what is known of it, and its pieces.
//
// Made by ledger/accounting (ranks) and ledger/channel_suspects; priced by ledger/sharing; told by
// ledger/account_verdicts. Units: seconds. Thread-safety: plain values, pure function.
// Cost: O(iterations); DateShare O(iterations × occurrences), since each period is tried.
#ifndef FATHOM_DIAGNOSIS_LEDGER_SUSPECT_H_
#define FATHOM_DIAGNOSIS_LEDGER_SUSPECT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/model/account.h"
#include "diagnosis/peers/outliers.h"
#include "diagnosis/peers/peers.h"

namespace fathom::diagnosis {

// An entity that takes longer than those that do the same, with what speaks for it.
struct Accused {
  AccountShare share;
  Outlier outlier;        // of one rank or channel: the one that tells most
  double compute = 0;     // of the excess, median of the iterations in which it shows; seconds
  double gc = 0;          // likewise
  double dataloader = 0;  // likewise
  double work_ratio = 1;  // its work against its peers', in what tells most
  WorkKind work = WorkKind::kBytes;
  double flop_ratio = 0;  // of its products of matrices against its peers'; 0: not known
  std::string where;      // of channels: what they have in common, in words
  std::vector<RankId> victims;
  double loss_share = 0;         // of the iterations: what taking it out wins back
  std::size_t shows_played = 0;  // of the iterations in which it shows: rows are at hand, a rank
  bool once = false;             // in one iteration, and nothing says why: known, and not accused
  bool common = false;           // ranks that work together are slow alike: who is at fault is open
};

// An entity, and which rows of the peers and channels are its pieces.
struct Suspect {
  Accused accused;
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> channels;
};

// When it shows: since when, until when, and whether in every so many. `iterations`: those of the
// table in which it was found.
void DateShare(const Outlier& outlier, const std::vector<Iteration>& iterations,
               AccountShare& share);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_SUSPECT_H_
