// What each part of a daemon's work costs, as it runs.
//
// Owned by Agent and by Collector; its parts are entered by whoever does the work. Read by the
// planner of either. Header only.
//
// Model: `Part` is an enum of kCount parts. At any moment a thread is in one part, or in none.
// Entering a part ends the count of the one around it, leaving it goes back there, so that a part's
// time is its own. A part also counts how often it ran and what it handled, so that its cost can be
// told by the run and by the event. Take() gives the growth since the last call; of a part that
// goes on in another thread its time so far comes with a later one.
//
// Units: ns of processor time of the thread that is in the part; events of the part's own kind.
// Thread-safety: thread-safe; an In belongs to the thread that made it. Errors: none.
// Cost: one reading of the thread's clock when a part is entered, one when it is left, some 0.2 µs
// each.
#ifndef FATHOM_DAEMON_SERVICE_BUDGET_COST_METER_H_
#define FATHOM_DAEMON_SERVICE_BUDGET_COST_METER_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "daemon/service/budget/part_measure.h"

namespace fathom::service {

template <typename Part, std::size_t kCount>
class CostMeter {
 public:
  using Clock = std::function<std::int64_t()>;
  using Costs = std::array<PartCost, kCount>;

  // `clock`: processor time of the thread that calls it.
  explicit CostMeter(Clock clock) : clock_(std::move(clock)) {}

  // From its making to its end the thread is in `part`. Without a meter nothing is counted.
  class In {
   public:
    In(CostMeter* meter, Part part) : meter_(meter), part_(part), around_(innermost_) {
      if (meter_ == nullptr) return;
      since_ns_ = meter_->clock_();
      if (around_ != nullptr) around_->Charge(since_ns_);
      meter_->At(part_).runs.fetch_add(1, std::memory_order_relaxed);
      innermost_ = this;
    }
    In(const In&) = delete;
    In& operator=(const In&) = delete;
    ~In() {
      if (meter_ == nullptr) return;
      const std::int64_t now = meter_->clock_();
      Charge(now);
      innermost_ = around_;
      if (around_ != nullptr) around_->since_ns_ = now;
    }

   private:
    friend class CostMeter;
    void Charge(std::int64_t now) {
      const std::int64_t took = std::max<std::int64_t>(0, now - since_ns_);
      meter_->At(part_).cpu_ns.fetch_add(took, std::memory_order_relaxed);
      since_ns_ = now;
    }

    CostMeter* const meter_;
    const Part part_;
    In* const around_;
    std::int64_t since_ns_ = 0;
  };

  void Handled(Part part, std::uint64_t events) {
    At(part).events.fetch_add(events, std::memory_order_relaxed);
  }

  Costs Take() {
    if (innermost_ != nullptr && innermost_->meter_ == this) innermost_->Charge(clock_());
    Costs costs;
    for (std::size_t p = 0; p < kCount; ++p) {
      costs[p] = {cells_[p].cpu_ns.exchange(0, std::memory_order_relaxed),
                  cells_[p].runs.exchange(0, std::memory_order_relaxed),
                  cells_[p].events.exchange(0, std::memory_order_relaxed)};
    }
    return costs;
  }

 private:
  struct Cell {
    std::atomic<std::int64_t> cpu_ns{0};
    std::atomic<std::uint64_t> runs{0}, events{0};
  };
  Cell& At(Part part) { return cells_[static_cast<std::size_t>(part)]; }

  // Programs only, no library has a meter: they need not load what finds variables of threads.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local In* innermost_ = nullptr;

  const Clock clock_;
  std::array<Cell, kCount> cells_{};
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_BUDGET_COST_METER_H_
