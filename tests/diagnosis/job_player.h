// The play itself: ranks with programs on a virtual clock, joined by collectives and messages.
//
// Used by tests/diagnosis/job_builder. Deterministic for a seed. Times in ns of one true clock;
// what is written down is shifted to each rank's own.
#ifndef FATHOM_TESTS_DIAGNOSIS_JOB_PLAYER_H_
#define FATHOM_TESTS_DIAGNOSIS_JOB_PLAYER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "tests/diagnosis/job_program.h"

namespace fathom::diagnosis::testing {

// The counters of a rank at the end of an iteration.
struct Clockwork {
  std::int64_t time = 0;
  std::int64_t cpu = 0;
  std::int64_t runqueue = 0;
  std::int64_t blocked = 0;
  std::int64_t gc = 0;
  std::int64_t loader = 0;
};

struct PlayedRank {
  std::uint32_t rank = 0;
  Clockwork now;
  std::vector<CommOp> ops;  // true clock
  std::vector<Mark> marks;
  std::vector<Clockwork> iteration_ends;
  bool hung = false;  // in a hang of its own
  std::vector<std::size_t> unwaited, sends, receives;
  std::vector<std::uint64_t> next_sequence;
  Program program;
  std::size_t at = 0;
  int iteration = 0;
  bool entered = false;  // the op of the present action is entered, its end awaited
  std::size_t waiting_op = 0;
};

class JobPlayer {
 public:
  explicit JobPlayer(const JobSpec& spec);

  // Until all iterations are played or nothing moves any more.
  void Play();

  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<PlayedRank>& ranks() const { return ranks_; }

 private:
  struct Rendezvous {
    std::map<std::uint32_t, std::size_t> ops;  // rank → op
    bool done = false;
    bool broken = false;
  };

  bool Advance(PlayedRank& rank);
  bool Step(PlayedRank& rank, const Action& action);
  void Compute(PlayedRank& rank, double ms);
  void Rest(PlayedRank& rank, double ms, std::int64_t Clockwork::*sum);
  void Mark_(PlayedRank& rank, MarkKind kind, std::int64_t begin);
  std::size_t EnterOp(PlayedRank& rank, const Action& action);
  void Join(PlayedRank& rank, const Action& action, std::size_t op);
  bool BlockOn(PlayedRank& rank, std::size_t op);
  bool Receive(PlayedRank& rank, const Action& action);
  bool WaitAll(PlayedRank& rank);
  bool WaitMessages(PlayedRank& rank, std::vector<std::size_t>& messages);
  void Meet(std::uint32_t from, std::uint32_t to, int iteration);
  void EndIteration(PlayedRank& rank);
  std::int64_t Transfer(std::size_t group, int iteration);
  bool LinkDown(std::size_t group, int iteration) const;
  double Slowdown(const PlayedRank& rank) const;
  double Uniform() { return uniform_(random_); }

  const JobSpec& spec_;
  std::vector<Group> groups_;
  std::vector<PlayedRank> ranks_;
  std::map<std::pair<std::size_t, std::uint64_t>, Rendezvous> meetings_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::size_t>> offers_,
      posted_;  // sends and receives that the other side has not come to
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::normal_distribution<double> normal_{0, 1};
};

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_JOB_PLAYER_H_
