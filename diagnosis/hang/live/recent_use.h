// What has a silent process used lately, and since when has it done nothing? Part of rule hang.
//
// Used by hang/suspect and hang/verdicts. docs/rules/hang.md.
//
// Model: the newest `work_window` of its silence tells what it does now: who wrote a checkpoint and
// then stopped no longer works, however much it has written. Work is what moves bytes or touches
// new memory, here or in processes that it started. The time that counts against it begins where
// work was last seen: at the newest sample up to which a window shows it, and the last step of
// that window, too. Without samples (offline, or
// before a second one came) its whole silence is one window.
//
// Units: Nanos of the agent's monotonic clock; bytes; page faults. Thread-safety: pure functions.
// Cost: O(samples), of which there are at most some 64.
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_RECENT_USE_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_RECENT_USE_H_

#include <cstdint>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// In a stretch of time; nothing is negative.
struct ProcessUse {
  Nanos over;
  Nanos cpu;
  Nanos starved;  // its training thread was runnable, and waited for a core
  std::uint64_t io = 0;
  std::uint64_t faults = 0;
  Nanos descendants_cpu;  // 0 also where it is not known
  std::uint64_t descendants_io = 0;

  double PerSecond(double amount) const { return over.count > 0 ? amount / over.Seconds() : 0; }
};

// Of the newest work_window of its silence, or of all of it.
ProcessUse RecentUse(const RankFacts& facts, const DiagnosisConfig& config);

// It moved bytes or touched new memory by itself.
bool Works(const ProcessUse& use, const DiagnosisConfig& config);

// Processes that it started did, or computed.
bool DescendantsWork(const ProcessUse& use, const DiagnosisConfig& config);

// Since either was last seen, at most its silence.
Nanos IdleFor(const RankFacts& facts, const DiagnosisConfig& config);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_RECENT_USE_H_
