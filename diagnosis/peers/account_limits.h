// The thresholds of the account: from when on a difference between peers is told, and how surely.
//
// Used by the components of diagnosis/ledger and by watch/peer_look. Shares are of an iteration.
// Thread-safety: plain values. Source: ours, chosen so that drawn healthy jobs convict nobody
// (docs/truth.md), unless it says otherwise.
#ifndef FATHOM_DIAGNOSIS_PEERS_ACCOUNT_LIMITS_H_
#define FATHOM_DIAGNOSIS_PEERS_ACCOUNT_LIMITS_H_

#include "diagnosis/peers/outliers.h"

namespace fathom::diagnosis {

struct AccountLimits {
  OutlierLimits ranks;
  OutlierLimits host = {.noise_floor = 0.02, .recurring_share = 0.1};  // ranks without a device
  // Nothing is faster than its wires, so the fast ones tell what is usual, and half may be slow.
  OutlierLimits channels = {
      .noise_floor = 0.002, .fewest_peers = 1, .reference_quantile = 0.25, .at_once = 0.5};
  double sure_ratio = 2;       // the same of one that has one peer, or peers of which half are slow
  double channel_ratio = 1.3;  // of a slow channel's time against that of its family
  double least_cost = 0.02;    // of an iteration: what a verdict must win back
  double least_mean = 0.01;    // the same over all iterations that were looked at
  // Of a live job, which is looked at again and again: how likely by chance what comes back may be,
  // alone, with recurring_contrast, and with that and a period.
  double chance_live = 1e-5;
  double chance_live_far = 1e-3;
  double chance_live_periodic = 0.07;
  double alone_cost = 0.05;  // of a rank without peers, by what its host spends
  double explains = 0.25;    // of what is lost: less by all accused together, and it lies elsewhere
  double mostly = 0.5;       // of an excess: what it mostly is, and so its cause
  double sure_contrast = 3;  // against the next, for an established verdict
  double work_explains = 0.5;  // of an excess, by as much more work: no device's fault
  double alike_ratio = 1.25;   // ranks that work together within it have one cause
  double replay_error = 0.25;  // of the measured time: more, and nobody is accused by it
  double pair_differs = 0.1;   // two that alone do the same work: worth saying

  // Whether so many times the work excuses what takes longer by this share.
  bool WorkExplains(double work_ratio, double longer) const {
    return work_ratio - 1 >= work_explains * longer;
  }
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_ACCOUNT_LIMITS_H_
