// A simulated job under the eyes of the engine, as the live collector would have it: summaries of
// every iteration go to Watch(); when that is suspicious, the rows it wants are fetched and
// Diagnose() is called.
//
// Used by `fathom simulate`, by the experiments and by rehearsal, before agents play to a
// collector. Model: JobView keeps the last `window` iterations. Rows are made when they are asked
// for, by playing their iterations again. What is asked for is counted against what a full log
// would hold.
//
// Thread-safety: thread-compatible; one Session, one thread. Memory: the window.
#ifndef FATHOM_COLLECTOR_SIMULATE_TRIAL_SESSION_H_
#define FATHOM_COLLECTOR_SIMULATE_TRIAL_SESSION_H_

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "collector/simulate/play/observer.h"
#include "collector/simulate/play/player.h"
#include "collector/simulate/scenario/scenario.h"
#include "diagnosis/engine/diagnose.h"
#include "diagnosis/model/config.h"
#include "diagnosis/watch/watch.h"

namespace fathom::simulate {

struct SessionOptions {
  std::size_t window = 48;      // iterations kept
  std::int64_t look_every = 2;  // iterations between two looks
  bool look_ahead = false;      // also ask for rows as a collector does that looks ahead
  diagnosis::DiagnosisConfig config;
  // Seconds, for the durations below.
  std::function<double()> now;
  // Asked before every iteration: true ends the session early. May be empty.
  std::function<bool()> stopped;
  // Told of every iteration that ended. May be empty.
  std::function<void(const diagnosis::IterationSummary&)> played;
};

struct Fetched {
  std::uint64_t rounds = 0;  // times rows were asked for
  std::uint64_t ops = 0;     // rows that came; a row at hand is not asked for again
  std::uint64_t ranks = 0;   // whose rows came
};

struct Outcome {
  std::int64_t iterations = 0;  // played
  bool interrupted = false;
  bool hung = false;
  std::vector<double> iteration_s;  // how long each took
  std::vector<double> begin_s;      // when each began, and the one in which the job hangs
  std::uint64_t ops_played = 0;     // a full log of all ranks holds so many
  std::uint64_t ops_until_verdict = 0;
  diagnosis::Suspicion suspicion;
  diagnosis::Diagnosis diagnosis;        // of the last look
  std::vector<diagnosis::Verdict> ever;  // all convictions, each at its strongest
  std::int64_t first_verdict = -1;       // iterations played when the first one came
  Fetched until_verdict;                 // rows fetched up to it
  Fetched fetched;                       // and in all
  double simulating_s = 0;               // making the job
  double looking_s = 0;                  // the engine: all looks
  std::int64_t looks = 0;
  double localising_s = 0;  // of the look that gave the first verdict, or the last
};

class Session {
 public:
  // The scenario must outlive it. Requires: Finalize(scenario) is ok; options.now is set.
  Session(const Scenario& scenario, SessionOptions options);

  Outcome Run();
  // As the engine saw it last, rows included.
  const diagnosis::JobView& view() const { return view_; }
  // Rows that were fetched at any time.
  const std::set<std::pair<RankId, Iteration>>& at_hand() const { return at_hand_; }

 private:
  void PlayNext();
  void Hang();
  void Look();
  void LookAhead();
  void Fetch(const diagnosis::RowsWanted& wanted);
  // What the ranks sent to one another before the onset and since.
  void AddFlows(const std::vector<std::uint32_t>& ranks);
  void CountFetched();
  void Remember(const diagnosis::Verdict& verdict);

  const Scenario& scenario_;
  const SessionOptions options_;
  Player player_;
  const Observer observer_;
  diagnosis::JobView view_;
  std::set<std::pair<RankId, Iteration>> at_hand_;
  double next_begin_ = 0;  // of the iteration to be played
  Outcome outcome_;
};

// What a verdict is about, in short: "compute_slow rank 2".
std::string Subject(const diagnosis::Verdict& verdict);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_SIMULATE_TRIAL_SESSION_H_
