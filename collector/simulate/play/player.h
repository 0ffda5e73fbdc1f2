// The play itself: one iteration of all ranks, as max-plus arithmetic over whole stages.
//
// Used by session, observer, operator_log and row_log.
//
// Model: each rank has one computing stream whose time moves on. All ranks of a stage run the same
// program in step, so a step is a loop over arrays: computing adds noise and faults to each rank; a
// collective lifts all members of a group to their latest arrival plus the transfer; launched
// collectives run on a second stream that is waited for later; a stage that waits for a message
// lets the others go on. The collective over all ranks ends the iteration at one moment, so that a
// single number carries over to the next one, and any iteration can be played again with the same
// outcome: rows are not kept but made when somebody asks.
//
// Units: seconds since the job began, on one true clock; what is written down is shifted to the
// clock of each rank's node (Clocks). An op that never ends has an end of +infinity.
// Thread-safety: thread-compatible. Memory: O(ranks × dimensions). Cost: some ns an op.
#ifndef FATHOM_COLLECTOR_SIMULATE_PLAY_PLAYER_H_
#define FATHOM_COLLECTOR_SIMULATE_PLAY_PLAYER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "collector/simulate/play/layout.h"
#include "collector/simulate/play/program.h"
#include "collector/simulate/play/random.h"
#include "collector/simulate/play/slowness.h"
#include "collector/simulate/play/wires.h"
#include "collector/simulate/scenario/scenario.h"
#include "diagnosis/model/job_view.h"

namespace fathom::simulate {

// What a rank did on one communicator in the iteration. Seconds.
struct GroupSums {
  double elapsed = 0;
  double shortest = 0;  // of what is no receive
  double longest = 0;
  double first = 0;
  std::uint32_t count = 0;
  std::uint32_t entered = 0;  // of them; fewer than count where the rank hangs
  std::uint32_t ended = 0;

  void Add(double seconds, bool receive = false);
};

// An op as it was seen on a rank; true clock.
struct SeenOp {
  const Step* step = nullptr;
  double enter = 0, start = 0, end = 0;
  double wait_begin = 0, wait_end = 0;  // 0: the computing stream did not wait for it
  double busy = 0;                      // computing of the rank in the iteration until then
};

class Player {
 public:
  // The scenario must outlive it. Requires: Finalize(scenario) is ok.
  explicit Player(const Scenario& scenario);

  // Plays one iteration from `begin` on; the outcome is in the fields below until the next call.
  // `watched`: ranks of which every op is kept.
  void Play(std::int64_t iteration, double begin, const std::vector<std::uint32_t>& watched = {});

  const Layout& layout() const { return layout_; }
  const Program& ProgramOf(std::uint32_t rank) const { return programs_[layout_.StageOf(rank)]; }
  const Slowness& slowness() const { return slowness_; }
  double end() const { return end_; }  // of the iteration; +infinity when the job hangs in it
  double TimeOf(std::uint32_t rank) const { return time_[rank]; }
  double BusyOf(std::uint32_t rank) const { return busy_[rank]; }
  double BlockedOf(std::uint32_t rank) const { return blocked_[rank]; }
  const GroupSums& SumsOf(Dimension dimension, std::uint32_t rank) const {
    return sums_[static_cast<std::size_t>(dimension)][rank];
  }
  const std::vector<SeenOp>& Seen(std::uint32_t rank) const { return seen_.at(rank); }
  // Bytes of a step of the rank, against the usual: activations grow with its tokens.
  double LoadOf(const Step& step, std::uint32_t rank) const;
  std::uint64_t ops_played() const { return ops_played_; }

 private:
  struct Watch {
    std::vector<std::uint32_t> ranks;  // of a stage
    std::vector<double> before;
  };

  void Reset(double begin, const std::vector<std::uint32_t>& watched);
  bool Advance(std::uint32_t stage);  // until it waits for a message; true at its end
  void Do(std::uint32_t stage, const Step& step, std::size_t place);
  void Compute(std::uint32_t stage, const Step& step, std::uint64_t key);
  void Collective(std::uint32_t stage, const Step& step, std::uint64_t key);
  void WaitLaunched(std::uint32_t stage);
  void Send(std::uint32_t stage, const Step& step, std::uint64_t key);
  void Receive(std::uint32_t stage, const Step& step);
  void EndTogether();
  void See(std::uint32_t stage, const Step& step);

  const Scenario& scenario_;
  const Layout layout_;
  const std::vector<Program> programs_;
  Wires wires_;
  Slowness slowness_;
  const LogNormal kernel_, transfer_;
  std::int64_t iteration_ = 0;
  std::uint64_t key_ = 0;
  double end_ = 0;
  std::uint64_t ops_played_ = 0;
  std::vector<double> time_, busy_, blocked_, launched_until_, latest_, arrival_;
  std::array<std::vector<GroupSums>, kDimensions> sums_;
  std::vector<std::size_t> at_;                          // next step, a stage
  std::vector<std::vector<std::vector<double>>> inbox_;  // a stage and slot: when it is there
  std::vector<Watch> watch_;                             // a stage
  std::map<std::uint32_t, std::vector<SeenOp>> seen_;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_PLAY_PLAYER_H_
