// Captures of stacks that a person asks for, and what they show.
//
// Owned by Collector, called by the API on its threads (`fathom profile`).
//
// Model: what is asked for counts against captures_per_hour as those do that begin by themselves
// (CaptureTrigger), and is refused where that is reached. It is made for whoever open verdicts
// convict, so it names their function too. Each is a line in the log with who asked.
//
// Thread-safety: thread-safe. Ownership: refers to its parts. Errors: FailedPrecondition,
// InvalidArgument, ResourceExhausted, each with what to do.
// Cost: Ask: one message an agent. Read: a view of the job, once a capture is over.
#ifndef FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURES_H_
#define FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURES_H_

#include <absl/status/status.h>

#include <string>
#include <vector>

#include "collector/evaluate/capture_parts.h"
#include "collector/evaluate/capture_settings.h"
#include "collector/job/state/job_state.h"
#include "diagnosis/functions/compare_ranks.h"

namespace fathom::collector {

struct HandCapture {
  ShownCapture shown;
  std::vector<diagnosis::RankFunctions> functions;  // once it is over
};

class HandCaptures {
 public:
  HandCaptures(const CaptureSettings& settings, CaptureParts parts)
      : settings_(settings), parts_(std::move(parts)) {}

  // `wish` without ranks: all of the job, those that open verdicts convict first, and of more than
  // StackCaptures::kMostRanks as many. `who`: a name for the log; empty where nobody is known.
  absl::Status Ask(const JobState& job, CaptureWish wish, const std::string& who);
  HandCapture Read(const JobState& job) const;

 private:
  absl::Status WithinLimit(const std::string& job) const;
  void Complete(const JobState& job, CaptureWish& wish) const;

  const CaptureSettings settings_;
  const CaptureParts parts_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_HAND_CAPTURES_H_
