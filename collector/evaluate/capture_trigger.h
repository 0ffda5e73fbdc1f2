// Asks for a capture of stacks by itself, when a verdict charges ranks with time of their own and
// nobody knows yet in which function it lies; when it is over, tells the ledger what it shows.
//
// Owned by Collector, called by the diagnoser's thread after each look at a job.
//
// Model: the accused of all such verdicts that are open, and beside them all ranks of the job where
// those are at most kAllUpTo, else kPeers that do the same work. One capture at a time, `per_hour`
// a job at most; a verdict that a capture told nothing of is tried kTries times, kAgain apart.
// Each capture and each that is left out is said in the log, which is its audit, and counted.
//
// Thread-safety: Looked and Forget by one thread at a time; counts() from any. Ownership: refers to
// its parts. Errors: none; what could not be asked is counted and tried again later.
// Cost: nothing while no verdict waits for a function; else a view of the job for each capture.
#ifndef FATHOM_COLLECTOR_EVALUATE_CAPTURE_TRIGGER_H_
#define FATHOM_COLLECTOR_EVALUATE_CAPTURE_TRIGGER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/evaluate/capture_parts.h"
#include "collector/evaluate/capture_settings.h"
#include "collector/job/state/job_state.h"

namespace fathom::collector {

class CaptureTrigger {
 public:
  static constexpr std::size_t kAllUpTo = 8;
  static constexpr std::size_t kPeers = 7;
  static constexpr int kTries = 3;
  static constexpr Nanos kAgain{20'000'000'000};

  struct Counts {
    std::uint64_t asked = 0, limited = 0, failed = 0;  // captures
    std::uint64_t named = 0, open = 0;                 // verdicts that one was made for
  };

  CaptureTrigger(const CaptureSettings& settings, CaptureParts parts)
      : settings_(settings), parts_(std::move(parts)) {}

  void Looked(const JobState& job);
  void Forget(const std::string& job);
  Counts counts() const { return {asked_, limited_, failed_, named_, open_}; }

 private:
  struct Tried {
    int times = 0;
    MonoNs last;
    bool limited = false;  // and it was said
  };
  using Verdicts = std::vector<const Episode*>;

  Verdicts Waiting(const std::string& job, const std::vector<Episode>& episodes, MonoNs now);
  void Judge(const JobState& job);
  bool Limited(const JobState& job, const Verdicts& waiting, MonoNs now);
  CaptureWish WishFor(const JobState& job, const Verdicts& waiting) const;

  const CaptureSettings settings_;
  const CaptureParts parts_;
  std::map<std::string, std::map<std::string, Tried>> tried_;  // by job, by verdict
  std::atomic<std::uint64_t> asked_{0}, limited_{0}, failed_{0}, named_{0}, open_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EVALUATE_CAPTURE_TRIGGER_H_
