// The columns of one rank, as the window holds them and as a look reads them without its lock.
//
// Owned by SummaryWindow. Model: a look takes a share of what a rank holds now, which costs a
// pointer; what changes afterwards is changed in a copy, made once a look at most. So intake waits
// for no look, and a look for no intake.
//
// Thread-safety: thread-compatible; of what Share() gave out, read and let go from any thread.
// Cost: a copy is some 3 KiB.
#ifndef FATHOM_COLLECTOR_JOB_SUMMARIES_SHARED_RANK_WINDOW_H_
#define FATHOM_COLLECTOR_JOB_SUMMARIES_SHARED_RANK_WINDOW_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "collector/job/summaries/rank_window.h"

namespace fathom::collector {

class SharedRankWindow {
 public:
  explicit SharedRankWindow(std::size_t slots) : held_(std::make_shared<RankWindow>(slots)) {}

  const RankWindow* operator->() const { return held_.get(); }
  const RankWindow& operator*() const { return *held_; }
  std::shared_ptr<const RankWindow> Share() const { return held_; }
  // To be changed: nobody else sees it.
  RankWindow& Own() {
    if (held_.use_count() > 1) {
      held_ = std::make_shared<RankWindow>(*held_);
    } else {
      // Whoever let go of it has read it before.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *held_;
  }

 private:
  std::shared_ptr<RankWindow> held_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_JOB_SUMMARIES_SHARED_RANK_WINDOW_H_
