// What each part of the agent's work costs, as it runs.
//
// Owned by Agent; its parts are entered by the poll loop. Read by node_planner.
//
// Model: at any moment the loop is in one part, or in none. Entering a part ends the count of the
// one around it, leaving it goes back there, so that a part's time is its own and the sum over all
// is the loop's. A part also counts how often it ran and what it handled, so that its cost can be
// told by the run and by the event. Take() gives the growth since the last call.
//
// Units: ns of processor time of the calling thread; events of the part's own kind (records,
// samples, iterations, ops). Thread-safety: single-threaded, owned by the poll loop. Errors: none.
// Cost: one reading of the thread's clock when a part is entered, one when it is left, some 0.2 µs
// each.
#ifndef FATHOM_DAEMON_AGENT_BUDGET_COST_METER_H_
#define FATHOM_DAEMON_AGENT_BUDGET_COST_METER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace fathom::agent {

// `kNone` is all between the others.
enum class WorkPart : std::uint8_t {
  kNone,
  kPolling,    // a turn of the loop without what follows
  kRecords,    // records joined to ops; events: records
  kThreads,    // clocks of training threads; events: samples
  kWorkers,    // clocks of what makes batches; events: samples
  kSummaries,  // iterations told; events: iterations
  kHealth,     // of ranks and node; events: ranks
  kOps,        // every op sent; events: ops
  kRows,       // rows asked for; events: requests
};
inline constexpr std::size_t kWorkParts = 9;
const char* NameOf(WorkPart part);

struct PartCost {
  std::int64_t cpu_ns = 0;
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
};
using PartCosts = std::array<PartCost, kWorkParts>;

class CostMeter {
 public:
  using Clock = std::function<std::int64_t()>;

  // `clock`: processor time of the thread that uses it.
  explicit CostMeter(Clock clock) : clock_(std::move(clock)) {}

  // From its making to its end the loop is in `part`. Without a meter nothing is counted.
  class In {
   public:
    In(CostMeter* meter, WorkPart part);
    In(const In&) = delete;
    In& operator=(const In&) = delete;
    ~In();

   private:
    CostMeter* const meter_;
    const WorkPart around_;
  };

  void Handled(WorkPart part, std::uint64_t events) { At(part).events += events; }

  PartCosts Take();

 private:
  PartCost& At(WorkPart part) { return costs_[static_cast<std::size_t>(part)]; }
  // The time since the last change is the present part's.
  void Change(WorkPart to);

  const Clock clock_;
  WorkPart in_ = WorkPart::kNone;
  std::int64_t since_ns_ = -1;
  PartCosts costs_{};
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_BUDGET_COST_METER_H_
