// Plays a simulated job to a collector, as its agents would, and times what the collector makes of
// it.
//
// Used by fathom-fleet and by the end-to-end experiment.
//
//   say hello ─► ranks, communicators ─► iterations ─► (how it hangs) ─► ranks are gone
//                                         └ rows are served whenever they are asked for
//
// Model: iterations before the first fault go out as fast as the collector takes them, several in
// a message where it is a large job, as from agents that were without a collector; from then on one
// comes every `pace`, as it would from a job that runs. Every second (of more than kNodesASecond
// nodes more seldom) the agents tell of the state of their ranks. A job that hangs is not waited
// for: its agents say how long they have been stuck.
//
// A localisation is timed from the first summary of the newest iteration that was on its way when
// the verdict came, to the verdict's arrival as an event. So `pace` must be longer than that: it
// holds ingest, the look, fetching rows, judging, the store and HTTP.
//
// Requests within kRoundGap are one round: a collector asks for all that it wants at once, and
// waits longer than that before it asks again.
//
// Thread-safety: of one thread. Errors: those of Fleet. Interrupted, it says goodbye and returns
// what was done.
#ifndef FATHOM_COLLECTOR_FLEET_LIVE_PLAY_H_
#define FATHOM_COLLECTOR_FLEET_LIVE_PLAY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/fleet/fleet.h"
#include "collector/fleet/rehearsal.h"
#include "collector/fleet/row_log.h"
#include "collector/fleet/verdict_watch.h"

namespace fathom::simulate {

struct PlaySettings {
  std::string job;
  double pace_s = 1;  // between iterations from the first fault on
  // How long to wait for a verdict after the last iteration.
  double linger_s = 5;
  bool until_verdict = false;  // stop at the first conviction
  std::function<bool()> stopped;
};

struct PlayOutcome {
  std::int64_t iterations = 0;  // told in full
  bool interrupted = false;
  std::vector<Told> convictions;
  // Of the first one; −1: none came.
  std::int64_t verdict_iteration = -1;  // the newest that was on its way
  double localising_s = 0;
  double since_fault_s = 0;  // since the first iteration with a fault was on its way
  double fetching_s = 0;     // of that, since rows were first asked for; 0: none were
  Traffic until_verdict;     // or in all
  int rounds = 0;            // until then
};

class LivePlay {
 public:
  static constexpr std::chrono::milliseconds kRoundGap{100};
  // One machine plays all agents: what it sends is bounded by its own cores.
  static constexpr std::uint32_t kNodesASecond = 4096;
  static constexpr std::size_t kRanksOfOne = 16'384;  // × as many: so many iterations a message
  static constexpr std::size_t kMostTogether = 8;

  // All must outlive it. Requires: the fleet is connected, the watch open.
  LivePlay(const Scenario& scenario, const Rehearsal& rehearsal, RowLog& rows, Fleet& fleet,
           VerdictWatch& verdicts, PlaySettings settings);

  absl::StatusOr<PlayOutcome> Run();

 private:
  using Time = std::chrono::steady_clock::time_point;

  void Introduce();
  // Iterations [first, end).
  void TellIterations(std::size_t first, std::size_t end);
  void TellHealth();
  void Stick();
  void SayGoodbye();
  // Serves what comes until `until`, or until `done`.
  void Wait(Time until, const std::function<bool()>& done);
  bool AwaitQuiet();
  void Serve();
  void NoteVerdict();
  bool Over() const;

  const Scenario& scenario_;
  const Rehearsal& rehearsal_;
  RowLog& rows_;
  Fleet& fleet_;
  VerdictWatch& verdicts_;
  const PlaySettings settings_;
  const std::uint32_t nodes_;
  Nanos wall_shift_;
  std::vector<Nanos> busy_;                // a rank: its CPU time so far
  std::vector<diagnosis::RankFacts> now_;  // as health tells it
  Time health_due_;
  std::vector<Time> sent_;  // an iteration
  Time last_asked_, round_began_;
  int rounds_ = 0;
  PlayOutcome outcome_;
};

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_LIVE_PLAY_H_
