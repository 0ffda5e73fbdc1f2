// What would get a job that a sick node holds back to run well again, what that costs, and whether
// it is worth it.
//
// Made by `fathom recover` and by the API of what the collector tells. A plan changes nothing.
//
// Model: N processes, each of them a GPU (or a core on CPU jobs). Carrying on at the slowdown s for
// the H hours of work that are left costs N · H · (s − 1) beyond what a healthy job takes; a job
// that stands still costs N for each hour. A restart costs N times what the start takes, and the
// work since the checkpoint anew, at healthy speed: (time since then) / s. It advises to act where
// the restart costs less than carrying on by kMargin; where H is not known, it says from how many
// hours on that is so. Where nobody looked for checkpoints, that lies between a restart that loses
// no work and one that loses all of it, and between them it advises nothing.
//
//   isolate ─ take the spare ─ restart from the newest whole checkpoint
//
// The spare is a node that has an agent, no rank, no open verdict and no history of them: one that
// was probed and is clean first; never one whose probe found something, or of other hardware than
// the sick one, where both are known. What is not known (topology, hardware without a probe) is
// said.
//
// Units: seconds, hours, GPU-hours. Thread-safety: pure functions. Errors: none; what is missing
// makes an entry of `missing`, and the advice "unknown" or "do not act". Cost: O(nodes).
#ifndef FATHOM_COLLECTOR_RECOVERY_RECOVERY_PLAN_H_
#define FATHOM_COLLECTOR_RECOVERY_RECOVERY_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/recovery/checkpoint.h"

namespace fathom::collector {

// A node that could stand in.
struct SpareNode {
  std::string name;
  bool connected = false;
  int ranks = 0;
  bool suspect = false;
  bool repeat_offender = false;
  bool held = false;          // by fathom-cordon
  std::string probe = {};     // state of its newest probe; empty: none
  std::string hardware = {};  // as that probe told it
};

struct SickJob {
  std::string name;
  int processes = 0;
  double iteration_s = 0, usual_s = 0;  // now, and healthy
  std::int64_t iteration = -1;
  // The verdict.
  std::string verdict, grade, cause, sentence, proof;
  std::string node;      // its culprit's; empty: it names none
  std::string hardware;  // of that node, by its newest probe
  bool stands_still = false;
  double slowdown = 1;
  std::int64_t since_ns = 0;  // the onset; 0: not known
};

struct RecoveryWish {
  double left_hours = 0;        // of work, at healthy speed; 0: not known
  double restart_s = 180;       // from the order until the first iteration
  bool restart_assumed = true;  // nobody said so
  bool looked = true;           // for checkpoints; false: there may be some
  std::int64_t now_ns = 0;
};

struct RecoveryPlan {
  static constexpr double kMargin = 1.2;

  std::string advice;  // "act", "do not act", "unknown"
  std::string why;
  std::string isolate;
  std::string spare;
  std::string spare_because;
  std::vector<std::string> not_spares;  // "node7: its probe found something"
  std::optional<Checkpoint> checkpoint;
  std::vector<std::string> torn;  // newer ones that are not whole
  double lost_work_s = 0;         // of the job, to be done anew
  double restart_s = 0;
  double restart_gpu_hours = 0;   // start and lost work, all processes
  double carry_on_gpu_hours = 0;  // until the work is done; 0: not known
  double carry_on_per_hour = 0;   // GPU-hours lost in each hour of work that goes on as it is
  double pays_from_hours = 0;     // of work left; 0: always, negative: never
  double pays_at_best_hours = 0;  // the same, if no work is lost
  std::vector<std::string> steps;
  std::vector<std::string> missing;
};

RecoveryPlan PlanRecovery(const SickJob& job, const std::vector<SpareNode>& nodes,
                          const std::vector<Checkpoint>& checkpoints, const RecoveryWish& wish);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_RECOVERY_PLAN_H_
