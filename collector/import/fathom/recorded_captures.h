// The captures of stacks in a recording, told to the verdicts that they were made for.
//
// Owned by Replay. docs/formats/recording.md.
//
// Model: the answers of the ranks to one request come by and by, from the files of several nodes.
// Live the collector waits for all whom it asked; a recording does not say whom, so a capture is
// whole when no further answer came for kQuiet. It was made for whom the open verdicts convict.
//
// Units: wall ns of the recording, as MonoNs. Thread-safety: single-threaded. Ownership: refers to
// nothing. Errors: none; answers that make no sense were left out before.
// Cost: that of functions/compare, for each capture.
#ifndef FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDED_CAPTURES_H_
#define FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDED_CAPTURES_H_

#include <cstdint>
#include <map>
#include <string>

#include "collector/job/state/job_table.h"
#include "collector/process/clock.h"
#include "collector/verdict/verdict_ledger.h"
#include "diagnosis/model/stack_capture.h"
#include "fathom/v1/capture.pb.h"

namespace fathom::collector {

class RecordedCaptures {
 public:
  static constexpr Nanos kQuiet{1'500'000'000};

  void Take(const v1::CaptureReply& reply, const Clock& clock);
  // `all`: those too that may not be whole yet.
  void Tell(const JobTable& jobs, VerdictLedger& ledger, const Clock& clock, bool all);

 private:
  struct Gathered {
    std::uint64_t request = 0;
    MonoNs newest;  // answer
    diagnosis::StackCapture capture;
  };
  std::map<std::string, Gathered> jobs_;  // of each the newest
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_FATHOM_RECORDED_CAPTURES_H_
