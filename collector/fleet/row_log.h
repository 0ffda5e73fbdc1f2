// The rows that the agents of a simulated job hold: what a collector may ask for.
//
// Used by live_play; made by fathom-fleet and its experiment. Model: a real agent keeps the rows of
// minutes. Here an iteration is played again for those asked for, which takes longer than reading a
// log: so the rows that a trial run of the engine wanted are made before, and what is asked for
// beyond them is counted.
//
// Units: seconds of the simulated job. Thread-safety: thread-compatible. Memory: the rows that were
// made. Errors: a request for ranks or iterations that are not there is answered without them.
#ifndef FATHOM_COLLECTOR_FLEET_ROW_LOG_H_
#define FATHOM_COLLECTOR_FLEET_ROW_LOG_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "collector/fleet/rehearsal.h"
#include "collector/simulate/play/observer.h"
#include "collector/simulate/play/player.h"
#include "fathom/v1/row.pb.h"

namespace fathom::simulate {

class RowLog {
 public:
  // Both must outlive it. Makes the rows that the rehearsal fetched.
  RowLog(const Scenario& scenario, const Rehearsal& rehearsal);

  // Makes what these requests, which came together, want and is not there: each iteration is played
  // again once for all of them.
  void Prepare(const std::vector<v1::RowsRequest>& requests);

  v1::RowsReply Answer(const v1::RowsRequest& request);
  // Iterations played again while somebody waited for them.
  int made_late() const { return made_late_; }

 private:
  using Place = std::pair<std::int64_t, std::uint32_t>;  // iteration, rank

  bool Played(std::int64_t iteration) const;
  std::vector<std::uint32_t> RanksOf(const v1::RowsRequest& request) const;
  void Make(std::int64_t iteration, const std::vector<std::uint32_t>& ranks);
  Nanos BusyBefore(std::int64_t iteration, std::uint32_t rank) const;

  const Rehearsal& rehearsal_;
  Player player_;
  const Observer observer_;
  std::map<Place, diagnosis::RankRows> rows_;
  int made_late_ = 0;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_ROW_LOG_H_
