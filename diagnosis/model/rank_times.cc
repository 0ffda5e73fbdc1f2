#include "diagnosis/model/rank_times.h"

#include <algorithm>

namespace fathom::diagnosis {

Nanos BusyOf(const RankIteration& rank) {
  if (rank.device.count > 0) return rank.device;
  return rank.device_wait.count > 0 ? std::max(Nanos(), rank.device_wait - rank.blocked) : rank.cpu;
}

Nanos StarvedOf(const RankIteration& rank) {
  return std::min(rank.loader_starved, rank.dataloader);
}

Nanos LoadingOf(const RankIteration& rank) { return rank.dataloader - StarvedOf(rank); }

Nanos CoreWaitOf(const RankIteration& rank) { return rank.runqueue + StarvedOf(rank); }

Nanos OwnTimeOf(const RankIteration& rank) {
  return std::max(Nanos(), rank.duration - rank.blocked - CoreWaitOf(rank));
}

}  // namespace fathom::diagnosis
