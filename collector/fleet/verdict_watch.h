// What a collector says of a job while simulated agents play it: its verdict events, with the
// moment at which each came.
//
// Used by live_play; made and its verdicts scored by fathom-fleet and its experiment.
// Model: a subscription to the collector's events, read when fd() is readable.
// Times: std::chrono::steady_clock. Thread-safety: of one thread. Errors: Open says who does not
// answer; a stream that breaks later is taken up again.
#ifndef FATHOM_COLLECTOR_FLEET_VERDICT_WATCH_H_
#define FATHOM_COLLECTOR_FLEET_VERDICT_WATCH_H_

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "collector/cli/render/verdict_view.h"
#include "collector/cli/run/event_follower.h"
#include "diagnosis/model/verdict.h"

namespace fathom::simulate {

struct Told {
  std::chrono::steady_clock::time_point at;
  cli::VerdictView verdict;
};

class VerdictWatch {
 public:
  using Listener = std::function<void(const cli::VerdictView&)>;

  // `heard` is called for every event about the job; may be empty.
  VerdictWatch(cli::HostPort http, std::string job, Listener heard);

  absl::Status Open();
  int fd() const { return follower_.fd(); }
  void Read();
  // Convictions, each when it was first told.
  const std::vector<Told>& convictions() const { return convictions_; }

 private:
  const cli::HostPort http_;
  const Listener heard_;
  cli::EventFollower follower_;
  std::vector<Told> convictions_;
};

// What is needed to score it.
diagnosis::Verdict ToVerdict(const cli::VerdictView& view);

}  // namespace fathom::simulate

#endif  // FATHOM_COLLECTOR_FLEET_VERDICT_WATCH_H_
