// What agents would have seen of a played iteration: summaries of all ranks, rows of the ranks that
// are asked for, and the state of ranks that hang. The only way from the simulator to diagnosis.
//
// Used by session and row_log. Model: a rank's one line of time is its computing stream, as GPU
// activity shows it: an op arrives when its kernel starts, the stream waits for a collective or a
// message until its kernel ends, and the busy clock counts computing. Nothing of plan, faults or
// true time gets through; all times are on the clock of the rank's node, which is off and drifts.
//
// Thread-safety: thread-compatible. Cost: O(ranks × dimensions) a summary; rows by the op.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_OBSERVER_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_OBSERVER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "collector/simulate/play/player.h"
#include "collector/simulate/scenario/scenario.h"
#include "diagnosis/model/job_view.h"

namespace fathom::simulate {

class Observer {
 public:
  // Scenario and player must outlive it.
  Observer(const Scenario& scenario, const Player& player);

  // Of the iteration the player has just played, which began at `begin`.
  diagnosis::IterationSummary Summarise(std::int64_t iteration, double begin) const;
  // The rows of a watched rank, added to `rows`. `busy`: computing of the rank before the
  // iteration.
  void AddRows(std::int64_t iteration, std::uint32_t rank, double begin, Nanos busy,
               diagnosis::RankRows& rows) const;
  // All ranks at the beginning of the job, nothing known of their iterations.
  std::vector<diagnosis::RankFacts> FreshFacts() const;
  // What is known of a watched rank that hangs in the iteration just played, at time `now`.
  void Stuck(std::int64_t iteration, double typical_s, double now,
             diagnosis::RankFacts& facts) const;
  // What the ranks sent to each other, up to iteration `since` and from it on, as transports tell
  // that keep account of it. Every collective is played between all pairs of its members.
  void AddFlows(const std::vector<std::uint32_t>& ranks, std::int64_t from, std::int64_t since,
                std::int64_t until, std::vector<diagnosis::RankFacts>& facts) const;
  WallNs Wall(double time) const;

 private:
  // Tokens that its DataLoader gives in the iteration: the first rank of a tensor group of the
  // first stage loads them and hands them on, as in Megatron-LM.
  std::uint64_t BatchElements(std::uint32_t rank) const;
  std::map<std::uint32_t, double> SentBy(std::uint32_t rank) const;  // bytes of an iteration
  MonoNs Clock(std::uint32_t rank, double time) const;
  diagnosis::CommOp ToRow(std::int64_t iteration, std::uint32_t rank, const SeenOp& seen) const;

  const Scenario& scenario_;
  const Player& player_;
  std::vector<double> offset_s_, rate_;  // a node
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_OBSERVER_H_
