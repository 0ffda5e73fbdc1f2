// Who of many that do the same takes longer than the rest, all the time or again and again.
//
// Used by diagnosis/ledger, for the own time of ranks and for the transfers of channels, and by
// watch/peer_look.
//
// Model: a table of seconds, a row an entity and a column an iteration; entities of one role do the
// same work, so that while nothing is wrong each is as likely as the next to take longest. What an
// entity takes beyond the median of the others of its role in the same iteration is its excess.
// Roles differ in work and not in noise, so excesses are held against those of all entities.
//
//   lasting       the median of its excesses lies `lasting_sigmas` spreads above those of the
//                 others, is `contrast` times the largest of these, and shows in `shows_share` of
//                 the iterations: of all, or of the stretch in which it takes most, unless large
//                 excesses come so often that one has as many in a row somewhere by chance
//   single        the same in one iteration, with more contrast: the caller must know why
//   recurring     in two iterations or more its excess is `contrast` times the largest that any
//                 other entity shows in any iteration: were all n alike, the k largest would be of
//                 one with a chance of n^(1−k) only, and all but one of the k + 1 largest with one
//                 of (k + 1)·n^(1−k), where the one is set aside; or it has so many more
//                 of all such excesses than the others together that chance explains it with
//                 `outnumbers_chance` only (binomial, times the entities)
//
// The entity with the largest mean excess is tried first, then the next, for a single long
// iteration makes a large mean; one that is found is taken out, and the references are learned anew
// without it. An entity with fewer than fewest_peers is never found: of two it can be told that
// they differ, and not who is wrong. What hardware bounds from below is compared with a lower
// quantile of its peers than the median.
//
// Units: seconds. Thread-safety: pure function. Errors: none; a value that is not known is NaN.
// Cost: O(found × entities × iterations).
// Source: exchangeability under the null (permutation tests, Pitman 1937); median and MAD
// (Rousseeuw & Croux 1993). The limits are ours, each beside its name.
#ifndef FATHOM_DIAGNOSIS_PEERS_OUTLIERS_H_
#define FATHOM_DIAGNOSIS_PEERS_OUTLIERS_H_

#include <cstddef>
#include <vector>

namespace fathom::diagnosis {

struct OutlierLimits {
  double lasting_sigmas = 6;
  double contrast = 2;
  double shows_share = 0.8;
  double least_share = 0.01;       // of an iteration: a smaller excess is never looked at
  double noise_floor = 0.003;      // of an iteration: equal machines differ by as much
  double single_sigmas = 4;        // standard errors by the single excesses of the others
  double recurring_share = 0.03;   // of an iteration: fewer iterations must show more
  double recurring_contrast = 4;   // so far above the rest, two iterations are enough
  double recurring_chance = 0.07;  // else: that all of the largest are one entity's by chance
  std::size_t least_iterations = 2;
  std::size_t least_part = 3;    // iterations, of a stretch that is not all
  double part_factor = 1.5;      // more spreads are asked of it: it was chosen
  double stretch_chance = 1e-3;  // that anybody has such a stretch, were large ones independent
  // Else: that so many of all large ones are one entity's by chance, over all looks at a job.
  double outnumbers_chance = 1e-5;
  double one_size = 0.75;      // of the third largest: the median of those that show
  double single_contrast = 8;  // so far above the rest, one iteration is told, not convicted on
  std::size_t fewest_peers = 2;
  double reference_quantile = 0.5;  // of the peers
  double at_once = 0.25;            // share of the entities that may be at fault together
};

struct OutlierTable {
  std::vector<std::vector<double>> seconds;  // by entity, then by iteration
  std::vector<std::size_t> role;             // by entity
  double iteration_s = 0;                    // what an iteration takes
};

struct Outlier {
  std::size_t entity = 0;
  bool lasting = false;        // else it recurs
  bool single = false;         // in one iteration only
  bool host_time = false;      // of host time alone (peers/rank_outliers), which is set there
  double chance = 0;           // of what recurs: that all the largest are one entity's by chance
  double excess = 0;           // of the iterations in which it shows: the median; seconds
  double next = 0;             // the largest of the same of an entity that is not found
  double usual = 0;            // what the others of its role take, the median
  std::size_t shows = 0;       // iterations
  std::size_t iterations = 0;  // in which it could be compared
  std::size_t first = 0, last = 0;  // the stretch that it lasts; all, where it recurs
  std::size_t peers = 0;
  std::vector<bool> in;  // by iteration: it shows
};

struct Outliers {
  std::vector<Outlier> found;                  // the largest first
  std::vector<std::vector<double>> reference;  // by entity, then by iteration; NaN: none
};

Outliers FindOutliers(const OutlierTable& table, const OutlierLimits& limits);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_OUTLIERS_H_
