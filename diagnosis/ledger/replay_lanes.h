// Plays the lanes of a stretch of iterations again, with some of the pieces at other lengths.
//
// Used by diagnosis/ledger/account: once as recorded, once with all at their reference, and once
// for each entity that is asked what mending it would win back.
//
// Model: every lane goes on until it has to wait for a join that has not ended; a join ends
// `transfer` after the last of its members has come. Where no lane can go on (ops that nobody else
// entered, a graph with a cycle) the lane that is furthest behind waits as long as it did in the
// recording, so that every replay ends.
//
// Units: seconds since all ranks began the stretch. Thread-safety: pure function; a Replayer may
// be used by one thread at a time. Errors: none; `forced` counts the waits that had to be cut.
// Cost: O(steps + members of joins), no allocation after the first replay.
// Source: the replay of "Understanding Stragglers in Large Model Training Using What-if Analysis"
// (OSDI'25), on lanes in place of ops of a schedule; the counterfactual of Coz (SOSP'15).
#ifndef FATHOM_DIAGNOSIS_LEDGER_REPLAY_LANES_H_
#define FATHOM_DIAGNOSIS_LEDGER_REPLAY_LANES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "diagnosis/ledger/lanes.h"

namespace fathom::diagnosis {

// What the pieces take, as factors of what was recorded.
struct LaneScales {
  // By lane, then by iteration of the graph; empty: as recorded.
  std::vector<std::vector<double>> own;
  // By join; empty: as recorded.
  std::vector<double> transfer;
};

class LaneReplay {
 public:
  explicit LaneReplay(const LaneGraph& graph);

  // When the last rank has ended each iteration, in seconds since the begin; ascending.
  std::vector<double> Play(const LaneScales& scales);
  // Of the last replay.
  std::size_t forced() const { return forced_; }

 private:
  struct JoinState {
    std::size_t missing = 0;
    double latest = 0;
    double end = 0;
    bool over = false;
  };
  struct Chained {
    std::size_t join = kNoJoin;
    double lag = 0;
  };

  void Reset();
  void Run(std::size_t lane);
  // Whether the lane may go on.
  bool Act(std::size_t lane, const LaneStep& step);
  void Come(std::size_t join, double when);
  void Finish();
  void ForceOne();

  const LaneGraph& graph_;
  const LaneScales* scales_ = nullptr;
  std::vector<double> time_;       // by lane
  std::vector<std::size_t> next_;  // step, by lane
  std::vector<JoinState> joins_;
  std::vector<std::vector<std::size_t>> waiting_;    // lanes, by join
  std::vector<std::vector<Chained>> chained_;        // by join
  std::vector<std::size_t> ready_;                   // lanes that may go on
  std::vector<std::pair<std::size_t, double>> due_;  // joins that somebody came to
  std::vector<double> ends_;
  std::size_t forced_ = 0;
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_LEDGER_REPLAY_LANES_H_
