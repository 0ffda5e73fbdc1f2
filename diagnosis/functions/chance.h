// How far the share of a place may be off by chance, as samples that hang together tell.
//
// Used by functions/compare. Model: what is drawn anew is an iteration, not a sample: of one that
// stalls all samples show one place. So the order of the samples is cut into blocks of an iteration
// or more, at most kMostBlocks, and the share's variance is that of its mean over blocks, with what
// blocks one after the other have in common added for as long as it lasts. What was drawn is not
// more than there were visits (samples on end that show the place): of a stall that fills the
// capture all blocks are alike, and are one.
//
// A place to which no peer comes is another thing: that all its visits fell on this rank by chance,
// each as likely on any, is told by their number; and how much of the time it takes by what is left
// when visits that are far longer than most are cut to that.
//
// Peers vary by what each does, or by what they differ among themselves where that is more. Few
// blocks make it less certain, as Student's t has it.
//
// Where the order is not told, kTogether samples count as one. Of a trace each call was recorded:
// its time is no sample, and varies as if each unit of it was drawn.
//
// Units: shares, 0 to 1. Thread-safety: pure. Errors: none. Cost: O(ranks × runs of the order).
// Source: batch means, with covariances up to the first that is not positive (after Geyer
// 1992); Kish 1965 for the number of visits; Wallace 1959 for the normal deviate of Student's t.
#ifndef FATHOM_DIAGNOSIS_FUNCTIONS_CHANCE_H_
#define FATHOM_DIAGNOSIS_FUNCTIONS_CHANCE_H_

#include <cstddef>
#include <vector>

#include "diagnosis/functions/function_shares.h"
#include "diagnosis/model/stack_capture.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kMostBlocks = 32;
inline constexpr double kTogether = 16;

// Who is compared with whom.
struct Compared {
  const RankStacks& mine;
  const std::vector<const RankStacks*>& peers;  // some
  double iterations = 0;                        // in the capture, about; 0: not known
};

struct ChanceLimits {
  double sigmas = 4;           // as normal deviates
  double least_excess = 0.02;  // that is left without visits that are far longer than most
};

// Whether a rank is in a place for more of its time than its peers (their median) by more than
// chance may make. What too few things tell is not.
bool BeyondChance(const Compared& compared, const Place& place, double excess,
                  const ChanceLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_FUNCTIONS_CHANCE_H_
